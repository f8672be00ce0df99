"""Shipment orders (API §2.3, §3, §4.5-4.10): how they are numbered, stored, changed, moved and shown."""
