"""CSV and its relatives as a sheet of text cells with true row numbers.

The bytes become characters by one encoding, strictly, and it is said which; nothing is ever replaced.

polars reads the cells, also those with line breaks and quotation marks inside; where a mark encloses no whole cell, the
standard library's strict parser does. Nothing may be swallowed behind a quotation mark unnoticed: what is suspicious
about the rows is found afterwards, in the same way for both.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from logistics_batch.intake.names import held, printable
from logistics_batch.intake.readers.limits import Limits, too_many_columns, trimmed
from logistics_batch.model.issue import Issue, cell_address
from logistics_batch.model.sheet import ReadOptions, Sheet

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SEP_LINE = re.compile(rb'"?sep=([^"\r\n])"?[ \t,;]*(?:\r\n|\n|\r|\Z)', re.IGNORECASE)
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_SAMPLE_LINES = 200
_NARROW = 3  # columns; an address over two lines has as many commas as two rows of such a table
_RECORDS_AT_ONCE = 50_000
_BLOCKS_AT_ONCE = 2  # polars leaves a second processor idle while it reads a small block
_BLOCK_BYTES = 2 << 20  # larger ones are no faster, as memory is asked for anew for each
_QUOTED = "\x1f"  # stands for what is between two quotation marks; a control character that no ordinary file holds

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF7_MARKS = (b"+/v8", b"+/v9", b"+/v+", b"+/v/")
_HALF_CHARACTER = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")  # one surrogate of UTF-16 by itself, written as UTF-8
_DOS_END = b"\x1a"
_MOJIBAKE = re.compile(rb"\xc3(?:\xa2\xe2\x82\xac|\x83\xc2[\xa9\xbc]|\x82 |\xa0\xc2\xa4)")  # â€ Ã© Ã¼ Â à¤
_PADDING = b"\0" * 8  # no character takes so many
_MOJIBAKE_BEGIN = b"\xc3"  # of each of them in UTF-8
_MOST_LINES = 8  # named in a note
# No language of Western Europe has four letters with accents in a row; Cyrillic ones are all written by these bytes.
_OTHER_ALPHABET = re.compile(rb"[\xc0-\xd6\xd8-\xf6\xf8-\xff]{4}")
# Where DOS and old Macintosh programs have letters, cp1252 has signs, which stand behind no letter or between none.
_SIGN_AS_LETTER = re.compile(
    rb"[A-Za-z][\x82\x83\x86-\x89\x8b\x98]"
    rb"|[A-Za-z][\x80\x84\x93\x94\x99\x9b\xa1-\xa5][a-z]"
)
_CHECKED_AT_ONCE = 4 << 20


def read_csv(path: Path, *, name: str, options: ReadOptions, limits: Limits) -> Sheet:
    """The one sheet of a text file; raises FileHeld where rows could get lost or a limit is passed."""
    content, notes = read_text(path, name=name, encoding=options.encoding, limits=limits)
    name, ending = printable(name), PurePosixPath(name).suffix
    if not content or content.isspace():
        raise held("file|empty.rows", name)
    delimiter = {"tab": "\t", "\\t": "\t"}.get(options.delimiter, options.delimiter)
    if found := _SEP_LINE.match(content):
        content = content[found.end() :]
        delimiter = found[1].decode() if delimiter == "auto" else delimiter
        notes.append(Issue.of("sep_line"))
    if delimiter == "auto":
        delimiter = _detect_delimiter(content, ending=ending)
    if delimiter != ",":
        notes.append(Issue.of("delimiter", delimiter=_DELIMITERS.get(delimiter, delimiter)))
    # Also empty cells take memory until they are seen to be empty; there are fewer than bytes.
    most_cells, mark = limits.max_csv_cells, delimiter.encode()
    if len(content) > most_cells and (cells := content.count(mark) + content.count(b"\n")) > most_cells:
        raise held("sheet|too_large.csv", name, count=cells, most=limits.max_csv_cells)
    most, empty = limits.max_csv_rows, b"\r\n \t" + delimiter.encode()
    # Without quotation marks each line is a row, and too many need not be read to be told.
    if content.count(b"\n") >= most and b'"' not in content and content.rstrip(empty).count(b"\n") >= most:
        raise held("file|too_many_rows", name, most=most)
    ends_open = not content.endswith((b"\n", b"\r"))
    records = read_records(content, name=name, delimiter=delimiter, options=options, limits=limits)
    del content  # as large as the cells; what follows needs room
    frame = trimmed(records.cells, what=name, limits=limits)
    if not frame.height:
        raise held("file|empty.rows", name)
    if frame.height > limits.max_csv_rows:
        raise held("file|too_many_rows", name, most=limits.max_csv_rows)
    return Sheet(
        name="",
        frame=frame.with_row_index("row", offset=1),
        notes=tuple(notes),
        cell_counts=records.widths.head(frame.height),
        ends_open=ends_open,
        delimiter=delimiter,
        encoding="" if options.encoding == "auto" else options.encoding,
    )


def _detect_delimiter(content: bytes, *, ending: str) -> str:
    """The delimiter by which most of the first lines have equally many cells; a comma for a single column."""
    sample = content[: 1 << 18].decode("utf-8", "ignore")
    lines = min(max(sample[: 1 << 16].count("\n"), 1), _SAMPLE_LINES)
    best, best_score = ("\t" if ending.lower() in (".tsv", ".tab") else ","), (False, 0.0)
    for delimiter in _DELIMITERS:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        widths = Counter[int]()
        with suppress(csv.Error):  # what the parser cannot read ends the look
            widths.update(len(record) for record in islice(reader, _SAMPLE_LINES) if len(record) > 1)
        if widths:
            width, times = max(widths.items(), key=lambda item: (item[1] * (item[0] - 1), item[0]))
            share = min(times / lines, 1.0)
            if (score := (share >= 0.5, share * (width - 1))) > best_score:
                best, best_score = delimiter, score
    return best


@dataclass(frozen=True, slots=True)
class Records:
    """cells: text columns named from "1", a line for each record; an empty cell is null. widths: how many cells each
    record has, also the empty ones at its end. are_lines: no cell has a line break."""

    cells: pl.DataFrame
    widths: pl.Series
    are_lines: bool


def read_records(content: bytes, *, name: str, delimiter: str, options: ReadOptions, limits: Limits) -> Records:
    """All records of a text. Raises FileHeld for more than is read, and where rows may have been swallowed."""
    if b"\r" in content and b"\n" not in content:  # as old Macs wrote
        content = content.replace(b"\r", b"\n")
    records = quickly(content, delimiter=delimiter, limits=limits)
    if records is None:
        records = strictly(content.decode(), name=name, delimiter=delimiter, options=options, limits=limits)
    if not records.are_lines:
        _refuse_breaks(records, name=name, delimiter=delimiter, most=options.max_embedded_newlines)
    return records


def quickly(content: bytes, *, delimiter: str, limits: Limits, block_bytes: int = _BLOCK_BYTES) -> Records | None:
    """Records by polars; None where a quotation mark does not enclose a whole cell, and for other oddities.

    block_bytes: so much of the text is looked at at once, which bounds the memory that takes.
    """
    has_odd_breaks = b"\r" in content and content.count(b"\r") > content.count(b"\r\n")
    if has_odd_breaks or len(delimiter.encode()) != 1 or _QUOTED.encode() in content:
        return None
    blocks = list(_blocks(content, block_bytes))
    with ThreadPoolExecutor(_BLOCKS_AT_ONCE) as threads:
        widths = list(threads.map(partial(_widths, content, delimiter=delimiter), blocks))
        known = [each for each in widths if each is not None]
        if len(known) < len(widths):
            return None
        counts = pl.concat(known)
        width = int(counts.max() or 1)  # type: ignore[arg-type]
        if width > limits.max_columns:
            return None
        cells = pl.concat(threads.map(partial(_parsed, content, delimiter=delimiter, width=width), blocks))
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return Records(cells, counts, are_lines=counts.len() == lines) if cells.height == counts.len() else None


def _blocks(content: bytes, size: int) -> Iterator[slice]:
    """Pieces of at least some size, each of whole records as long as quotation marks come in pairs."""
    begin = 0
    while begin < len(content):
        counted, end, is_open = begin, begin + size, False
        while True:
            cut = content.find(b"\n", end) + 1 or len(content)
            is_open ^= bool(content.count(b'"', counted, cut) & 1)
            if not is_open or cut == len(content):
                break
            counted = end = cut
        yield slice(begin, cut)
        begin = cut


def _widths(content: bytes, place: slice, *, delimiter: str) -> pl.Series | None:
    """How many cells each record of a block has; None where quotation marks do not enclose whole cells."""
    block = content[place]
    text = pl.Series("record", [block.removesuffix(b"\n")], dtype=pl.Binary).cast(pl.String)
    if b'"' in block:
        text = text.str.replace_all(r'"[^"]*"', _QUOTED)
    records = text.str.split("\n").explode(empty_as_null=False)
    if b"\r" in block:
        records = records.str.strip_suffix("\r")
    if b'"' in block:
        mark = re.escape(delimiter)
        if records.str.contains(f'[^{mark}{_QUOTED}]{_QUOTED}|{_QUOTED}[^{mark}{_QUOTED}]|"').any():
            return None
    return records.str.count_matches(delimiter, literal=True) + 1


def _parsed(content: bytes, place: slice, *, delimiter: str, width: int) -> pl.DataFrame:
    """The cells of a block; empty ones are null."""
    block = content[place]
    # A first line of full width tells polars how many columns there are, however short the block's own first line is.
    first = delimiter.encode() * (width - 1) + b"\n" if width > 1 else b"-\n"
    frame = pl.read_csv(
        first + block,
        separator=delimiter,
        has_header=False,
        schema={str(number): pl.String for number in range(1, width + 1)},
        infer_schema=False,
    ).slice(1)
    return _filled(frame) if b'""' in block else frame


def _filled(frame: pl.DataFrame) -> pl.DataFrame:
    """Cells of which the empty ones are null."""
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all()))


def strictly(text: str, *, name: str, delimiter: str, options: ReadOptions, limits: Limits) -> Records:
    """Records by the standard library's parser. Raises FileHeld where a quotation mark is not closed as it should."""
    widths: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = _rows(reader, widths, name=name, most_breaks=options.max_embedded_newlines, limits=limits)
    frames = [pl.DataFrame(schema={"1": pl.String})]
    while some := list(islice(rows, _RECORDS_AT_ONCE)):
        columns = zip_longest(*some, fillvalue="")
        frame = pl.DataFrame({str(number): column for number, column in enumerate(columns, start=1)})
        # a frame of blank lines has no columns and would lose its height
        frames.append(frame if frame.width else pl.DataFrame({"1": [""] * len(some)}))
    cells = _filled(pl.concat(frames, how="diagonal"))
    return Records(cells, pl.Series(widths, dtype=pl.UInt32), are_lines=False)


