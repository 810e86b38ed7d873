"""What recall finds of the evidence that conversations are labelled with."""
