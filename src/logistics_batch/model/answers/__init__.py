"""What the files of answers are called, and which columns are ours."""
