"""What the judges know of English: words, numbers and units, and what stands for what."""
