"""Why a file is held as a whole."""

from typing import Final

from logistics_batch.messages.entry import Entry

FILES: Final[dict[str, Entry]] = {
    "sheet.several": Entry(
        "The sheets {names:names} all have the columns of the mapping; only one sheet of a file is read.",
        "Send each sheet as a file of its own, or name the sheet in the mapping (`sheet: {{name: …}}`).",
    ),
}
