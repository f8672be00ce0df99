"""How a cell's text becomes a value: the verbs of `read`, and what each target wants of numbers, dates and phones."""
