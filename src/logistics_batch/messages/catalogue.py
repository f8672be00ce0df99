"""Every code with its words; one module a subject."""

from typing import Final

from logistics_batch.messages.cells import CELLS
from logistics_batch.messages.documents import DOCUMENTS
from logistics_batch.messages.entry import Entry
from logistics_batch.messages.files import FILES, LEFT
from logistics_batch.messages.mappings import MAPPINGS
from logistics_batch.messages.notes import NOTES
from logistics_batch.messages.orders import ORDERS
from logistics_batch.messages.reading import READING
from logistics_batch.messages.rows import LINES, ROWS
from logistics_batch.messages.runs import RUNS
from logistics_batch.messages.sheets import SHEETS
from logistics_batch.messages.stores import STORES

_SUBJECTS: Final = (CELLS, DOCUMENTS, FILES, LEFT, LINES, MAPPINGS, NOTES, ORDERS, READING, ROWS, RUNS, SHEETS, STORES)

CATALOGUE: Final[dict[str, Entry]] = {code: entry for subject in _SUBJECTS for code, entry in subject.items()}
"""The words of each code. A code stands in one subject only."""

if len(CATALOGUE) != sum(map(len, _SUBJECTS)):
    raise ValueError("A code stands twice in the catalogue.")
