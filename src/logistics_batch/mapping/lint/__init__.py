"""What is to be said of a mapping file: what is wrong with it, what a draft asks, and what it says and need not."""
