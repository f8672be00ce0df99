"""What a line is called and why: facts, rules and tolerances, verdict, amounts and reason."""
