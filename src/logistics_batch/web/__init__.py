"""The window: the receiver of order events."""
