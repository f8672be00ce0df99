"""Which row is the header, which rows are data, and their cells cleaned without loss."""
