"""What comes back: one fate for every row, and totals that balance."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import polars as pl

from logistics_batch.model.counting import counted
from logistics_batch.model.issue import NOTHING_SAID, Issue


class Fate(StrEnum):
    """What became of a row; each row has exactly one."""

    ACCEPTED = "accepted"  # the service took its document in this run
    UNCHANGED = "unchanged"  # the same document was accepted earlier; not sent again
    REFUSED = "refused"  # the service said no
    INVALID = "invalid"  # it has an issue
    BLOCKED = "blocked"  # fine itself; its document was not sent
    IN_DOUBT = "in_doubt"  # sent, no trustworthy answer
    HELD = "held"  # a person must decide
    PENDING = "pending"  # not sent yet
    SKIPPED = "skipped"  # not data, or its document was superseded or abandoned


HIDDEN_ROW: Final = "hidden row.skipped"
"""The code of a row that is hidden, where the mapping skips such rows."""

NEEDS_CORRECTING: Final = frozenset({Fate.INVALID, Fate.REFUSED, Fate.BLOCKED})
"""The fates that a clerk mends in the sheet."""


class ExitCode:
    """Exit codes of the command line; see `exit_code`."""

    DONE = 0
    USAGE = 2
    ROWS_NOT_DONE = 3
    DOUBT = 4
    STOPPED_EARLY = 5
    BUSY = 75


FATES: Final = pl.Schema(
    {
        "sheet": pl.String,
        "row": pl.UInt32,  # as the spreadsheet program numbers it
        "document": pl.String,  # its document's key, "" where it has none
        "fate": pl.String,  # Fate
        "code": pl.String,  # why, "" where the fate says it all; see `messages`
        "values": pl.String,  # of the code, packed
        "reference_number": pl.String,
        "awb_number": pl.String,
        "would": pl.String,  # only in a dry run: "create" or "update" where the row would go out
    }
)
"""What became of each row of a file; texts are "" where there is nothing to say. What is wrong with single cells stands
in the report's issues."""

DOCUMENT_RESULTS: Final = pl.Schema(
    {
        "key": pl.String(),
        "operation": pl.String(),
        "rows": pl.List(pl.UInt32),
        "state": pl.String(),
        "method": pl.String(),
        "path": pl.String(),
        "body": pl.String(),
        "awb_number": pl.String(),
        "would": pl.String(),
    }
)
"""The documents of a file as `--json` and the reports show them."""


_THINGS: Final = {"order.create": "order", "asn.create": "ASN"}


def thing_of(operation: str) -> str:
    """What a document that a file asks for is called."""
    return _THINGS.get(operation, "document")


