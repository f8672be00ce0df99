"""Mappings proposed, checked and held to their examples."""
