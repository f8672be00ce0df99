"""How good drafts are: a corpus of sheets with what each column is, compared with what is suggested for it.

`python -m mapping.suggest_judge` in `tests/` prints precision and recall for the part that drafts were tuned on and for
the part that was held out; with names of sheets, what is wrong in these.

What a column is, in a sheet's file: the place that it fills (`customer_mobile`, `lines.qty`), `none` if the service
has no place for it, and `?place` if nobody could know without asking. Several, parted by `|`, are all right. A column
is `?left_out` where a word in it says that its rows are not to be sent; `left_out` names these words. `said` are pieces
of a line of the draft, two and two.

`suggest_layouts` holds thirty more, by hands that had not seen the program, and ten (`e`) that showed what these do
not, and (`f`) those of a newcomer's first hour: columns are told by their letters, `facts`
are cells above or below the table, `header_at` is the first row of the header, `quantity_of_first_line` what the first
document's first line must come to.
"""

import csv
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml
from openpyxl import Workbook
from openpyxl.utils import column_index_from_string

from logistics_batch.intake.readers import read_file
from logistics_batch.mapping.suggest.draft import Draft, draft_of
from logistics_batch.mapping.suggest.text import draft_text
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import ReadOptions, Sheet

CORPUS = Path(__file__).parent / "suggest_corpus"
LAYOUTS = Path(__file__).parent / "suggest_layouts"
NAMES = sorted(path.stem for path in CORPUS.glob("*.yaml"))
LAYOUT_NAMES = sorted(path.stem for path in LAYOUTS.glob("*.yaml"))


@dataclass(frozen=True)
class Case:
    """One sheet of the corpus, or a layout.

    columns, facts: the name of each column (of a layout its letter) and of each cell outside the table, and what it is.
    head: the sheet, the first row of the header and how many rows it has; of layouts only.
    """

    name: str
    operation: str
    held_out: bool
    key: tuple[str, ...]
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    facts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    file: str = ""
    workbook: tuple[tuple[str, str], ...] = ()
    merged: tuple[tuple[str, tuple[str, ...]], ...] = ()
    head: tuple[str, int, int] | None = None
    quantity: str = ""
    left_out: tuple[str, ...] = ()
    said: tuple[tuple[str, str], ...] = ()

    @cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        """What a reader makes of the file."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / ("drop.xlsx" if self.workbook else "drop.csv")
            self.write(path)
            return read_file(path, name=path.name, options=ReadOptions())

    def write(self, path: Path) -> None:
        """Write the file as somebody drops it."""
        if not self.workbook:
            path.write_text(self.file, encoding="utf-8")
            return
        book = Workbook()
        del book["Sheet"]
        for name, text in self.workbook:
            page = book.create_sheet(name)
            for row in csv.reader(text.splitlines()):
                page.append([int(cell) if _WHOLE.fullmatch(cell) else cell or None for cell in row] or [None])
            for cells in dict(self.merged).get(name, ()):
                page.merge_cells(cells)
        book.save(path)

    def named(self, draft: Draft, text: str) -> list[tuple[str, str, tuple[str, ...]]]:
        """Each column as it is called in a draft, as people find it, and what it is."""
        if self.head is None:
            return [(name, name, accepted) for name, accepted in self.columns]
        names = [*draft.table.names, *[""] * len(self.columns)]
        columns = [(names[_number(letter) - 1], f"{letter} {names[_number(letter) - 1]}", accepted)
                   for letter, accepted in self.columns]  # fmt: skip
        labels = {each.address: f"above {each.by[1]}" for each in draft.table.above}
        return columns + [(labels.get(cell, ""), cell, accepted) for cell, accepted in self.facts]

    def truth(self, place: str) -> list[str]:
        """The columns that fill a place; the words by which rows are left out."""
        if place == "left_out":
            return [*self.left_out]
        return [name for name, accepted in self.columns if place in [each.lstrip("?") for each in accepted]]


_WHOLE: Final = re.compile(r"[1-9]\d{0,14}|0")


def _number(letter: str) -> int:
    return int(column_index_from_string(letter))


@dataclass
class Score:
    """Columns counted. right: where they belong, or asked where one must ask. asked: asked for although it could be
    told. wrong: given to a place that they do not fill. missed: left out although they fill one. needless: a question
    about a column that fills nothing."""

    right: int = 0
    asked: int = 0
    wrong: int = 0
    missed: int = 0
    needless: int = 0
    left: int = 0
    keys: int = 0
    sheets: int = 0
    told: list[str] = field(default_factory=list)

    def __add__(self, other: "Score") -> "Score":
        counted = ("right", "asked", "wrong", "missed", "needless", "left", "keys", "sheets", "told")
        return Score(**{name: getattr(self, name) + getattr(other, name) for name in counted})

    @property
    def precision(self) -> float:
        """Of the columns that were given to a place, the share that belongs there."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Of the columns that fill a place, the share that was found."""
        return self.right / max(1, self.right + self.missed + self.asked + self.wrong)

    def __str__(self) -> str:
        return (
            f"precision {self.precision:.3f}  recall {self.recall:.3f}  keys {self.keys}/{self.sheets}  "
            f"right {self.right}  wrong {self.wrong}  missed {self.missed}  asked too much {self.asked}  "
            f"needless questions {self.needless}  rightly left out {self.left}"
        )


