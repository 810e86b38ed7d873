"""What the gates and recall get right, measured on labelled data."""
