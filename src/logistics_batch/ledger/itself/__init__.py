"""The ledger itself: its version, its place, its copies, who holds it."""