def _rows(reader: Any, widths: list[int], *, name: str, most_breaks: int, limits: Limits) -> Iterator[list[str]]:
    """The records that a parser gives, none wider than is read; how many cells each has goes to `widths`."""
    while True:
        row, lines_before = len(widths) + 1, reader.line_num
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field limit" not in str(error):
                raise held("csv|quotes.end", name, row=row, error=str(error)) from error
            if reader.line_num - lines_before <= most_breaks + 1:
                raise held("sheet|long_cell.row", name, row=row, most=limits.max_cell_characters) from error
            raise held("csv|quotes.lines", name, row=row) from error
        widths.append(max(len(record), 1))
        if len(record) > limits.max_columns:
            record = record[: max((number for number, cell in enumerate(record, start=1) if cell), default=0)]
            if len(record) > limits.max_columns:
                raise too_many_columns(name, len(record), limits)
        yield record


def _refuse_breaks(records: Records, *, name: str, delimiter: str, most: int) -> None:
    """Raise FileHeld for a cell over more lines than are allowed, or that holds as many cells as those lines would."""
    cells = records.cells.with_row_index("row", offset=1).lazy()
    with_breaks = (
        cells.filter(pl.col(name).str.contains("[\r\n]")).select("row", pl.lit(int(name)), cell=name)
        for name in records.cells.columns
    )
    broken = sorted(row for frame in pl.collect_all(with_breaks) for row in frame.iter_rows())
    for row, column, cell in broken:
        breaks = len(_LINE_BREAK.findall(cell))
        if breaks > most:
            raise held("csv|quotes.breaks", name, row=row, cell=cell_address(row, column), lines=breaks + 1)
    suspects = [(row, cell) for row, _, cell in broken if delimiter in cell]
    if suspects:
        is_filled = records.cells.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
        usual = Counter(records.widths.filter(is_filled).to_list()).most_common(1)[0][0]
        for row, cell in suspects:
            beginning = records.cells["1"][row - 1] or ""
            is_short = records.widths[row - 1] < usual
            if is_short or _holds_a_row(cell, usual, beginning=beginning, delimiter=delimiter):
                raise held("csv|quotes.swallowed", name, row=row)


