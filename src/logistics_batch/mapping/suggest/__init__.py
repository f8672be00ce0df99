"""Proposals for a file that has no mapping yet, or no longer fits the one it has; nothing is written or applied."""
