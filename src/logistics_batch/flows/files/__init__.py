"""Files as they come, what holds them, and the answers to them."""
