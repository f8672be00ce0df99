"""Documents and the attempts to send them."""
