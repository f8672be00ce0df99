"""Orders after they were sent, and the events about them."""
