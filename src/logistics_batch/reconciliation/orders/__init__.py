"""Purchase orders, held against what was announced."""
