"""A print bundle: labels that are checked, fitted and put together, with manifest, index and pick list."""
