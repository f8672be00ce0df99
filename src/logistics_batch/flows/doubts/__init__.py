"""What was sent without a trustworthy answer, and what a person decides."""
