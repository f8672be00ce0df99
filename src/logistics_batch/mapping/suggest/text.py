"""A draft as the text of a mapping file: each line says how sure it is and why, and what a person must still say.

A question is written with the mark `? ` before what it asks about; a mapping with such a mark is refused when loaded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from logistics_batch import messages
from logistics_batch.mapping.fields.values.numbers import unit_pair, unit_wanted
from logistics_batch.mapping.lint import MARK, LintFinding, questions_of
from logistics_batch.mapping.rewritten import flow
from logistics_batch.mapping.rows.outside import MARKS
from logistics_batch.mapping.spec.targets import FieldForm, form_of, targets_of
from logistics_batch.mapping.spec.words import PAYMENT_WORDS, PIECES, is_known_pattern
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.draft import Draft
from logistics_batch.mapping.suggest.guess import Candidate, Guess, Reason
from logistics_batch.mapping.suggest.head import lasting_name
from logistics_batch.mapping.suggest.profile import Profile, meaning_of_payment, profile_of
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import cell_address

_SHOWN_ROWS, _SHOWN_CHARACTERS, _SHOWN_WORDS = 20, 80, 6
_UNITS: Final = {"gram": "g", "inch": "in"}  # that `unit` calls otherwise than the vocabulary does
_NUMBERS: Final = (*places.KEYS, *places.QUANTITIES)  # a constant would make all documents one, or of one piece
_ONE_FOR_ALL: Final = {places.KEYS[1]: ", or `{run: file_name}`"}
_ADDED_UP: Final = (FieldForm.MONEY, FieldForm.QUANTITY, FieldForm.COUNT, FieldForm.DECIMAL)
_PIECES: Final = {
    **dict.fromkeys(PIECES, 1),
    **dict.fromkeys(("dz", "doz", "dozen"), f"{MARK}12"),
}
"""How many a word behind a count stands for; what nobody can know is asked for."""
_CANNOT_GO: Final = (
    ("no_phone", places.PHONE, "No row can be sent so: ask the sender for Indian numbers."),
    ("no_pin", places.PIN, "Where it belongs to the address, `join` it there; it cannot be sent as a PIN."),
)


def draft_text(draft: Draft, *, file_name: str) -> str:
    """The mapping file that a draft comes to: behind each line how sure it is and why, below a question its answers."""
    lines = [
        f"# A draft made from {flow(file_name)}; nothing uses it before you save it.",
        "# Each line says how sure it is (0 to 1) and why. Check it with `mapping lint` and `mapping preview`.",
        f"# A `{MARK}` is a question: take it away from the right answer, and move the other columns to `ignore`.",
    ]
    lines += _cannot_go(draft)
    if draft.table.nameless:
        lines.append("# A column without a name is called by the next name on its left and how far from it it stands.")
    data, order = mapping_of(draft), draft.guesses.get("fields.order_id")
    for key, value in data.items():
        why = {
            "operation": f"ask! if not, draft again with --operation {draft.rival}" if draft.rival else "",
            "order_id": _why(order) if order and order.column else "0.00: not found: write the column's name",
            "key": "all rows of a file are one document" if value == "file" else _why_key(draft, value),
            "lines_from": "items beside each other",
            "checks": "the rows come to what the sheet's own total says; a file in which they do not is held",
            "ignore": "map them, keep them, or leave them here",
        }.get(key, "")
        if key in ("sheet", "fields", "lines") and value:
            lines.append(f"{key}:")
            for name, each in value.items():
                lines += _explained(f"  {name}: {flow(each)}", draft, f"{key}.{name}")
        elif key == "ignore":
            lines.append(f"ignore:  # {why}")
            lines += [f"  - {flow(name)}  # {_said([draft.unused[name]])}" for name in value]
        else:
            plain = value if key == "operation" and not draft.rival else flow(value)
            lines.append(f"{key}: {plain}" + f"  # {why}" * bool(why))
    return "\n".join([*lines, *_outside(draft, data), ""])


def _cannot_go(draft: Draft) -> Iterator[str]:
    """First of all: that not one phone or PIN of the sheet can be sent."""
    asked = [(each.columns[0], why) for guess in draft.guesses.values() for each in guess.candidates
             for why in each.reasons if each.columns]  # fmt: skip
    for code, place, remedy in _CANNOT_GO:
        names = [name for name, why in (*asked, *draft.unused.items()) if why == (code,)]
        is_open = place not in draft.guesses or draft.guesses[place].asked
        for name in dict.fromkeys(names if is_open else ()):
            shown = ", ".join(map(flow, draft.table.profiles[name].samples))
            yield f"# {flow(name)} ({shown}): {_said([(code,)])}. {remedy}"


def _outside(draft: Draft, data: dict[str, Any]) -> Iterator[str]:
    """What stands above and below the table and fills nothing, row by row."""
    facts = [each.fact for guess in draft.guesses.values() for each in guess.candidates if each.fact]
    read = {fact.address for fact in facts} | {fact.label for fact in facts}
    totals = data.get("checks", {}).get("control_total", ())
    read |= {draft.table.total_cell(each["column"]) for each in totals}
    labels = {flow(label) for each in totals for label in each["row_where"].values()}
    rows: dict[int, list[str]] = {}
    for row, column, text in draft.table.outside:
        address = cell_address(row, column)
        if not read & {address, text.partition(":")[0].strip(MARKS)}:
            shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
            rows.setdefault(row, []).append(f"{address} {flow(shown)}")
    for is_above, said in (
        (True, "Above the table, and read by nothing; `{beside: LABEL}` or `{cell: ADDRESS}` reads a value:"),
        (False, "Below the table, and read by nothing; `{beside: LABEL}` reads a value:"),
    ):
        found = [
            cells
            for row, cells in rows.items()
            if (row < draft.table.row) is is_above and any(cell.partition(" ")[2] not in labels for cell in cells)
        ]
        yield from [f"# {said}"] * bool(found)
        yield from (f"#   {', '.join(cells)}" for cells in found[:_SHOWN_ROWS])
        yield from [f"#   … {len(found) - _SHOWN_ROWS} rows more"] * (len(found) > _SHOWN_ROWS)


def draft_json(draft: Draft, *, file_name: str) -> dict[str, Any]:
    """What a draft proposes for each place, with its candidates, its questions, and the mapping file, for a program."""
    columns = [
        {
            "column": each.column,
            **asdict(each),
            "candidates": [_evidence(draft, one) for one in each.candidates],
            "reason": _said(each.reasons),
        }
        for each in draft.guesses.values()
    ]
    columns += [{"column": name, "place": "", "reason": _said([why])} for name, why in draft.unused.items()]
    return {
        "operation": draft.operation,
        "sheet": draft.table.sheet,
        "header_row": draft.table.row - draft.table.rows + 1,
        "header_rows": draft.table.rows,
        "columns": columns,
        "questions": [_question(draft, *each) for each in questions_of(mapping_of(draft))],
        "spare": [*draft.unused],
        "outside": [{"cell": cell_address(row, column), "value": text} for row, column, text in draft.table.outside],
        "text": draft_text(draft, file_name=file_name),
    }


def mapping_of(draft: Draft) -> dict[str, Any]:
    """The draft as a mapping file has it, with the mark before each answer that a person has to give."""
    targets = targets_of(draft.operation)
    data: dict[str, Any] = {"operation": MARK * bool(draft.rival) + draft.operation.value}
    if sheet := _sheet(draft):
        data["sheet"] = sheet
    if draft.operation is not Operation.RECEIPT_READ:
        keys = [*_keys(draft)]
        data["key"] = [each for at, each in enumerate(keys) if each not in keys[:at]]
        is_asked = any(isinstance(each, dict) and MARK in "".join(each.values()) for each in keys)
        if is_asked and all(isinstance(each, dict) for each in keys):
            data["key"] = "file"  # what stands above the table is one for the file: its question is asked once
    if draft.operation.changes_order:
        data["order_id"] = _order_id(draft)
    for part, names in {"fields": targets.header, **({"lines": targets.lines} if targets.lines else {})}.items():
        if part == "lines" and draft.numbered:
            data["lines_from"] = {"columns": [*draft.numbered]}
        found = {name: guess for name in names if (guess := draft.guesses.get(f"{part}.{name}"))}
        data[part] = {name: _source(draft, guess) for name, guess in found.items()}
    if totals := [*_control_totals(draft, data)]:
        data["checks"] = {"control_total": totals}
    if draft.unused:
        data["ignore"] = [*draft.unused]
    return data


def _control_totals(draft: Draft, data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The sheet's own totals of columns that are read as they stand, where the rows come to them, void ones as well.

    None where several columns tell these, one that is blank on some of them, or one of which nobody knows what it says.
    """
    columns, may_go = dict[str, None](), [each for each in draft.left_out if each.is_of_data]
    if len(may_go) > 1 or any(each.name in draft.fill_down or each.code == "may_say_void" for each in may_go):
        return
    for place, guess in draft.guesses.items():
        part, target = place.split(".", 1)
        several = isinstance(data.get(part, {}).get(target, {}).get("read", {}).get("suffix"), dict)
        if guess.column and not guess.asked and not several and form_of(target, draft.operation) in _ADDED_UP:
            columns[guess.column] = None
    also = {"also_rows_where": {each.name: [*each.words] for each in may_go}} if may_go else {}
    for column in columns:
        if told_by := draft.table.total_row(column):
            yield {"column": column, "row_where": told_by, **also}


