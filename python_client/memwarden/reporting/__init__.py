"""Reports on how well memory is, as HTML and JSON: a page of the console, and a file."""
