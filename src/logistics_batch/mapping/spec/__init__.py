"""What a mapping file may say: its models, the targets of each operation, names of columns, words that are known."""