def _sheet(draft: Draft) -> dict[str, Any]:
    table, keys = draft.table, [str(each).removeprefix(MARK) for each in _keys(draft)]
    rules: dict[str, list[str]] = {}
    asked = [(each.name, word) for each in draft.left_out for word in each.words]
    for name, pattern in table.skipped:
        if (name, pattern) not in asked and (name not in keys or not is_known_pattern(pattern)):
            rules.setdefault(name, []).append(pattern)
    for each in draft.left_out:
        rules[each.name] = [*rules.get(each.name, ()), *(f"{MARK}{word}" for word in each.words)]
    read = [draft.table.profiles[each.column] for each in draft.guesses.values() if each.column]
    every = draft.table.profiles.values()  # what nobody knows may be added by hand
    has_commas = any(each.has_decimal_commas for each in read) or (
        any(each.has_decimal_commas for each in every) and not any(each.share("point") for each in every)
    )
    sheet = {
        "name": _names_of_sheets(draft),
        "header_rows": table.rows if table.rows > 1 else 0,
        "decimal": "," if has_commas else "",
        "skip_rows_where": rules,
        "fill_down": [*draft.fill_down],
    }
    return {key: value for key, value in sheet.items() if value}


def _names_of_sheets(draft: Draft) -> str | list[str]:
    """The sheet that is read, by a name that lasts; those between which one chooses; "" where it is alone."""
    several = [draft.table.sheet, *draft.twins]
    lasting = [lasting_name(each) for each in several]
    if len(several) == 1:
        return "" if draft.alone else lasting[0]
    return [MARK + each for each in (lasting if all(lasting) and len({*lasting}) == len(lasting) else several)]


