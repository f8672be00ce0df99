"""The process that parses workbooks for `LimitedReader`."""

from pathlib import Path
from typing import Any

from logistics_batch.child_process import Answer
from logistics_batch.errors import FileHeld
from logistics_batch.intake.limited_reader import told
from logistics_batch.intake.readers import Limits, read_file
from logistics_batch.model.sheet import ReadOptions


def answer(question: dict[str, Any], _files: tuple[bytes, ...]) -> Answer:
    """The sheets of a file, or why it is held."""
    try:
        sheets = read_file(
            Path(question["path"]),
            name=question["name"],
            options=ReadOptions(**question["options"]),
            limits=Limits(**question["limits"]),
        )
    except FileHeld as held:
        return Answer({"held": {"message": held.message, "rule": held.rule, "remedy": held.remedy}})
    return Answer(told(sheets, Path(question["folder"])))
