"""The nouns: frozen values that three or more rooms speak of. No I/O, no clock."""
