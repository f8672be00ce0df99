"""Why a file is held for what stands in its table: its header, its dates, its own totals."""

from typing import Final

from logistics_batch.messages.entry import Entry

_NAME_IT: Final = "{hint:messages}Name the column so in the file, or correct its name in the mapping."


def _lacking(why: str) -> Entry:
    has = "{sheets:the file has no such column|none of its sheets has such a column}"
    return Entry(f"By the mapping {why}, and {has}.", _NAME_IT)


def _renamed(loss: str) -> Entry:
    return Entry(
        f'The column "{{column}}" is missing, and {loss}; the new column "{{new}}" may be it.',
        'If it is, name it "{column}" in the file, or add "{new}" to the names of the column in the mapping; else name '
        '"{new}" under `ignore`.',
    )


SHEETS: Final[dict[str, Entry]] = {
    "skip_rows_where": _lacking('rows are left out by the column "{name}"'),
    "when": _lacking('`{target}` is filled only by what stands in the column "{name}"'),
    "no_column": _lacking('the column that says whether an order is cash on delivery is "{name}"'),
    "no_column.meant": Entry('Is "{text}" meant as "{name}"? '),
    "renamed.default": _renamed('`{target}` would be "{default}" in all rows'),
    "renamed.part": _renamed("`{target}` would be sent without it"),
    "header.measure": Entry(
        'Column "{column}" is in {said} by its header, and the mapping reads it as {named}.',
        "If the header is right, the mapping must say so; else correct the header.",
    ),
    "header.unit": Entry(
        'Column "{column}" is in {said} by its header, and the mapping reads it as {named}.',
        'If the header is right, the mapping must say so: `{{from: "{column}", read: {{unit: {said} -> {wanted}}}}}`; '
        "else correct the header.",
    ),
    "header.brackets": Entry(
        'The mapping reads the column "{name}", and the file has "{column}": they may mean two things.',
        'If they mean the same, add "{column}" to the names of the column in the mapping; if the file\'s column is not '
        "wanted, name it under `ignore`.",
    ),
    "mixed_dates": Entry(
        'Column "{column}" has true dates and dates written as text (rows {rows:rows}): the program may have changed '
        "day and month over in the true ones.{hint:messages}",
        "Make the whole column one or the other, check day and month, and send the file again.",
    ),
    "mixed_dates.text": Entry(' "{cell}": {why:messages}'),
    "swapped_dates": Entry(
        'Column "{column}" has dates that fit only with day and month changed over (rows {rows:rows}), and others that '
        "fit both ways: the whole column may be written so.",
        "Write all dates as agreed, or ask the operator to change the date format of the mapping.",
    ),
    "control_total": Entry(
        '{counted:messages} to {number} in column "{column}", but {stated:messages}.{hint:messages}',
        "Check that no row is missing or doubled, correct the sheet and send it again.",
    ),
    "control_total.left_out": Entry(
        '{counted:messages} to {number} in column "{column}", but {stated:messages}. It would be right with '
        "{rows:in rows}, which the mapping leaves out.",
        "If the total is meant to count them, ask who maintains the mapping; else correct the sheet.",
    ),
    "control_total.sum": Entry("The rows add up"),
    "control_total.rows": Entry("The rows amount"),
    "control_total.documents": Entry("The documents amount"),
    "control_total.no_row": Entry("there is no total row"),
    "control_total.no_number": Entry("{rows:in rows}, the total, has no number there"),
    "control_total.says": Entry("{rows:in rows} says {number}"),
    "control_total.unread": Entry(" There is no number in {rows:in rows}."),
}