def _explained(line: str, draft: Draft, place: str) -> list[str]:
    """A line of the mapping with what is said of it, and the answers to its question with what speaks for each."""
    guess = draft.guesses.get(place)
    if guess is None and place == "sheet.skip_rows_where" and (asked := draft.left_out):
        codes = dict.fromkeys(each.code for each in asked)
        said = [(code, *(each.name for each in asked if each.code == code)) for code in codes]
        counts = {each.name: ", ".join(_counts(draft, each.name)) for each in asked if each.is_of_data}
        return [line + f"  # ask! {_said(said)}", *(f"    # {flow(name)}: {shown}" for name, shown in counts.items())]
    if guess is None and place == "sheet.name" and draft.twins:
        return [line + f"  # ask! {_said([('twins',)])}"]
    if guess is None:
        return [line + "  # blank on rows whose line is filled" * (place == "sheet.fill_down")]
    # What a word means, or which date format it is.
    asks = "ask! " if f'"{MARK.strip()}' in line and not guess.asked else ""
    lines = [f"{line}  # {asks}{_why(guess, otherwise=_otherwise(draft, place))}"]
    for each in guess.candidates if guess.asked else ():
        shown = _evidence(draft, each)
        values = ", ".join(map(flow, shown["samples"])) or "no value"
        why = f" ({each.confidence:.2f}: {shown['reason']})" if len(guess.candidates) > 1 else ""
        lines.append(f"    # {' + '.join(map(flow, shown['columns']))}: {values}{why}")
    return lines


