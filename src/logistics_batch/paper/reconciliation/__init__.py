"""The reports of a reconciliation."""
