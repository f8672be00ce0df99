"""What the names of columns and labels say, in the words of several languages."""
