"""ASNs as the service has them."""