def _counts(draft: Draft, name: str) -> list[str]:
    """How many rows have which words of a column, the most usual first; blank ones are counted, too."""
    counted = draft.table.cells[name].value_counts(sort=True).head(_SHOWN_WORDS).iter_rows()
    return [f"{flow(word)} × {rows}" for word, rows in counted]


def _evidence(draft: Draft, candidate: Candidate) -> dict[str, Any]:
    """What a candidate is, a few of its values, how sure it is and why."""
    fact, profiles = candidate.fact, draft.table.profiles
    return {
        "columns": [fact.label] if fact else [*candidate.columns],
        **(fact.source() if fact else {}),
        "samples": [fact.value] if fact else [each for name in candidate.columns for each in profiles[name].samples],
        "confidence": candidate.confidence,
        "reasons": candidate.reasons,
        "reason": _said(candidate.reasons),
    }


def _question(draft: Draft, asked: LintFinding, answers: list[str]) -> dict[str, Any]:
    """A question of a draft, as `lint` puts it, with its answers and what speaks for each."""
    place = ".".join(str(each) for each in asked.place[:2] if isinstance(each, str))
    keys = (guess for group in targets_of(draft.operation).natural for target in group
            if (guess := draft.guesses.get(f"fields.{target}")) and guess.asked)  # fmt: skip
    guess = draft.guesses.get(place) or (next(keys, None) if place == "key" else None)
    candidates = [_evidence(draft, each) for each in guess.candidates] if guess else []
    for each in draft.left_out if place == "sheet.skip_rows_where" else ():
        if each.name == asked.place[2]:
            candidate = Candidate((each.name,), 0.0, ((each.code, each.name),))
            candidates = [
                _evidence(draft, candidate)
                | {"samples": _counts(draft, each.name) if each.is_of_data else [*each.words]}
            ]
    return {
        "place": place,
        "question": asked.message,
        "remedy": asked.remedy,
        "answers": answers,
        "candidates": candidates,
        "confidence": guess.confidence if guess else 0.0,
        "reason": _said(guess.reasons) if guess else "",
    }


def _keys(draft: Draft) -> Iterator[Any]:
    """The natural key: columns, and facts above the table."""
    for group in targets_of(draft.operation).natural:
        guess = next((found for target in group if (found := draft.guesses.get(f"fields.{target}"))), None)
        if guess is not None and guess.fact:
            yield guess.fact.source(MARK * guess.asked)
        elif guess is not None and guess.column:
            yield from _marked(guess)
        elif group[0] in ("reference_number", "invoice_number", "order_id", "order_numbers"):
            yield MARK.strip()


def _order_id(draft: Draft) -> dict[str, Any]:
    """Which order a change is about: by its AWB number, else by the reference that the ledger knows."""
    guess = draft.guesses.get("fields.order_id")
    if guess is None or not guess.column:
        return {"from": f"{MARK}AWB"}
    by_awb = "awb" in guess.column.casefold() or draft.table.profiles[guess.column].share("AWB number") > 0
    return {"from" if by_awb else "ledger": _names(guess)}


