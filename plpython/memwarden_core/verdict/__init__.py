"""What a new memory is to an old one: the same, more, less, its contrary, or its update."""
