"""What is wrong with a cell or a row."""

from typing import Final

from logistics_batch.messages.entry import Entry

CELLS: Final[dict[str, Entry]] = {
    "required": Entry('"{name}" is required and the cell is blank.', 'Fill in "{name}".'),
    "required.key": Entry(
        "The row belongs to no document: its key is blank.",
        "Write the key on this row, or leave the row out.",
    ),
}
