"""What is compared: columns of each leg, what their texts mean, lines summed and side by side, lists counted once."""
