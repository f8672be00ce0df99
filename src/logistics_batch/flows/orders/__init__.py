"""Orders after they were sent: followed, changed, cancelled."""
