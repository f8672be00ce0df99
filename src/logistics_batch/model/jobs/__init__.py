"""What a job file says, and when it is due."""
