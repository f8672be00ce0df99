"""What is told about a file for a person to look at and is never held against a row."""