@cache
def case_of(name: str) -> Case:
    """A sheet of the corpus, or a layout, by its name."""
    is_layout = name in LAYOUT_NAMES
    data = yaml.safe_load(((LAYOUTS if is_layout else CORPUS) / f"{name}.yaml").read_text(encoding="utf-8"))
    truths = [[each.rpartition(" = ") for each in data.get(part, [])] for part in ("columns", "facts")]
    columns, facts = (tuple((name, tuple(said.split("|"))) for name, _, said in each) for each in truths)
    return Case(
        name=name,
        operation=data["operation"],
        held_out=data.get("part") == "held_out",
        key=tuple(listed(data["key"])),
        columns=columns,
        facts=facts,
        file=data.get("file", ""),
        workbook=tuple(data.get("sheets", {}).items()),
        merged=tuple((sheet, tuple(cells)) for sheet, cells in data.get("merged", {}).items()),
        head=(data.get("sheet", ""), data["header_at"], data["header_rows"]) if is_layout else None,
        quantity=str(data.get("quantity_of_first_line", "")),
        left_out=tuple(data.get("left_out", ())),
        said=tuple((line, more) for line, more in data.get("said", ())),
    )


@cache
def first_draft(case: Case) -> Draft | None:
    """What is suggested before anybody says what the rows are; None where no header was found."""
    return draft_of(case.sheets)


@cache
def drafted(case: Case) -> tuple[Draft | None, str]:
    """What is suggested for a sheet; (None, "") where no header was found."""
    draft = first_draft(case)
    if draft is not None and draft.rival is not None:  # it is asked: a person answers and drafts again
        draft = draft_of(case.sheets, operation=Operation(case.operation))
    return draft, draft_text(draft, file_name="drop.csv") if draft is not None else ""


def places_of(text: str) -> dict[str, set[str]]:
    """For each column of a draft the places that it fills, with a `?` before those that are asked for."""
    data = yaml.safe_load(text) or {}
    found: dict[str, set[str]] = {}
    for name in (data.get("order_id") or {}).values():
        found.setdefault(name.removeprefix("?").strip(), set()).add("?" * name.startswith("?") + "order_id")
    for name, words in (data.get("sheet") or {}).get("skip_rows_where", {}).items():
        if any(word.startswith("? ") for word in words):
            found.setdefault(name, set()).add("?left_out")
    for part in ("fields", "lines"):
        for target, form in (data.get(part) or {}).items():
            place = target if part == "fields" else f"lines.{target}"
            for name in _columns(form):
                asked = name.startswith("?")
                found.setdefault(name.removeprefix("?").strip(), set()).add("?" * asked + place)
    return found