def _holds_a_row(cell: str, usual: int, *, beginning: str, delimiter: str) -> bool:
    """Whether the lines of a cell are about as wide as rows; in a narrow table one must begin like a row, too."""
    lines = _LINE_BREAK.split(cell)
    wide = [line for line in lines[1:] if 4 * line.count(delimiter) >= 3 * (usual - 1) > 0]
    if usual <= _NARROW:
        return any(_shape(line.split(delimiter)[0]) == _shape(beginning) for line in wide)
    least = (len(lines) - 1) * (usual - 1 - (usual - 1) // 8)
    return bool(wide) or cell.count(delimiter) >= least


def _shape(text: str) -> str:
    """A text with a sign for each run of digits and of letters: of one shape are the values of a column of numbers.

    >>> _shape("SH-12"), _shape("ORD 7")
    ('a-9', 'a 9')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text.strip(' "')))


def read_text(path: Path, *, name: str, encoding: str, limits: Limits) -> tuple[bytes, list[Issue]]:
    """The characters of a file as UTF-8 without a byte order mark, and what had to be decided.

    Raises FileHeld where a byte does not fit the encoding, a zero byte stands in it, or a line never ends.

    Other control characters stay: they spoil a row, not the file.
    """
    data = path.read_bytes()
    _refuse_endless_lines(data, name=name, most=limits.max_line_bytes)
    if (offset := data.find(_PADDING)) >= 0:  # as broken transfers leave it behind
        raise held("csv|zero_bytes", name, line=_line(data, offset))
    notes: list[Issue] = []
    marked = ((label, data[len(mark) :]) for mark, label in _BYTE_ORDER_MARKS if data.startswith(mark))
    found = next(marked, None) if encoding == "auto" else (encoding, data)
    is_known = found is None
    if found is None:
        found = _unmarked(data, name=name), data
        if found[0] == "cp1252":
            notes.append(Issue.of("read_as.cp1252"))
            notes += _notes_on_letters(data, name=name)
    label, body = found
    if label not in ("utf-8", "cp1252"):
        notes.append(Issue.of("read_as", encoding=label))
    content = body if is_known and label == "utf-8" else _as_utf8(body, name=name, encoding=label)
    if content.endswith(_DOS_END):
        content = content.removesuffix(_DOS_END)
    if (offset := content.find(b"\0")) >= 0:
        raise held("csv|control_character", name, line=_line(content, offset))
    if _MOJIBAKE_BEGIN in content and (lines := _lines_with(_MOJIBAKE, content)):
        notes.append(Issue.of("wrong_letters", lines=lines))
    return content, notes


def _refuse_endless_lines(data: bytes, *, name: str, most: int) -> None:
    """Raise FileHeld for a line that is none of a table."""
    begin = 0
    while len(data) - begin > most:
        end = max(data.rfind(sign, begin, begin + most + 1) for sign in (b"\n", b"\r"))
        if end < 0:
            line = 1 + (data.count(b"\n", 0, begin) or data.count(b"\r", 0, begin))
            raise held("csv|long_line", name, line=line, most=most >> 20)
        begin = end + 1


def _unmarked(data: bytes, *, name: str) -> str:
    """The encoding of a file without a mark: UTF-16 by its zero bytes, UTF-8 if it is that throughout, else cp1252."""
    head = data[:2000]
    if head.startswith(_UTF7_MARKS):
        raise held("csv|encoding.utf_7", name)
    if head[1::2].count(0) > len(head) // 4:
        return "utf-16-le"
    if head[0::2].count(0) > len(head) // 4:
        return "utf-16-be"
    try:
        _check_utf8(data)
    except UnicodeDecodeError as error:
        if half := _HALF_CHARACTER.search(data):
            raise held("csv|encoding.half", name, line=_line(data, half.start())) from error
        _refuse_mixture(data, error.start, name=name)
        return "cp1252"
    return "utf-8"


def _notes_on_letters(data: bytes, *, name: str) -> Iterator[Issue]:
    """What should be said about letters that look wrong in cp1252; raises FileHeld where whole words are.

    Every byte of another code page fits it, and the letters are wrong.
    """
    if found := _OTHER_ALPHABET.search(data):
        word, line = found[0].decode("cp1252", "replace"), data.count(b"\n", 0, found.start()) + 1
        raise held("csv|encoding.alphabet", name, word=word, line=line)
    if lines := _lines_with(_SIGN_AS_LETTER, data):
        yield Issue.of("signs_in_words", lines=lines)


def _lines_with(pattern: re.Pattern[bytes], content: bytes) -> str:
    """The first lines that hold a pattern, in words; "" if none does."""
    places = islice((found.start() for found in pattern.finditer(content)), 100 * _MOST_LINES)
    lines: list[int] = []
    at, line = 0, 1
    for place in places:
        line += content.count(b"\n", at, place)
        at = place
        if line not in lines[-1:]:
            lines.append(line)
    shown = ", ".join(f"{number:,}" for number in lines[:_MOST_LINES])
    more = " …" if len(lines) > _MOST_LINES else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}" if lines else ""


def _check_utf8(data: bytes) -> None:
    """Raise UnicodeDecodeError unless all bytes are UTF-8; a part at a time, for the characters take up to four times
    the memory."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(data), _CHECKED_AT_ONCE):
            decoder.decode(data[begin : begin + _CHECKED_AT_ONCE], final=begin + _CHECKED_AT_ONCE >= len(data))
    except UnicodeDecodeError:
        data.decode("utf-8")  # which tells the place in the whole


def _refuse_mixture(data: bytes, offset: int, *, name: str) -> None:
    """Raise FileHeld where some lines are UTF-8 and others are not: either choice would spoil letters."""
    lenient = data.decode("utf-8", "surrogateescape")
    if any(char > "\x7f" and not "\udc80" <= char <= "\udcff" for char in lenient):
        raise held("csv|encoding.mixed", name, line=_line(data, offset))


def _as_utf8(body: bytes, *, name: str, encoding: str) -> bytes:
    try:
        if codecs.lookup(encoding).name == "utf-8":
            _check_utf8(body)
            return body.removeprefix(codecs.BOM_UTF8)
        text = body.decode(encoding)
    except LookupError as error:
        raise held("csv|encoding.unknown", name, encoding=encoding) from error
    except UnicodeDecodeError as error:
        line, character = _place(error, encoding)
        raise held("csv|encoding.misfit", name, encoding=encoding, line=line, character=character) from error
    return text.removeprefix("\ufeff").encode()


def _place(error: UnicodeDecodeError, encoding: str) -> tuple[int, int]:
    """Line and character of what cannot be read, as an editor counts."""
    before = error.object[: error.start].decode(encoding, "ignore").removeprefix("\ufeff")
    *lines, last = before.split("\n")
    return len(lines) + 1, len(last) + 1


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
