"""Fields of a mapping as expressions, and a sheet compiled with them: rows grouped to documents, every value read."""
