"""The reconciliation of ASNs."""
