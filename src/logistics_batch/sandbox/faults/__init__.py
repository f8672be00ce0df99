"""Fault plans: which requests go wrong, what is answered then, and how the answer reaches the client."""
