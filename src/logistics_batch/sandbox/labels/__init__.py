"""Shipping labels (API §2.2, §4.4): what is printed, the page, the signed link to it, and labels that go wrong."""