def _why_key(draft: Draft, key: Any) -> str:
    """That a question about the key is asked below."""
    if MARK.strip() not in str(key):
        return ""
    names = [target for group in targets_of(draft.operation).natural for target in group
             if (guess := draft.guesses.get(f"fields.{target}")) and guess.asked]  # fmt: skip
    return f"the same as {' and '.join(f'`{name}`' for name in names)} below" if names else ""


def _said(reasons: Sequence[Reason]) -> str:
    """Reasons in words."""
    return "; ".join(messages.reason(f"mapping.reason.{code}", {"names": values}) for code, *values in reasons)


def _otherwise(draft: Draft, place: str) -> str:
    """What to do where the one column that is asked about is not it, so that the mapping loads."""
    targets, part = targets_of(draft.operation), place.split(".", 1)[-1]
    group = next((each for each in targets.either if part in each), (part,))
    is_alone = sum(f"fields.{name}" in draft.guesses for name in group) == 1
    if place == places.PAID and places.COLLECTED in draft.guesses:
        return 'write another column or `{constant: "true"}`, or delete the line with that of `cash_on_delivery`'
    if place == places.COLLECTED:
        return "write the column of the amount: no COD order goes out without one"
    if {("name_and_phone",), ("payment_and_amount",)} & {*draft.guesses[place].reasons}:
        return "ask the sender for cells of their own: a constant would be the same in tomorrow's file"
    must_be = place in (*targets.required, *places.QUANTITIES) or (len(group) > 1 and is_alone)
    return f"write another column{' or `{constant: …}`' * (place not in _NUMBERS)}" if must_be else "delete the line"


def _why(guess: Guess, *, otherwise: str = "delete the line") -> str:
    """How sure a guess is, why, and what is asked. otherwise: what to do where it is not this one."""
    said = f"{guess.confidence:.2f}: {_said(guess.reasons)}"
    if not guess.asked:
        return said
    if not guess.candidates:
        other = "" if guess.place in _NUMBERS else ", or `{constant: …}`"
        return f"ask! {said}: write the column's name{_ONE_FOR_ALL.get(guess.place, other)}"
    if len(guess.candidates) > 1:
        return f"ask! {said}"
    return f"ask! {said}: is it this one? If not, {otherwise}"


def _marked(guess: Guess) -> list[str]:
    """The column, or those between which a person has to choose."""
    if not guess.asked:
        return [*guess.columns]
    return [MARK + name for name in guess.columns] or [MARK.strip()]


def _names(guess: Guess) -> str | list[str]:
    names = _marked(guess)
    return names if len(names) > 1 else names[0]


def _source(draft: Draft, guess: Guess) -> dict[str, Any]:
    """The field of the mapping."""
    if guess.fact:
        read = _read(draft, guess)
        return guess.fact.source(MARK * guess.asked) | ({"read": read} if read else {})
    if len(guess.columns) > 1 and len(guess.candidates) == 1:
        return {"join": _marked(guess)} | ({"with": ", "} if guess.place in places.ADDRESSES else {})
    by = MARK * (guess.asked and guess.place in places.QUANTITIES)
    source = {
        "sum" if guess.added_up else "from": _names(guess),
        "times": by + guess.times if guess.times else "",
        "cartons": by + guess.cartons if guess.cartons else "",
        "default": "false" if _is_by_amount(guess) else "",
        "read": _read(draft, guess) if guess.column and not guess.added_up else {},  # a sum reads numbers by itself
        "when": _when(draft, guess) if guess.place == places.COLLECTED else {},
        "required": guess.place == places.QUANTITIES[0],  # a line of tax or freight has none, and is no item
    }
    return {key: value for key, value in source.items() if value}


def _when(draft: Draft, guess: Guess) -> dict[str, list[str]]:
    """On which orders an amount is collected, where paid ones may have one, too; an open word is asked here as well."""
    pay = draft.guesses.get(places.PAID)
    if pay is None or not pay.column or not (guess.asked or ("left_out_on_paid", pay.column) in guess.reasons):
        return {}
    profile, asked = draft.table.profiles[pay.column], MARK.strip()
    means = {word: draft.table.collects(pay.column, word) for word in profile.words}
    open_ = [word for word, says in _answers(draft, pay, profile).get("lookup", {}).items() if says == asked]
    return {pay.column: [MARK * (word in open_) + word for word in means if means[word] or word in open_] or [asked]}


