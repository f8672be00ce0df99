"""Items beside each other in one row: `SKU 1 | Qty 1 | SKU 2 | Qty 2`, told from address lines 1 and 2."""

import re
from dataclasses import replace
from typing import Final

from logistics_batch.mapping.suggest_names import LIKELY, likeness, names_of_targets
from logistics_batch.mapping.suggest_table import Table
from logistics_batch.mapping.suggest_words import reading_of
from logistics_batch.model.document import Operation

_NUMBERED: Final = re.compile(r"(\D*)(\d{1,9})(\D*)")


def numbered_as_one(table: Table, operation: Operation) -> tuple[Table, dict[str, tuple[str, ...]]]:
    """The table with one column `SKU {n}` for each row of numbered ones, and which columns each of these stands for.

    Such a column has the cells of the first numbered one. There is none where nothing names an item.
    """
    stems: dict[str, dict[int, str]] = {}
    for name in table.cells:
        if (found := _NUMBERED.fullmatch(name)) is not None:
            stems.setdefault(f"{found[1]}{{n}}{found[3]}", {})[int(found[2])] = name
    lines = names_of_targets(operation)[1]
    of_lines = {
        stem: columns
        for stem, columns in stems.items()
        if {1, 2} <= set(columns) and any(likeness(columns[1], names) >= LIKELY for names in lines.values())
    }
    if not any(reading_of(columns[1]).meanings & {"sku", "item"} for columns in of_lines.values()):
        return table, {}
    one_of = {name: stem for stem, columns in of_lines.items() for name in columns.values()}
    first = {columns[1]: stem for stem, columns in of_lines.items()}
    cells = {first.get(name, name): each for name, each in table.cells.items() if name in first or name not in one_of}
    readings = {first.get(name, name): reading for name, reading in table.readings.items()}
    made = replace(table, cells=cells, readings=readings)
    return made, {stem: tuple(columns[number] for number in sorted(columns)) for stem, columns in of_lines.items()}
