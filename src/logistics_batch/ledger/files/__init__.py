"""Files and the runs that they came in."""
