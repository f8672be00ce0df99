"""Lines that lie elsewhere: split cells, numbered columns and second sheets, exploded with their origin."""