def answered(text: str, truth: Callable[[str], Sequence[str]]) -> str:
    """A draft with its questions answered as a person would who knows the file; truth: the columns of a place.

    What no column fills becomes a constant if it is demanded and leaves the draft otherwise; a sum is confirmed;
    rows with words that say so are left out, unknown words of payment are no COD, dates have the day first, and units
    are as they are asked about.
    """
    data: dict[str, Any] = yaml.safe_load(text)
    data["operation"] = data["operation"].removeprefix("? ")
    settled: dict[str, str] = {}
    for part in ("fields", "lines"):
        for target, form in dict(data.get(part) or {}).items():
            place = target if part == "fields" else f"lines.{target}"
            for word in ("from", "join", "sum"):
                asked = [each for each in listed(form.get(word)) if each.startswith("?")]
                if not asked:
                    continue
                known = [each.removeprefix("?").strip() or place for each in asked]
                right = [name for name in known if name in truth(place)] or list(truth(place))
                if word == "join":
                    form[word] = right or known
                    continue
                right = right or known * (word == "sum")  # the items' amounts added up, as it is proposed
                settled.update(dict.fromkeys(known, right[0] if right else ""))
                if right:
                    form[word] = right[0]
                elif target in _OF_EVERY_ROW:
                    data[part][target] = _OF_EVERY_ROW[target]
                else:
                    del data[part][target]
            if form.get("read") == {"date": "?"}:  # a day that no format reads is left out
                del data[part][target]
            above = [word for word in ("beside", "cell", "times", "cartons") if word in form]
            form.update({word: form[word].removeprefix("? ") for word in above})
            _answer_reading(form)
    rules = data.get("sheet", {}).get("skip_rows_where", {})
    for name, words in [*rules.items()]:
        kept = [each for each in listed(words) if not each.startswith("? ") or each[2:] in truth("left_out")]
        rules[name] = [each.removeprefix("? ") for each in kept]
        if not kept:  # nothing reads it then
            del rules[name]
            data["sheet"]["fill_down"] = [each for each in data["sheet"].get("fill_down", ()) if each != name]
    if "order_id" in data:
        data["order_id"] = {word: (truth("order_id") or [name])[0] for word, name in data["order_id"].items()}
    parts = [] if data.get("key") == "file" else listed(data.get("key"))
    above = [
        {word: label.removeprefix("? ") for word, label in each.items()} for each in parts if isinstance(each, dict)
    ]
    numbers = [each for each in ("reference_number", "invoice_number", "order_numbers", "order_id") if each in settled]
    names = [each.removeprefix("?").strip() or "".join(numbers[:1]) for each in parts if isinstance(each, str)]
    key = [settled.get(each, each) for each in names]
    if key or above:
        data["key"] = [*dict.fromkeys(filter(None, key)), *above]
    spoken = {
        name for part in ("fields", "lines") for form in (data.get(part) or {}).values() for name in _columns(form)
    }
    data["ignore"] = [*(name for name in data.get("ignore", []) if name not in spoken),
                      *(name for name in settled if name not in spoken)]  # fmt: skip
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False)


_OF_EVERY_ROW: Final = {
    "site_name": {"constant": "Bhiwandi"},
    "supplier_name": {"constant": "Nilgiri"},
    "invoice_number": {"run": "file_name"},
}


def listed(value: Any) -> list[str]:
    """One name or several."""
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _answer_reading(form: dict[str, Any]) -> None:
    for pay, words in form.get("when", {}).items():
        form["when"] = {pay: [word for word in words if not word.startswith("? ")] or words}
    read = form.get("read")
    if not isinstance(read, dict):
        return
    if isinstance(read.get("suffix"), dict):
        counts = {word: int(str(count).removeprefix("?") or 1) for word, count in read["suffix"].items()}
        asked = {word for word, count in read["suffix"].items() if str(count) == "?" and len(counts) > 1}
        read["suffix"] = counts | dict.fromkeys(asked, 10)  # a box beside pieces
    if "lookup" in read:
        read["lookup"] = {word: "false" if answer == "?" else answer for word, answer in read["lookup"].items()}
    if "date" in read and isinstance(read["date"], list):
        read["date"] = read["date"][0].removeprefix("? ")
    if "unit" in read:
        read["unit"] = read["unit"].removeprefix("? ")


