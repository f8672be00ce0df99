"""Documents that are not sent though their own cells are right: another row of theirs, or another document, is why."""

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import chain, product
from typing import Any, Final

import polars as pl

from logistics_batch import messages
from logistics_batch.mapping.fields.compile import CompiledSheet, written_key
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.rows.cells import BLANKS, name_of
from logistics_batch.mapping.rows.classify import BY_PATTERN, Rows, spread
from logistics_batch.mapping.rows.header import Header, fits
from logistics_batch.mapping.spec.words import TOTAL
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet
from logistics_batch.model.spelling import differences, folded_key

_LOOKED_AT: Final = 1_000  # rows, for the columns in which most differ
_CELL: Final = re.compile(r"c[0-9]+")
_MOST_ROWS: Final = 20_000
_MOST_COLUMNS: Final = 100
_ONE: Final = ("1", "01", "001", "1.0", "1.")
_PLAIN: Final = "^[!-_a-~]+( [!-_a-~]+)*$"
_NEEDLESS_ZEROS: Final = "(^| )0[0-9]|[.][0-9]*0($| )"  # perhaps: a part of a key that is but a number may have them

BLOCKED_SCHEMA: Final = {"doc": pl.UInt32, "code": pl.String, "values": pl.String}
"""Documents that are not sent, each once: a code of the catalogue and its values, packed."""

_Found = Iterator[tuple[int, str, dict[str, Any]]]
_SHOWN_DOCUMENTS: Final = 5
_TOLD: Final = {"code": pl.String, "values": pl.String}


def blocked_documents(table: CompiledSheet, documents: pl.DataFrame, rows: Rows, notes: list[Issue]) -> pl.DataFrame:
    """The documents that have lost a row, contradict themselves, or share their name (BLOCKED_SCHEMA).

    documents: doc, natural (its natural key). notes: takes what holds none of them back.
    """
    left_out = rows_left_out(table, rows)
    halves = [*halved(table, rows, left_out)]
    notes += noted(table, rows, left_out.filter(~pl.col("doc").is_in([doc for doc, *_ in halves])))
    found = (_hidden(table, rows.hidden), halves, _torn(table), _with_equal_rows(table, notes))
    lines = [
        (doc, code, messages.packed(values))
        for each in (*found, _doubled(table, documents))
        for doc, code, values in each
    ]
    return pl.DataFrame(lines, schema=BLOCKED_SCHEMA, orient="row").unique("doc", keep="first", maintain_order=True)


def with_siblings(blocked: pl.DataFrame, table: CompiledSheet, found: Findings, strays: pl.DataFrame) -> pl.DataFrame:
    """Beside those that are blocked the documents with a row that is wrong itself, or a stray one (doc, row)."""
    placed = pl.concat([table.lines.select("row", "doc"), strays.select("row", "doc")])
    together = pl.concat([blocked, _siblings(table.sheet, placed, found)], how="diagonal")
    return together.unique("doc", keep="first", maintain_order=True)


def _siblings(sheet: Sheet, placed: pl.DataFrame, found: Findings) -> pl.DataFrame:
    """Documents of which a row is wrong itself: doc, code, values; and those that rows of a second sheet are told.

    placed: row, doc.
    """
    wrong = found.frame()
    places = sheet.places(wrong).select("sheet", pl.col("row").alias("at"))
    rows = placed.join(pl.concat([wrong.select("row"), places], how="horizontal").drop_nulls(), on="row")
    second = sheet.origins.second if sheet.origins else ""
    own, other = (pl.col("at").filter(pl.col("sheet") == name).unique().sort() for name in ("", second or "-"))
    by_doc = rows.group_by("doc").agg(own=own, other=other)
    there = (each.alias(f"{name}_there") for name, each in _not_sent("other", "own", sheet.name).items())
    return by_doc.select("doc", *there, **_not_sent("own", "other", second))