def _read(draft: Draft, guess: Guess) -> dict[str, Any]:
    """How a cell is read, where its target does not say it anyway; heavy ones without a unit are asked for."""
    target = guess.place.split(".", 1)[1]
    profile = profile_of((guess.fact.value,)) if guess.fact else draft.table.profiles[guess.column]
    form = form_of(target, draft.operation)
    if form in (FieldForm.FLAG, FieldForm.PAYMENT):
        return _answers(draft, guess, profile)
    if profile.is_unread(form):
        return {"date": MARK.strip()}
    if form in (FieldForm.DATE, FieldForm.MOMENT) and profile.date_formats:
        return {"date": _date(profile)}
    if form is FieldForm.MONEY and (words := (*profile.suffixes, *profile.currencies)):
        return {"suffix": [*words]}
    if form in (FieldForm.QUANTITY, FieldForm.COUNT) and profile.suffixes:
        counts = {word: _PIECES.get(word.casefold(), MARK.strip()) for word in profile.suffixes}
        return {"suffix": [*counts] if set(counts.values()) == {1} else counts}
    if target not in ("weight", *places.LENGTHS):
        return {}
    named = "" if guess.fact else draft.table.readings[guess.column].unit
    named, wanted = _UNITS.get(named, named), unit_wanted(target, draft.operation) or "kg"
    wanted = "cm" if target in places.LENGTHS else wanted
    written = [each for each in profile.units if unit_pair(f"{each} -> {wanted}")]
    if pair := unit_pair(f"{next(iter(written), named)} -> {wanted}"):
        # Of a number without a unit nobody knows whether it is in the name's or in that of the others.
        is_doubtful = bool(written) and named not in ("", pair[0])
        read = {"unit": MARK * is_doubtful + " -> ".join(pair)}
        return read if written or pair[0] != pair[1] else {}
    return {"unit": f"{MARK}g -> kg"} if wanted == "kg" and profile.is_heavy and not guess.fact else {}


def _date(profile: Profile) -> str | list[str]:
    """The formats; where these dates do not tell day from month, a person does: another column may be written so."""
    one, other = profile.date_formats, profile.other_date_formats or profile.date_formats
    plain = [each for each in one if each in other]
    open_ = [MARK + each for formats in (one, other) for each in formats if each not in plain]
    return [*plain, *open_] if len(plain) + len(open_) > 1 else plain[0]


def _is_by_amount(guess: Guess) -> bool:
    """Whether an amount that is filled says that it is collected."""
    return any(each.reasons[0][0] == "by_amount" for each in guess.candidates)


def _answers(draft: Draft, guess: Guess, profile: Profile) -> dict[str, Any]:
    """What each word of payment means, unless all are known without it; one that does not say it is asked for."""
    if ("payment_and_amount",) in guess.reasons:  # each cell would be a word of its own
        return {}
    if _is_by_amount(guess):
        paid = [each for each in profile.words if not each.strip("0.,") or meaning_of_payment(each) is False]
        return {"lookup": dict.fromkeys(paid, "false") | {"*": "true"}}
    is_payment = form_of(guess.place.split(".", 1)[1], draft.operation) is FieldForm.PAYMENT
    known = {word.casefold() for word in PAYMENT_WORDS} if is_payment else {"true", "false"}
    name = guess.fact.label if guess.fact else guess.column
    means = {
        word: draft.table.collects(name, word) if is_payment else meaning_of_payment(word) for word in profile.words
    }
    if {word.casefold() for word in means} <= known and all(means[word] is meaning_of_payment(word) for word in means):
        return {}
    answers = {True: "true", False: "false", None: MARK.strip()}
    return {"lookup": {word: answers[meaning] for word, meaning in means.items()}}
