"""CSV and its relatives as a sheet of text cells with true row numbers.

Two paths give the same frame. Where each line is provably a whole record by itself, polars reads the file. Anything
else (line breaks within cells, stray quotation marks, single carriage returns) takes the standard library's strict
parser, which sees every record, so that nothing is swallowed behind a quotation mark unnoticed.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise, zip_longest
from pathlib import Path, PurePosixPath

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.intake.csv_text import read_text
from logistics_batch.intake.grid import numbered, refuse_gap, too_many_columns, trimmed
from logistics_batch.intake.guards import Limits
from logistics_batch.intake.names import printable
from logistics_batch.model.issue import column_letters
from logistics_batch.model.sheet import ReadOptions, Sheet

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SEP_LINE = re.compile(rb'"?sep=([^"\r\n])"?[ \t,;]*(?:\r\n|\n|\r|\Z)', re.IGNORECASE)
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_SAMPLE_LINES = 200
_STRANGE_DELIMITERS = ("^", "~", "¦")
_FEW_LINES = 2
_NARROW = 3  # columns; an address over two lines has as many commas as two rows of such a table
_RECORDS_AT_ONCE = 50_000
_BLOCK_BYTES = 16 << 20
_LINE_BEGIN = re.compile(rb"\n(?=\S)")
_NO_DELIMITER = "\x1f"  # a control character that no ordinary file holds


def read_csv(path: Path, *, name: str, options: ReadOptions, limits: Limits) -> Sheet:
    """The one sheet of a text file; raises FileHeld where rows could get lost or a limit is passed."""
    text = read_text(path, name=name, encoding=options.encoding, limits=limits)
    notes = list(text.notes)
    content = text.content
    if not content or content.isspace():
        raise _no_rows(name)
    delimiter = {"tab": "\t", "\\t": "\t"}.get(options.delimiter, options.delimiter)
    if found := _SEP_LINE.match(content):
        content = content[found.end() :]
        delimiter = found[1].decode() if delimiter == "auto" else delimiter
        notes.append("the first line (sep=) only names the delimiter and is not counted as a row")
    if delimiter == "auto":
        delimiter = detect_delimiter(content, name=name)
        _refuse_strange_delimiter(content, delimiter, name=name)
    if delimiter != ",":
        notes.append(f"cells are separated by {_DELIMITERS.get(delimiter, delimiter)}")
    if plain := read_plain(content, delimiter=delimiter, limits=limits, name=name):
        frame, counts = plain
    else:
        exact = ExactReader(name=name, delimiter=delimiter, options=options, limits=limits)
        frame = exact.read(content.decode())
        counts = pl.Series(exact.cell_counts, dtype=pl.UInt32)
    ends_open = not content.endswith((b"\n", b"\r"))
    del content, text  # as large as the cells; what follows needs room
    frame = trimmed(frame, what=printable(name), max_columns=limits.max_columns, max_gap_rows=limits.max_gap_rows)
    if frame.height > limits.max_csv_rows:
        raise _too_many_rows(name, limits)
    if not frame.height:
        raise _no_rows(name)
    cells = counts.head(frame.height)
    return Sheet(
        name="",
        frame=numbered(frame),
        notes=tuple(notes),
        cell_counts=cells,
        ends_open=ends_open,
        delimiter=delimiter,
        encoding="" if options.encoding == "auto" else options.encoding,
    )


def detect_delimiter(content: bytes, *, name: str) -> str:
    """The delimiter by which most of the first lines have equally many cells; a comma for a single column."""
    sample = content[: 1 << 18].decode("utf-8", "ignore")
    best, best_score = ("\t" if PurePosixPath(name).suffix.lower() in (".tsv", ".tab") else ","), (False, 0.0)
    for delimiter in _DELIMITERS:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        widths = Counter(len(record) for record in _tolerant(reader) if len(record) > 1)
        if not widths:
            continue
        lines = max(sample[: 1 << 16].count("\n"), 1)
        width, times = max(widths.items(), key=lambda item: (item[1] * (item[0] - 1), item[0]))
        share = min(times / min(lines, _SAMPLE_LINES), 1.0)
        score = (share >= 0.5, share * (width - 1))
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _refuse_strange_delimiter(content: bytes, delimiter: str, *, name: str) -> None:
    """Raise FileHeld where the first lines have one cell each, and equally many of a sign that may part cells."""
    lines = [line for line in content[: 1 << 16].splitlines()[:_SAMPLE_LINES] if line.strip()]
    if len(lines) < _FEW_LINES or any(delimiter.encode() in line for line in lines):
        return
    for sign in _STRANGE_DELIMITERS:
        counts = {line.count(sign.encode()) for line in lines[:-1]}  # the last one may be cut
        if len(counts) == 1 and counts.pop() > 1:
            raise FileHeld(
                f'{printable(name)}: the cells seem to be separated by "{sign}", by which cells are not told apart '
                "unless the mapping says so.",
                rule="csv|delimiter",
                remedy=f'Save it with commas, semicolons or tabs, or set `sheet: {{delimiter: "{sign}"}}` in the '
                "mapping.",
            )


def read_plain(
    content: bytes, *, delimiter: str, limits: Limits, name: str = "", block_bytes: int = _BLOCK_BYTES
) -> tuple[pl.DataFrame, pl.Series] | None:
    """A file whose every line is a record by itself, and how many cells each has; None if it is not so plain.

    By polars. The columns are named from "1"; an empty cell is null. block_bytes: so much of the text is looked at at
    once, which bounds the memory that takes. Raises FileHeld for more rows, or more empty ones between two others, than
    are read.
    """
    if len(delimiter.encode()) != 1 or _NO_DELIMITER.encode() in content or content.endswith(b"\r"):
        return None
    blocks = _blocks(content, block_bytes)
    if not content[blocks[0]][:4096].strip() and not content[blocks[0]].strip():
        return None
    lines = [_PlainLines.of(content[block], delimiter) for block in blocks]
    width, longest = max(each.width for each in lines), max(each.longest for each in lines)
    if width > limits.max_columns or longest > limits.max_cell_characters or not all(each.are_plain for each in lines):
        return None
    filled = pl.concat([each.filled for each in lines]).arg_true()
    if filled.len() and int(filled[-1]) >= limits.max_csv_rows:
        raise _too_many_rows(name, limits)
    refuse_gap(filled, what=printable(name), max_gap_rows=limits.max_gap_rows)
    frames = [_parsed(content[block], delimiter, width) for block in blocks]
    if any(frame.height != each.counts.len() for frame, each in zip(frames, lines, strict=True)):
        return None
    return pl.concat(frames), pl.concat([each.counts for each in lines])


def _blocks(content: bytes, size: int) -> list[slice]:
    """Pieces of at least some size, each of whole lines; all but the first begin with a line that is not blank."""
    ends = [0]
    while cut := _LINE_BEGIN.search(content, ends[-1] + size):
        ends.append(cut.end())
    return [slice(begin, end) for begin, end in pairwise([*ends, len(content)])]


@dataclass(frozen=True, slots=True)
class _PlainLines:
    """Some lines of a text, counted. width: at most so many columns; longest: characters of a line; are_plain: each is
    a record by itself; filled: which are not blank; counts: the cells of each, also the empty ones at its end."""

    width: int
    longest: int
    are_plain: bool
    filled: pl.Series
    counts: pl.Series

    @classmethod
    def of(cls, block: bytes, delimiter: str) -> "_PlainLines":
        """Count the lines of a block."""
        blank_as_null = _lines(block)
        lines = blank_as_null.fill_null("")
        longest = int(lines.str.len_chars().max() or 0)  # type: ignore[arg-type]
        # those before a line break have gone; another one may end a row or stand in a cell
        are_plain = b"\r" not in block or not lines.str.contains("\r", literal=True).any()
        if b'"' in block:  # each quoted run becomes a sign that no file holds
            lines = lines.str.replace_all(r'"[^"]*"', _NO_DELIMITER)
        cells = lines.str.count_matches(delimiter, literal=True) + 1
        width = int(cells.max() or 1)  # type: ignore[arg-type]
        if b'"' in block:
            are_plain &= not lines.str.contains(_unplain(delimiter)).any()
        return cls(width, longest, are_plain, blank_as_null.is_not_null(), cells)


def _unplain(delimiter: str) -> str:
    """What tells, once each quoted run is one sign, of a quotation mark that does not enclose a cell."""
    mark, run = re.escape(delimiter), _NO_DELIMITER
    return f'[^{mark}{run}]{run}|{run}[^{mark}{run}\r]|"'


def _lines(content: bytes) -> pl.Series:
    """The lines of a text; a blank one is null."""
    schema = {"line": pl.String}
    frame = pl.read_csv(
        content, separator=_NO_DELIMITER, quote_char=None, has_header=False, schema=schema, infer_schema=False
    )
    return frame.to_series()


def _parsed(block: bytes, delimiter: str, width: int) -> pl.DataFrame:
    """The cells of some lines; empty ones are null."""
    # A first line of full width tells polars how many columns there are, however short the block's own first line is.
    first = delimiter.encode() * (width - 1) + b"\n" if width > 1 else b"-\n"
    frame = pl.read_csv(
        first + block,
        separator=delimiter,
        has_header=False,
        schema={str(number): pl.String for number in range(1, width + 1)},
        infer_schema=False,
    ).slice(1)
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all())) if b'""' in block else frame


class ExactReader:
    """Reads record by record, strictly, and watches for rows that a stray quotation mark has swallowed."""

    def __init__(self, *, name: str, delimiter: str, options: ReadOptions, limits: Limits) -> None:
        self._name = printable(name)
        self._delimiter = delimiter
        self._options = options
        self._limits = limits
        self.cell_counts: list[int] = []  # of each record
        self._row = 0
        self._widths: Counter[int] = Counter()
        self._suspects: list[tuple[int, int, str]] = []  # row, its cells, one of them with line breaks and delimiters
        self._first_cells: dict[int, str] = {}  # of these rows

    def read(self, text: str) -> pl.DataFrame:
        """All records; columns are named from "1", an empty cell is null. Raises FileHeld."""
        records = self._records(text)
        frames = []
        while some := list(islice(records, _RECORDS_AT_ONCE)):
            columns = zip_longest(*some, fillvalue="")
            frames.append(pl.DataFrame({str(number): column for number, column in enumerate(columns, start=1)}))
            # A frame of blank lines has no columns and would lose its height.
            frames[-1] = frames[-1] if frames[-1].width else pl.DataFrame({"1": [""] * len(some)})
        self._refuse_swallowed_rows()
        if not frames:
            return pl.DataFrame(schema={"1": pl.String})
        frame = pl.concat(frames, how="diagonal")
        return frame.with_columns(pl.when(pl.all() != "").then(pl.all()))

    def _records(self, text: str) -> Iterator[list[str]]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter, strict=True)
        while True:
            lines_before = reader.line_num
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                too_long = "field limit" in str(error)
                if too_long and reader.line_num - lines_before <= self._options.max_embedded_newlines + 1:
                    raise self._long_cell(self._row + 1) from error
                if too_long:
                    raise self._quote_fault(self._row + 1, "one of its cells runs over many lines") from error
                raise self._quote_fault(self._row + 1, f"it does not end as a row should ({error})") from error
            self._row += 1
            self._check(record)
            yield self._narrow(record) if len(record) > self._limits.max_columns else record

    def _check(self, record: list[str]) -> None:
        if self._row > self._limits.max_csv_rows:
            raise _too_many_rows(self._name, self._limits)
        self.cell_counts.append(len(record))
        if record:
            self._widths[len(record)] += 1
        for column, cell in enumerate(record, start=1):
            if "\n" in cell or "\r" in cell:
                self._check_breaks(record, column, cell)
            # Before what looks like a formula a fix file of ours has one sign more.
            if len(cell.removeprefix("'")) > self._limits.max_cell_characters:
                raise self._long_cell(self._row)

    def _narrow(self, record: list[str]) -> list[str]:
        """A wide record without its empty cells at the end; raises FileHeld if it is too wide even so."""
        width = max((number for number, cell in enumerate(record, start=1) if cell), default=0)
        if width > self._limits.max_columns:
            raise too_many_columns(self._name, width, self._limits.max_columns)
        return record[:width]

    def _check_breaks(self, record: list[str], column: int, cell: str) -> None:
        breaks = len(_LINE_BREAK.findall(cell))
        if breaks > self._options.max_embedded_newlines:
            place = f"{column_letters(column)}{self._row}"
            raise self._quote_fault(self._row, f"cell {place} runs over {breaks + 1} lines")
        if self._delimiter in cell:
            self._suspects.append((self._row, len(record), cell))
            self._first_cells[self._row] = record[0]

    def _refuse_swallowed_rows(self) -> None:
        """Raise FileHeld where a cell over several lines holds as many cells as those lines would."""
        if not self._suspects:
            return
        usual = self._widths.most_common(1)[0][0]
        for row, cells, cell in self._suspects:
            if cells < usual or self._holds_a_row(cell, usual, beginning=self._first_cells[row]):
                raise self._quote_fault(row, "one of its cells seems to have swallowed the next row")

    def _holds_a_row(self, cell: str, usual: int, *, beginning: str) -> bool:
        """Whether the lines of a cell are about as wide as rows; in a narrow table one must begin like a row, too."""
        lines = _LINE_BREAK.split(cell)
        wide = [line for line in lines[1:] if 4 * line.count(self._delimiter) >= 3 * (usual - 1) > 0]
        if usual <= _NARROW:
            return any(_shape(line.split(self._delimiter)[0]) == _shape(beginning) for line in wide)
        least = (len(lines) - 1) * (usual - 1 - (usual - 1) // 8)
        return bool(wide) or cell.count(self._delimiter) >= least

    def _long_cell(self, row: int) -> FileHeld:
        return FileHeld(
            f"{self._name}: row {row}: a cell is longer than {self._limits.max_cell_characters:,} characters.",
            rule="csv|long_cell",
            remedy="Shorten the cell and send the file again.",
        )

    def _quote_fault(self, row: int, what: str) -> FileHeld:
        return FileHeld(
            f"{self._name}: row {row} cannot be read safely: {what}. Probably a quotation mark is missing there.",
            rule="csv|quotes",
            remedy=f'Remove or double the stray " in row {row} or just above it, or send the file as .xlsx. If cells '
            "rightly hold many lines, raise sheet.max_embedded_newlines in the mapping.",
        )


def _shape(text: str) -> str:
    """A text with a sign for each run of digits and of letters: of one shape are the values of a column of numbers.

    >>> _shape("SH-12"), _shape("ORD 7")
    ('a-9', 'a 9')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text.strip(' "')))


def _tolerant(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The first records for a look at the delimiter; ends at what the parser cannot read."""
    try:
        yield from islice(reader, _SAMPLE_LINES)
    except csv.Error:
        return


def _no_rows(name: str) -> FileHeld:
    return FileHeld(f"{printable(name)} holds no rows.", rule="file|empty", remedy="Send it again with its rows.")


def _too_many_rows(name: str, limits: Limits) -> FileHeld:
    return FileHeld(
        f"{printable(name)} has more than {limits.max_csv_rows:,} rows.",
        rule="file|too_many_rows",
        remedy="Split it into several files.",
    )
