"""The colours of results: pale fills under dark text, legible in print and told apart without red and green.

The fate's word always stands beside its colour. Colours are ARGB as workbooks write them.
"""

from dataclasses import dataclass

from logistics_batch.model.report import Fate


@dataclass(frozen=True, slots=True)
class Paint:
    """How a cell looks: the fill ("" for none), the colour of its text, and whether it is bold."""

    fill: str
    text: str
    bold: bool = False


FATE_PAINTS: dict[Fate, Paint] = {
    Fate.ACCEPTED: Paint("FFDDF1E0", "FF14532D"),
    Fate.UNCHANGED: Paint("FFE3EDF7", "FF1E4A72"),
    Fate.REFUSED: Paint("FFF9D4D1", "FF8A1C12", bold=True),
    Fate.INVALID: Paint("FFFFDFB8", "FF7A3B00", bold=True),
    Fate.BLOCKED: Paint("FFFFF1BF", "FF665000", bold=True),
    Fate.IN_DOUBT: Paint("FFE6DCF4", "FF4A2A80", bold=True),
    Fate.HELD: Paint("FFD5DAF3", "FF27337F", bold=True),
    Fate.PENDING: Paint("FFE9ECEF", "FF3D4650"),
    Fate.SKIPPED: Paint("", "FF767676"),
}
"""The status cell of each fate."""

HEADER_PAINT = Paint("FF33475B", "FFFFFFFF", bold=True)
"""The header cells of the added columns."""

TEXT_PAINT = Paint("", "FF262626")
"""Reason, remedy, reference and run of a row that is data."""

MUTED_PAINT = Paint("", "FF767676")
"""The same of a row that is not."""

FAILING_FILL = "FFFFC9C4"
"""The fill of a failing cell that had none of its own. A round later it is known by this very colour."""

FAILING_FILL_OVER_ANOTHER = "FFFFC9C5"
"""The fill of a failing cell that had a colour of its own, kept as the pattern's (unseen) background colour."""