def _not_sent(here: str, there: str, other: str) -> dict[str, pl.Expr]:
    """What rows of one sheet are told of the wrong ones there and on the other sheet: code, values."""
    is_alone, is_none = pl.col(there).list.len() == 0, pl.col(here).list.len() == 0
    code = pl.when(is_alone).then(pl.lit("own_sheet")).when(is_none).then(pl.lit("other_sheet"))
    rows, others = pl.col(here).alias("rows"), (pl.col(there).alias("others"), pl.lit(other).alias("sheet"))
    alone, both = pl.struct(rows).struct.json_encode(), pl.struct(rows, *others).struct.json_encode()
    values = pl.when(is_alone).then(alone).otherwise(both)
    return {"code": pl.lit("sibling.") + code.otherwise(pl.lit("both_sheets")), "values": values}


def _hidden(table: CompiledSheet, hidden: pl.DataFrame) -> _Found:
    """Documents of which a row is hidden and skipped, unless the mapping leaves such rows out."""
    lost = table.of_documents(hidden if table.mapping.spec.sheet.hidden_rows == "skip" else hidden.clear())
    for doc, rows in lost.group_by("doc", maintain_order=True).agg("row").iter_rows():
        yield doc, "hidden row", {"rows": table.sheet.physical_rows(rows)}


def _torn(table: CompiledSheet) -> _Found:
    """Documents whose rows say different things."""
    torn = pl.concat([pl.DataFrame(schema={"doc": pl.UInt32, "name": pl.String}), *_disagreements(table)])
    if torn.is_empty():
        return
    names_of = torn.group_by("doc", maintain_order=True).agg(pl.col("name").unique(maintain_order=True))
    rows_of = table.lines.select("doc", "row").join(names_of, on="doc", how="semi").group_by("doc").agg("row")
    for doc, names, rows in names_of.join(rows_of, on="doc", how="left", maintain_order="left").iter_rows():
        yield doc, "disagree", {"names": names, "rows": table.sheet.physical_rows(rows)}


def _disagreements(table: CompiledSheet) -> Iterator[pl.DataFrame]:
    """Where a document's rows say different things: doc, name (of the column).

    A blank beside a value disagrees, but not where a sum takes a column's first value. A value that could not be read
    is an issue of its own and not compared.
    """
    heads, texts = table.heads, table.bound.texts
    same = pl.col("doc") == pl.col("doc").shift(1)
    for field in table.header if heads.height > heads["doc"].n_unique() else ():
        value, broken = pl.col(field.value_name), field.broken
        read = [broken.is_null() & broken.shift(1).is_null()] if field.rules else []
        differs = pl.all_horizontal(same, value.ne_missing(value.shift(1)), *read)
        name = texts[field.column - 1].strip() if field.column else field.target
        yield heads.filter(differs).select(pl.col("doc").unique(), name=pl.lit(name))
    for field in table.fields:
        for column in filter(None, map(table.bound.column, (*field.spec.plus, *field.spec.minus))):
            numbers = table.lines.select("doc", number=f"sum:{field.place}:{column}").drop_nulls().unique()
            several = numbers.filter(pl.col("doc").is_duplicated())["doc"].unique().sort()
            yield pl.DataFrame({"doc": several}).with_columns(name=pl.lit(texts[column - 1].strip()))


def _doubled(table: CompiledSheet, documents: pl.DataFrame) -> _Found:
    """Documents that differ in their key columns and would be one document to the service."""
    if documents.height < 2 or table.mapping.operation is Operation.RECEIPT_READ:
        return
    read = documents.drop_nulls("natural").select("doc", "natural", _as_read(pl.col("natural")).alias("read"))
    doubled = read.filter(pl.col("read").is_duplicated())
    if doubled.is_empty():
        return
    rows = table.lines.select("row", "doc").group_by("doc", maintain_order=True).agg("row")
    placed = doubled.join(rows, on="doc", how="left", maintain_order="left")
    groups = placed.group_by("read", maintain_order=True).agg("natural", "doc", "row")
    for _, naturals, docs, places in groups.iter_rows():
        rows_of_all = table.sheet.physical_rows(number for place in places for number in place)
        first, *others = dict.fromkeys(naturals)
        code, values = "duplicate", {"name": first, "rows": rows_of_all}
        if others:
            told = list(dict.fromkeys(name for other in others for name in differences(first, other)))
            code, values = "duplicate.spelling", {"names": [first, *others], "what": told, "rows": rows_of_all}
        yield from ((doc, code, values) for doc in docs)