@dataclass(frozen=True, slots=True)
class FileReport:
    """Everything that is known about one file of one run; enough to write all its result files.

    rows: see FATES; documents: see DOCUMENT_RESULTS.
    held: why the file as a whole is held, if it is; its values name the cell to look at, if there is one.
    header_row is 0 and rows empty if it could not be parsed.
    result_due: when the rows' result is expected, as text with offset; "" when it is there already.
    lines_sheet, lines_header_row: the second sheet's name and header, where lines stand on one; its rows are behind
        those of `sheet`.
    """

    file: str
    sha256: str
    size: int
    run: str
    mapping: str
    mapping_digest: str
    sheet: str = ""
    header_row: int = 0
    rows_read: int = 0
    rows: pl.DataFrame = field(default_factory=FATES.to_frame, compare=False)
    documents: pl.DataFrame = field(default_factory=DOCUMENT_RESULTS.to_frame, compare=False)
    issues: tuple[Issue, ...] = ()
    notes: tuple[Issue, ...] = ()
    held: Issue = NOTHING_SAID
    earlier_file: str = ""
    received_at: str = ""
    result_due: str = ""
    lines_sheet: str = ""
    lines_header_row: int = 0
    operation: str = ""

    @property
    def thing(self) -> str:
        """What one of its documents is called."""
        return thing_of(self.operation)

    def documents_of(self, fate: Fate | None = None) -> int:
        """How many documents its rows ask for, or those of one fate; also such as could not be made."""
        rows = self.rows.select("fate", "document")
        rows = rows if fate is None else rows.filter(fate=fate.value)
        return rows.filter(pl.col("document") != "")["document"].n_unique()

    def in_documents(self, fate: Fate | None = None) -> str:
        """How many orders or ASNs its rows, or those of a fate, are of, in brackets; "" where each row is one."""
        number = self.documents_of(fate)
        rows = self.rows_read if fate is None else self.counts[fate]
        return f" ({counted(number, self.thing)})" if number not in (0, rows) else ""

    @property
    def reason(self) -> str:
        """Why the file as a whole is held, in words; "" if it is not."""
        return self.held.reason

    @property
    def remedy(self) -> str:
        """What to do about that."""
        return self.held.fix

    @property
    def counts(self) -> dict[Fate, int]:
        """How many rows have each fate; all fates are listed."""
        found = dict(self.rows["fate"].value_counts().iter_rows())
        return {fate: found.get(fate, 0) for fate in Fate}

    @property
    def without_awb_number(self) -> int:
        """How many orders the service took whose AWB number is not known yet: none can be labelled or changed."""
        return self.documents.filter(operation="order.create", state="accepted", awb_number="").height

    @property
    def by_sheet(self) -> tuple["FileReport", ...]:
        """One report for each sheet, with its rows and issues alone, as if the file had no other sheet."""
        if not self.lines_sheet or self.is_of_lines:
            return (self,)
        return (
            self._alone(self.sheet, self.header_row, second=""),
            self._alone(self.lines_sheet, self.lines_header_row, second=self.lines_sheet),
        )

    @property
    def is_of_lines(self) -> bool:
        """Whether it is one of `by_sheet`, for the second sheet."""
        return bool(self.lines_sheet) and self.sheet == self.lines_sheet

    def _alone(self, sheet: str, header_row: int, *, second: str) -> "FileReport":
        rows = self.rows.filter(sheet=sheet)
        return replace(
            self,
            sheet=sheet,
            header_row=header_row,
            rows=rows,
            rows_read=rows.height,
            issues=tuple(issue for issue in self.issues if issue.sheet == second),
            lines_sheet=second,
            lines_header_row=header_row if second else 0,
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """What the reports of many files come to: how many rows have each fate, and how many files are held as a whole.

    documents: how many their rows ask for, by what these are called.
    """

    counts: Mapping[Fate, int]
    held_files: int
    documents: Mapping[str, int]

    @property
    def by_thing(self) -> dict[str, int]:
        """How many orders, ASNs or other documents, under such a word."""
        return {f"{thing}s": number for thing, number in self.documents.items() if number}


def tally_of(reports: Iterable[FileReport]) -> Tally:
    """Go through the reports once."""
    return added(Tally(each.counts, bool(each.reason), {each.thing: each.documents_of()}) for each in reports)


def added(tallies: Iterable[Tally]) -> Tally:
    """What some tallies come to; all fates are listed."""
    total, documents, held = Counter[Fate](), Counter[str](), 0
    for each in tallies:
        total.update(each.counts)
        documents.update(each.documents)
        held += each.held_files
    return Tally({fate: total.get(fate, 0) for fate in Fate}, held, documents)


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run over its files. names: of all files that it met, also those that did not come. left: how many of them
    should be taken and cannot be. waits: waiting may mend what stopped it. tally: what `files` come to, if they were
    gone through already: of thousands, each is read anew whenever it is looked at."""

    run: str
    job: str
    files: Sequence[FileReport] = ()
    stopped: str = ""  # why the run stopped early, "" if it did not
    notes: tuple[Issue, ...] = ()
    exit_code: int = 0
    names: tuple[str, ...] = ()
    left: int = 0
    waits: bool = False
    tally: Tally | None = None

    @property
    def counts(self) -> dict[Fate, int]:
        """The fates over all files; all fates are listed."""
        return dict((self.tally or tally_of(self.files)).counts)

    @property
    def in_documents(self) -> str:
        """How many orders or ASNs the rows are of, in words; "" where each row is one, or none is."""
        tally = self.tally or tally_of(self.files)
        asked = [counted(number, thing) for thing, number in tally.documents.items() if number]
        is_each_row = sum(tally.documents.values()) == sum(tally.counts.values())
        return f", of {' and '.join(asked)}" if asked and not is_each_row else ""

    @property
    def held_files(self) -> int:
        """How many files are held as a whole."""
        return (self.tally or tally_of(self.files)).held_files


def exit_code(counts: dict[Fate, int], *, file_held: bool = False, stopped: bool = False) -> int:
    """The exit code that a run's fates give; precedence 4 > 5 > 3 (2 is raised before anything was sent).

    >>> exit_code({Fate.REFUSED: 1, Fate.IN_DOUBT: 1})
    4
    """
    if file_held or counts.get(Fate.IN_DOUBT) or counts.get(Fate.HELD):
        return ExitCode.DOUBT
    if stopped or counts.get(Fate.PENDING):
        return ExitCode.STOPPED_EARLY
    if counts.get(Fate.INVALID) or counts.get(Fate.BLOCKED) or counts.get(Fate.REFUSED):
        return ExitCode.ROWS_NOT_DONE
    return ExitCode.DONE
