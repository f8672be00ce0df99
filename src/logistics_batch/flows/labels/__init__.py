"""Labels: chosen, fetched, bundled, handed over."""