def _as_read(names: pl.Expr) -> pl.Expr:
    """`folded_key`, which has only letters to make small in plain names; these are nearly all."""
    plain = names.str.contains(_PLAIN) & ~names.str.contains(_NEEDLESS_ZEROS)
    others = pl.when(~plain).then(names).map_elements(folded_key, return_dtype=pl.String)
    return pl.when(plain).then(names.str.to_lowercase()).otherwise(others)


def stray_rows(table: CompiledSheet) -> pl.DataFrame:
    """The rows, with the document above each (doc, row), of which nobody can tell whether they are a line of that.

    Such a row has all that a line needs, and says nothing else of the document than the row above: blank, or the same.
    The document may be half of what is meant without it. One that says something else has lost a key of its own.
    """
    mapping, form = table.mapping, table.mapping.spec.sheet
    goods = {each.column for each in table.line if mapping.is_required(each.place) and each.column is not None}
    if table.keyless.is_empty() or not goods:
        return pl.DataFrame(schema={"doc": pl.UInt32, "row": pl.UInt32})
    filled, keys, asked = (
        set(table.columns(names))
        for names in (form.fill_down, mapping.key_in_table, (*form.skip_rows_where, *form.only_rows_where))
    )
    header = {each.column for each in table.header if each.spec.source != "sum"}  # a sum is over what lines say
    said = (header | filled) - {None} - keys - asked - goods
    names = [name_of(column) for column in sorted(filter(None, said)) if name_of(column) in table.keyless.columns]
    rows = table.keyless.filter(pl.col(name_of(column)).is_not_null() for column in goods).select("row", *names)
    # What stands in a cell of the key and could not be read is a key of their own.
    written = pl.any_horizontal(pl.col(str(column)).str.strip_chars(BLANKS) != "" for column in keys)
    rows = rows.join(table.sheet.frame.filter(written).select("row"), on="row", how="anti", maintain_order="left")
    lines = table.lines.select("row", "doc", *names).sort("row")
    other = [pl.col(name).is_not_null() & pl.col(name).ne_missing(pl.col(f"{name}_right")) for name in names]
    own = rows.join_asof(lines, on="row").filter(pl.any_horizontal(pl.lit(value=False), *other)).select("row")
    placed = pl.concat([lines.select("row", "doc"), own.with_columns(pl.lit(None, pl.UInt32).alias("doc"))]).sort("row")
    strays = rows.join(own, on="row", how="anti", maintain_order="left").select("row")
    return strays.join_asof(placed, on="row").drop_nulls("doc").select("doc", "row")


def equal_rows(lines: pl.DataFrame, sheet: Sheet, header: Header) -> tuple[pl.DataFrame, list[str]]:
    """Of lines of documents (doc, row, c1, c2 …) those with an equal one in another row of their document (doc, row,
    twin: the first of those that are equal), and the headers of columns that were left aside.

    Cells in use, which the lines hold, are compared clean and filled down, the others of the sheet as they stand; our
    own result columns are not, nor one that only counts the rows.
    """
    used = [name for name in lines.columns if _CELL.fullmatch(name)]
    suspects = _alike(lines.select("doc", "row", *used), ["doc", *used])
    if suspects.is_empty():
        return suspects.select("doc", "row", twin="row"), []
    skipped = {*used, *(name_of(number) for number in header.own)}
    names = [str(number) for number in range(1, sheet.width + 1) if name_of(number) not in skipped]
    there = sheet.frame.filter(pl.col("row").is_in(suspects["row"].implode()))
    others = there.select("row", *(pl.col(name).str.strip_chars() for name in names))
    aside = _counting_columns(sheet.frame, lines, [name for name in names if _text(header, name)])
    compared = suspects.join(others, on="row", how="left", maintain_order="left")
    same = ["doc", *used, *(name for name in names if name not in aside)]
    equal = _alike(compared, same)
    alike = reduce(
        pl.Expr.xor, [pl.col(name).hash(at) for at, name in enumerate(same)]
    )  # to group by many takes memory
    twins = equal.select("row", alike=alike).select(twin=pl.col("row").first().over("alike")).to_series()
    return equal.select("doc", "row", twins), [_text(header, name) for name in aside]