def judged(case: Case) -> Score:
    """How good the draft for a sheet is."""
    draft, text = drafted(case)
    found, score = places_of(text), Score(sheets=1)
    open_places = {place.lstrip("?") for places in found.values() for place in places if place.startswith("?")}
    if draft is None:
        score.told.append("no header was found")
        score.missed = sum(not {"none", "?none"} & set(accepted) for _, accepted in case.columns)
        return score
    columns = case.named(draft, text)
    _judge_head(case, draft, score)
    _judge_key(case, draft, text, columns, score)
    for name, shown, accepted in columns:
        mine = (found.get(name) or found.get(re.sub(r"\d+", "{n}", name)) or set()) if name else set()
        told = f"{shown}: {sorted(mine) or 'none'}, not {'|'.join(accepted)}"
        fine = "none" in accepted or "?none" in accepted
        if mine & set(accepted):
            score.right += 1
        elif not mine:
            is_open = case.head is not None and any(each.lstrip("?") in open_places for each in accepted)
            score.left, score.asked = score.left + fine, score.asked + (not fine and is_open)
            score.missed += not fine and not is_open
        elif all(place.startswith("?") for place in mine):
            wanted = any(place.lstrip("?") in [each.lstrip("?") for each in accepted] for place in mine)
            score.asked, score.needless = score.asked + wanted, score.needless + (not wanted)
        else:
            score.wrong += 1
            told = f"WRONG {told}"
        if not mine & set(accepted) and (mine or not fine):
            score.told.append(told)
    return score


def _judge_head(case: Case, draft: Draft, score: Score) -> None:
    """Where the table is; what is taken from another one is wrong."""
    if draft.operation.value != case.operation:
        score.told.append(f"operation {draft.operation.value}, not {case.operation}")
    table = draft.table
    mine = (table.sheet if case.head and case.head[0] else "", table.row - table.rows + 1, table.rows)
    if case.head is not None and mine != case.head:
        score.told.append(f"header {mine}, not {case.head}")


def _judge_key(
    case: Case, draft: Draft, text: str, columns: list[tuple[str, str, tuple[str, ...]]], score: Score
) -> None:
    data = yaml.safe_load(text) or {}
    key = [label_of(each).removeprefix("?").strip() for each in listed(data.get("key"))]
    places = dict(
        zip((each for each, _ in (*case.columns, *case.facts)), (name for name, _, _ in columns), strict=True)
    )
    wanted = {places.get(each, each) for each in case.key}
    asked = any(label_of(each).startswith("?") for each in listed(data.get("key"))) or key == ["file"]
    if draft.operation.value == case.operation and (set(key) & wanted or (case.head and asked)):
        score.keys = 1
    else:
        score.told.append(f"key {key}, not {list(case.key)}")


def label_of(source: Any) -> str:
    """What a value above the table is called by, or a column's name."""
    if not isinstance(source, dict):
        return str(source)
    said = str(source.get("beside") or source.get("cell"))
    return f"{'?' * said.startswith('?')}above {said.removeprefix('?').strip()}"


def _columns(form: Any) -> list[str]:
    """Every column that a field of a mapping is read from."""
    if not isinstance(form, dict):
        return []
    given = [form.get(word) for word in ("from", "join", "first", "sum")]
    given += [form.get("times")] if str(form.get("from")).startswith("?") else []
    given += [f"{'?' * form[word].startswith('?')}above {form[word].removeprefix('?').strip()}"
              for word in ("beside", "cell") if word in form]  # fmt: skip
    flat = [each for value in given if value for each in (value if isinstance(value, list) else [value])]
    return [name for each in flat for name in (each if isinstance(each, list) else [each])]


def main() -> None:
    """Print the figures, or what is wrong in the sheets that are named."""
    wanted = sys.argv[1:]
    scores = {name: judged(case_of(name)) for name in (*NAMES, *LAYOUT_NAMES)}
    for name in [each for each in scores if any(map(each.startswith, wanted))]:
        sys.stdout.write("\n  ".join([name, str(scores[name]), *scores[name].told]) + "\n")
    sys.stdout.write(f"layouts: {sum((scores.pop(name) for name in LAYOUT_NAMES), Score())}\n")
    for held_out in (False, True):
        part = [score for name, score in scores.items() if case_of(name).held_out is held_out]
        sys.stdout.write(f"{'held out' if held_out else 'tuned on'}: {sum(part, Score())}\n")


if __name__ == "__main__":
    main()
