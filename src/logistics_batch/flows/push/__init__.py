"""A push run: files become documents, documents go out, every row comes back with an answer."""