def _text(header: Header, name: str) -> str:
    return header.texts[int(name) - 1].strip() if int(name) <= len(header.texts) else ""


def _alike(lines: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The lines that are equal to another one in some columns; few are, and only those are compared cell by cell."""
    telling = sorted(names, key=lambda name: lines[name].head(_LOOKED_AT).n_unique())[-3:]
    hashes = lines.select(reduce(pl.Expr.xor, [pl.col(name).hash() for name in telling])).to_series()
    if hashes.n_unique() == hashes.len():  # to group what is all different takes much memory
        return lines.clear()
    alike = lines.filter(hashes.is_duplicated())
    return alike.filter(pl.struct(names).is_duplicated())


def _with_equal_rows(table: CompiledSheet, notes: list[Issue]) -> _Found:
    """The documents that are not sent for rows that may have been pasted twice; or a note on these."""
    rule = table.mapping.spec.checks.equal_rows
    found, aside = _rows_of_documents(table) if rule != "allow" else ({}, [])
    if rule == "block":
        code = "equal rows.counted" if aside else "equal rows"
        yield from ((doc, code, {"twins": twins, "aside": aside}) for doc, twins in found.items())
    elif rows := sorted(row for twins in found.values() for rows in twins for row in rows):
        notes.append(Issue.of("equal_rows.note_counted" if aside else "equal_rows.note", rows=rows, aside=aside))


def told_of_twins(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of the file (row, doc, code, values), those of documents with equal ones told which are equal to them; those
    that have none are told of the first.
    """
    of_equal = pl.col("code").str.starts_with("equal rows").fill_null(value=False)
    words, members, firsts = list[str](), list[tuple[int, int]](), list[tuple[int, int]]()
    for doc, values in rows.filter(of_equal).unique("doc", keep="first").select("doc", "values").iter_rows():
        given = messages.unpacked(values)
        firsts.append((doc, len(words)))
        for twins in given.pop("twins"):
            members += [(row, len(words)) for row in twins]
            words.append(messages.packed(given | {"rows": twins}))
    if not words:
        return rows
    mine, other = (pl.DataFrame(each, schema={name: pl.UInt32, f"at {name}": pl.UInt32}, orient="row")
                   for name, each in (("row", members), ("doc", firsts)))  # fmt: skip
    said = pl.DataFrame({"said": words}).with_row_index("at")  # joined, so that long words stand in memory once
    mine = mine.unique(
        "row", keep="first", maintain_order=True
    )  # one that holds several lines may equal several others
    told = rows.join(mine, on="row", how="left", maintain_order="left")
    told = told.join(other, on="doc", how="left", maintain_order="left")
    told = told.with_columns(at=pl.coalesce("at row", "at doc")).join(said, on="at", how="left", maintain_order="left")
    return rows.with_columns(pl.when(of_equal).then(told["said"]).otherwise("values").alias("values"))


def _rows_of_documents(table: CompiledSheet) -> tuple[dict[int, list[list[int]]], list[str]]:
    """For each document the groups of its equal rows by their physical numbers; items twice in one cell are none."""
    lines = table.lines
    each_has_one = lines.is_empty() or lines.height == int(lines["doc"][-1]) + 1
    if not table.line or each_has_one or table.mapping.operation is Operation.RECEIPT_READ:
        return {}, []
    equal, aside = equal_rows(lines, table.sheet, table.bound)
    found: dict[int, list[list[int]]] = {}
    for doc, _, numbers in equal.group_by("doc", "twin", maintain_order=True).agg("row").iter_rows():
        if len(rows := table.sheet.physical_rows(numbers)) > 1:
            found.setdefault(doc, []).append(rows)
    return found, aside


def _counting_columns(frame: pl.DataFrame, rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Of some columns of a sheet's frame those that count its rows of data, all of them or those of each document.

    rows: the rows of data by document: doc, row. Every number must be there: a column of anything else, as of boxes or
    batches, tells rows apart. Rows that are no data may be counted or not. Of a large sheet none is looked for.
    """
    if not 1 < rows.height <= _MOST_ROWS or not names:
        return []
    ordered = rows.select("doc", "row").unique("row", keep="first").sort("row")
    begin = frame.filter(pl.col("row") == ordered["row"][0]).select(names).row(0)
    hopeful = [name for name, text in zip(names, begin, strict=True) if (text or "").strip() in _ONE][:_MOST_COLUMNS]
    cells = frame.select("row", *hopeful).filter(pl.col("row").is_in(ordered["row"].implode()))
    numbers = cells.select(pl.col(hopeful).str.strip_chars().cast(pl.Float64, strict=False).fill_null(0))
    return [name for name in hopeful if _counts(ordered.with_columns(number=numbers[name]))]


def _counts(rows: pl.DataFrame) -> bool:
    """Whether the numbers go on from row to row, or from row to row of each document."""
    step, apart = pl.col("number").diff(), pl.col("row").cast(pl.Float64).diff()
    goes_on = (step == 1) | (step == apart)
    begins = pl.col("number") == 1
    same_document = pl.col("doc") == pl.col("doc").shift(1)
    through_the_sheet = rows.select(goes_on.fill_null(begins).all()).item()
    through_each = rows.sort("doc", "row").select(pl.when(same_document).then(goes_on).otherwise(begins).all()).item()
    return bool(through_the_sheet or through_each)


def rows_left_out(table: CompiledSheet, rows: Rows) -> pl.DataFrame:
    """Of documents that are taken the rows that a rule leaves out: doc, key, row, code, values."""
    told = rows.skipped.filter(pl.col("code").str.extract(r"^([^.]*)").is_in(BY_PATTERN))
    if told.is_empty() or "key" not in table.lines.columns:  # receipts have none
        return pl.DataFrame(schema={"doc": pl.UInt32, "key": pl.String, "row": pl.UInt32, **_TOLD})
    filled, cells = {*table.columns(table.mapping.spec.sheet.fill_down)}, rows.cleaned.frame
    keys = {column: spread(table.sheet, table.bound, column, cells) for column in table.columns(table.mapping.spec.key)}
    named = pl.DataFrame(
        {"row": cells["row"]}
        | {name_of(key): cell.forward_fill() if key in filled else cell for key, cell in keys.items()}
    )
    theirs = named.filter(
        pl.col("row").is_in(told["row"].implode()), pl.any_horizontal(pl.exclude("row").is_not_null())
    )
    return table.of_documents(theirs).join(told, on="row", maintain_order="left")


def noted(table: CompiledSheet, rows: Rows, left_out: pl.DataFrame) -> Iterator[Issue]:
    """A note for each rule on the documents that go out without some rows: it may be meant so, as of cancelled lines.

    `skip_rows_where` on a column of goods names what is none, as freight, which says it plainly; so does a total.
    """
    goods = {table.text_of(column) for column in table.columns(table.mapping.spec.key)}
    goods |= {table.text_of(column) for each in table.line for column in table.bound.bound(each.spec.columns)}
    name, value = (pl.col("values").str.json_path_match(f"$.{each}") for each in ("name", "value"))
    is_plain = (name.is_in([*goods]) | value.str.contains(TOTAL)).fill_null(value=False)
    lines = pl.col("row").is_in(_lines_in(table, rows, left_out["row"])["row"].implode())
    of_rule = {"only_rows_where": pl.lit(value=True), "skip_rows_where": lines & ~is_plain}
    for rule, told in of_rule.items():
        theirs = left_out.filter(pl.col("code").str.starts_with(rule), told)
        split = theirs.group_by("doc", maintain_order=True).agg(written_key(pl.col("key").first()), "row")
        if split.is_empty():
            continue
        first = [
            ["left_out.rows", {"key": key, "rows": table.sheet.physical_rows(numbers)}]
            for _, key, numbers in split.head(_SHOWN_DOCUMENTS).iter_rows()
        ]
        more = [["left_out.more", {"count": split.height - len(first)}]] if split.height > len(first) else []
        code = "left_out.document" if split.height == 1 else "left_out.documents"
        yield Issue.of(code, rule=rule, documents=split.height, told=first, more=more)


def halved(table: CompiledSheet, rows: Rows, left_out: pl.DataFrame) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The documents of which a rule may mean all rows and finds some, for the cell that it asks for stands on these
    only: doc, code, values.

    So it is where the other rows are blank in that column, and in one that says whose goods they are: what stands once
    for all of them may be the rule's column, too. Rows that repeat all of that speak for themselves.
    """
    if left_out.is_empty() or not table.line:
        return
    mapping, form = table.mapping, table.mapping.spec.sheet
    of_document = {column for each in table.header for column in table.bound.bound(each.spec.columns)}
    once = {*table.columns([*mapping.key_in_table, *form.fill_down])}
    once = (once | of_document.intersection(table.bound.bound(mapping.required))).difference(table.sheet.above)
    docs = left_out["doc"].unique().implode()
    taken = table.lines.filter(pl.col("doc").is_in(docs)).select("doc", "row", out=False).unique()
    both = pl.concat([taken, left_out.select("doc", "row", out=True)])
    with_goods = pl.col("row").is_in(_lines_in(table, rows, left_out["row"])["row"].implode())
    cells, is_out = rows.cleaned.frame, pl.col("out")
    for rule, (name, patterns) in chain.from_iterable(
        product([each], getattr(form, each).items()) for each in BY_PATTERN
    ):
        for column in table.columns([name]):
            others = [*map(name_of, once - {column})]
            asked = cells.select("row", *others).with_columns(asked=spread(table.sheet, table.bound, column, cells))
            there = both.join(asked, on="row", maintain_order="left")
            says, fit = pl.col("asked").is_not_null(), fits(pl.col("asked"), patterns)
            led = [(is_out & says & (fit if rule == "skip_rows_where" else ~fit), ~is_out & ~says)]
            led += [(~is_out & says, is_out & ~says & with_goods)] if rule == "only_rows_where" else []
            halves = [
                (one & pl.col(other).is_not_null()).any() & (rest & pl.col(other).is_null()).any()
                for other in others
                for one, rest in led
            ]
            found = there.group_by("doc", maintain_order=True).agg(
                halved=pl.any_horizontal(pl.lit(value=False), *halves),
                gone=pl.col("row").filter(is_out),
                rest=pl.col("row").filter(~is_out),
            )
            for doc, gone, rest in found.filter("halved").select("doc", "gone", "rest").iter_rows():
                places = {"rows": table.sheet.physical_rows(gone), "others": table.sheet.physical_rows(rest)}
                yield doc, f"half document.{rule}", {"name": table.text_of(column), **places}


def _lines_in(table: CompiledSheet, rows: Rows, numbers: pl.Series) -> pl.DataFrame:
    """Those of some rows that have what a line needs."""
    needed = {each.column for each in table.line if table.mapping.is_required(each.place) and each.column is not None}
    has_all = pl.all_horizontal(pl.lit(value=True), *(pl.col(name_of(column)).is_not_null() for column in needed))
    return rows.cleaned.frame.filter(pl.col("row").is_in(numbers.implode()), has_all)
