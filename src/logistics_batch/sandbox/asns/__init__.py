"""Advance shipping notices (API §2.1, §4.1-4.3): how they are stored, found and shown."""
