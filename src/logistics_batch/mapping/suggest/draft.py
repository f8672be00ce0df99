"""A draft mapping for an unknown file: for each place the likeliest column, by name and values, with the reasons.

Nobody applies a draft by itself: it is text for a person, who answers its questions; until then it does not load.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.mapping.naming import LIKELY, likeness, names_of_targets, reading_of, vocabulary
from logistics_batch.mapping.spec.targets import FieldForm, form_of, targets_of
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.amounts import summed, unit_price, with_amounts
from logistics_batch.mapping.suggest.by_values import HARDLY_KNOWN
from logistics_batch.mapping.suggest.doubts import (
    RIVAL_KEYS,
    against_rivals,
    beside_address,
    by_document,
    doubted,
    ids_or_count,
    is_bare_name,
    put_aside,
    whole_address,
)
from logistics_batch.mapping.suggest.evidence import PART_OF_AN_ADDRESS, WORTH_ASKING, evidence_of, of_fact, unlike
from logistics_batch.mapping.suggest.guess import SURE, Candidate, Guess, Reason
from logistics_batch.mapping.suggest.left_out import LeftOut, may_be_left_out
from logistics_batch.mapping.suggest.missing import missing_of
from logistics_batch.mapping.suggest.profile import Profile, profile_of
from logistics_batch.mapping.suggest.table import SampleTable, table_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

_PURCHASE: Final = "fields.description"  # of an ASN: the PO number, unless that is the only number there is
# What may be guessed, and the places of which one must be found; never what cancels or deletes: a person says so.
_GUESSED: Final = {
    Operation.ORDER_CREATE: "fields.customer_mobile fields.delivery_address fields.delivery_postal_code",
    Operation.ASN_CREATE: "fields.invoice_number fields.supplier_name fields.supplier fields.site fields.site_name",
    Operation.RECEIPT_READ: "fields.qty",
    Operation.ORDER_ADD_ITEMS: "lines.item_id",
}
_FOR_SHOW: Final = re.compile(r"(?i)example|sample|instruction|definition|how to")
_PLAINLY_MORE: Final = 1.0  # that one operation explains than another
_MANY: Final = 2  # things that are not found, without which nothing can be sent
_ALONE: Final = 3.0  # how much more it must explain then
_NEVER: Final = -9.0  # added items without the order to which they are added
_OPTIONAL: Final = 0.5  # what places count that need not be filled
_TITLED: Final = 2.0  # what a title counts that says what the rows become
_LACKING: Final = 0.5  # what it costs an operation that something is not found without which nothing can be sent
_NOTHING: Final = profile_of(())
_OF_GOODS: Final = frozenset(["item", "sku", "desc", "ean", "size"])
_OF_ROWS: Final = frozenset(["number", "line", "serial", "serialrow"])
_BLANK_BELOW: Final = 0.05  # share of blank cells beside a filled line from which a column is filled down


def guesses_of(table: SampleTable, operation: Operation) -> dict[str, Guess]:
    """The best column for each place, the surest first; a column fills one place."""
    evidence = evidence_of(table, operation)
    pairs = [(place, each) for place, candidates in evidence.items() for each in candidates]
    pairs.sort(key=lambda pair: (pair[0] == _PURCHASE, -pair[1].confidence))
    found: dict[str, Guess] = {}
    taken: set[str] = set()
    for place, candidate in pairs:
        is_free = place not in found and candidate.columns[0] not in taken
        waits = place == _PURCHASE and "fields.invoice_number" not in found
        if (
            is_free
            and not waits
            and candidate.confidence >= (PART_OF_AN_ADDRESS if place == places.ADDRESSES[0] else LIKELY)
        ):
            found[place] = Guess.of(place, candidate)
            taken.add(candidate.columns[0])
    for place, candidates in evidence.items():
        spare = [each for each in candidates if each.columns[0] not in taken]
        if place in places.ADDRESSES and place in found:
            found[place] = whole_address(table, found[place], spare)
        elif place in found:
            found[place] = against_rivals(table, found[place], spare)
            taken.add(found[place].column)
        elif spare and place in (*targets_of(operation).required, *places.KEYS):
            near = [each for each in spare if each.confidence > spare[0].confidence - RIVAL_KEYS]
            found[place] = Guess.among(place, near)
        elif place in targets_of(operation).required and place in places.KEYS:  # rather than what need not be there
            other = next(each for each in found.values() if each.column == candidates[0].columns[0])
            if other.place not in targets_of(operation).required:
                del found[other.place]
                found[place] = Guess.among(place, candidates[:1])
    named = [name for name in table.columns if table.readings[name].meanings & _OF_GOODS]
    goods = [name for name in named if not table.profiles[name].is_mostly("number", "amount")]
    for place, guess in [(place, found[place]) for place in places.GOODS if place in found]:
        if goods == [guess.column] and not guess.asked and places.QUANTITIES[places.GOODS.index(place)] in found:
            sure = max(guess.confidence, SURE)
            found[place] = replace(guess, confidence=sure, reasons=(*guess.reasons, ("only_goods",)))
    return found


def _with_facts(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> dict[str, Guess]:
    """The guesses, with the facts above the table for what no column fills: asked about where they are not sure."""
    targets, found, demanded = targets_of(operation), dict(found), _demanded(operation)
    doubtful: list[str] = [place for place in places.KEYS if place in found and found[place].confidence < SURE]
    doubtful += [places.PERSON] * is_bare_name(table, found)
    wanted = [place for place in targets.places if place.startswith("fields.") and place != _PURCHASE
              and (place not in found or place in doubtful)]  # fmt: skip
    pairs = [
        (place, candidate if fact in table.above else replace(candidate, reasons=(("below", fact.label),)))
        for place in wanted
        for fact in (*table.above, *(table.below if place in doubtful else ()))
        if (candidate := of_fact(fact, place, operation)) is not None
        and candidate.confidence >= (WORTH_ASKING if place in demanded and place not in found else SURE)
    ]
    taken: set[str] = set()
    pairs.sort(key=lambda pair: -pair[1].confidence)
    for place, candidate in pairs:
        fact, least = candidate.fact, candidate.confidence - RIVAL_KEYS
        if fact is None or fact.label in taken or (place in found and found[place].fact):
            continue
        values = {each.fact.value for other, each in pairs if each.fact and other == place and each.confidence > least}
        rivals = found[place].candidates if place in found and place in places.KEYS else ()
        found[place] = replace(Guess.among(place, (candidate, *rivals)), asked=bool(rivals) or len(values) > 1)
        taken.add(fact.label)
    return found


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known about an unknown sheet.

    guesses: what fills each place, in the contract's order, and the questions. numbered: the columns `SKU {n}` that
    are used. unused: columns that nothing was found for, and why. fill_down: columns that are filled on the first row
    of a document only. left_out: the cells by which rows may be left out. rival: what the rows may
    become as well. alone: the file has no other sheet. twins: other sheets with rows and the same columns.
    """

    operation: Operation
    table: SampleTable
    guesses: dict[str, Guess]
    numbered: tuple[str, ...]
    unused: dict[str, Reason]
    fill_down: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    rival: Operation | None = None
    alone: bool = True
    twins: tuple[str, ...] = ()


def draft_of(
    sheets: Sequence[Sheet], *, operation: Operation | None = None, among: int = 0, header: int = 0
) -> Draft | None:
    """Look at a file; None if no row of it looks like a header.

    operation: what the rows shall become; None: orders, ASNs, receipts or added items, whichever explains most of all
    sheets together; where another one does nearly as well, or nothing tells, it is asked about. among: how many sheets
    the file has, if these are not all. header: the row that names the columns, 0 if it is to be found.
    """
    operations, least = ([operation], 1) if operation else ([*_GUESSED], 2)
    shown = [sheet for sheet in sheets if not _FOR_SHOW.search(sheet.name)] or sheets
    drafts = _drafts(shown, operations, least=least, header=header)
    if not any(drafts.values()):  # nobody knows the names: a skeleton of questions
        drafts = _skeletons(shown, operation, header=header)
    likely = sorted((each for each in drafts if drafts[each]), key=lambda each: -_worth(each, drafts[each]))
    if not likely:
        return None
    best, *others = likely
    draft = max(drafts[best], key=lambda each: _worth(best, [each]))
    used = {name for guess in draft.guesses.values() for name in guess.columns if name in draft.table.names}
    others_like_it = [each.table for each in drafts[best] if each is not draft and used <= {*each.table.names}]
    twins = tuple(table.sheet for table in others_like_it if table.cells.height)
    draft = replace(draft, alone=max(among, len(sheets)) == 1, twins=twins)
    lacking = [
        each for each in draft.guesses.values() if not _is_known(each) and each.place in targets_of(best).required
    ]
    usual = Operation.ORDER_CREATE if best is Operation.ASN_CREATE else Operation.ASN_CREATE
    rival = next((each for each in others if _worth(each, drafts[each]) > 0), usual)
    came = best is Operation.ASN_CREATE and draft.table.speaks_of(vocabulary().titles[Operation.RECEIPT_READ])
    rival = Operation.RECEIPT_READ if came else rival
    more = _worth(best, drafts[best]) - max(0.0, _worth(rival, drafts[rival]) if rival in others else 0.0)
    is_told = operation is not None or (not came and more >= (_PLAINLY_MORE if len(lacking) < _MANY else _ALONE))
    return draft if is_told else replace(draft, rival=rival)


def _drafts(
    sheets: Sequence[Sheet], operations: Sequence[Operation], *, least: int, header: int
) -> dict[Operation, list[Draft]]:
    """For each operation the drafts of the sheets in which a header is found; least, header: as in `table_of`."""
    tables = {each: [table_of(sheet, each, least=least, header=header) for sheet in sheets] for each in operations}
    return {operation: [_draft(table, operation) for table in found if table] for operation, found in tables.items()}


def _skeletons(sheets: Sequence[Sheet], operation: Operation | None, *, header: int) -> dict[Operation, list[Draft]]:
    """Drafts of sheets of which nobody knows a name: orders, if phones or PINs stand in them, else ASNs."""
    orders = _drafts(sheets, [operation or Operation.ORDER_CREATE], least=0, header=header)
    profiles = (profile for drafts in orders.values() for each in drafts for profile in each.table.profiles.values())
    if operation or any(each.is_mostly("phone", "pin") for each in profiles if each.filled):
        return orders
    return _drafts(sheets, [Operation.ASN_CREATE], least=0, header=header)


def _demanded(operation: Operation) -> set[str]:
    """The places that make an operation what it is."""
    targets = targets_of(operation)
    return {
        *targets.required,
        *places.KEYS,
        *places.QUANTITIES,
        *(f"fields.{name}" for group in targets.either for name in group),
    }


def _is_known(guess: Guess) -> bool:
    """Whether something is found for a place by more than the values of columns whose names nobody knows."""
    return bool(guess.candidates) and guess.candidates[0].confidence > HARDLY_KNOWN


def _worth(operation: Operation, drafts: Sequence[Draft]) -> float:
    """How much drafts of a file's sheets explain together; an operation without what tells it hardly anything."""
    found: dict[str, tuple[float, str, Profile | None]] = {}
    for draft in drafts:
        for place, guess in draft.guesses.items():
            sure = guess.candidates[0].confidence if _is_known(guess) else -1.0
            if sure > found.get(place, (-1.0,))[0]:
                found[place] = (sure, guess.column, draft.table.profiles.get(guess.column))
    lacking = {place for draft in drafts for place, guess in draft.guesses.items() if not _is_known(guess)} - {
        *found,
        places.PAID,
    }
    demanded = _demanded(operation)
    sure = sum(each[0] * (1 if place in demanded else _OPTIONAL) for place, each in found.items())
    sure -= _LACKING * len(lacking)
    sure += _TITLED * any(draft.table.speaks_of(vocabulary().titles.get(operation, "")) for draft in drafts)
    telling = _GUESSED.get(operation, "").split()
    is_told = not telling or any(place in found and found[place][0] >= SURE for place in telling)
    if operation is Operation.RECEIPT_READ:
        meanings = {each for _, column, _ in found.values() for each in reading_of(column).meanings}
        is_told = is_told and bool(meanings & {"received", "condition"} and (found["fields.qty"][2] or _NOTHING).filled)
    if operation is Operation.ORDER_ADD_ITEMS:
        by_awb = "fields.order_id" in found and (found["fields.order_id"][2] or _NOTHING).share("AWB number") > 0
        return sure if is_told and by_awb else _NEVER
    return sure if is_told else sure - 3


def _draft(table: SampleTable, operation: Operation) -> Draft:
    found = guesses_of(table, operation)
    if is_bare_name(table, found):
        found[places.PERSON] = replace(
            found[places.PERSON], asked=True, reasons=(*found[places.PERSON].reasons, ("bare_name",))
        )
    found = _with_facts(table, operation, found)
    if places.PAID in targets_of(operation).places and not _tells_payment(table, found.get(places.PAID)):
        used = {name for guess in found.values() for name in guess.columns}
        free = [name for name in table.columns if name not in used and not table.readings[name].meanings & _OF_GOODS]
        words = [name for name in free if table.profiles[name].tells_payment]
        words = words or [name for name in free if table.profiles[name].mentions_payment]
        own = found[places.PAID].candidates if places.PAID in found else ()
        rivals = (*own, *(Candidate((name,), 0.4, (("only_values", "payment word"),)) for name in words))
        if words:
            found[places.PAID] = Guess.among(places.PAID, rivals)
    if operation in (Operation.ORDER_CREATE, Operation.ORDER_UPDATE):
        found = with_amounts(table, found)
    found = unit_price(table, found, operation)
    found = doubted(table, operation, by_document(table, found, operation))
    found = {place: each for place, each in found.items() if not _is_needless(table, each, operation)}
    found |= {each.place: each for each in missing_of(table, operation, found)}
    found = beside_address(table, ids_or_count(put_aside(table, operation, found)))
    found = {place: found[place] for place in targets_of(operation).places if place in found}
    used = {name for guess in found.values() for name in (*guess.columns, guess.times, guess.cartons)}
    numbered = tuple(stem for stem in table.numbered if stem in used)
    used |= {name for stem in numbered for name in table.numbered[stem]}
    left_out = may_be_left_out(table, operation, found)
    beside = {place: guess.fact.label if guess.fact else guess.column
              for place, guess in found.items() if not guess.asked}  # fmt: skip
    return Draft(
        operation=operation,
        table=table,
        guesses=found,
        numbered=numbered,
        unused={
            name: ("sum_of_lines", of)
            if name in table.profiles and (of := summed(table, name, found))
            else _unused(table, name, beside, operation)
            for name in table.names
            if name and name not in used
        },
        fill_down=_fill_down(found, table, [each.name for each in left_out if each.is_of_data]),
        left_out=left_out,
    )


def _is_needless(table: SampleTable, guess: Guess, operation: Operation) -> bool:
    """Whether a guess asks about empty columns for what need not be there."""
    is_demanded = guess.place in {*_demanded(operation), *places.GOODS, places.PAID, places.COLLECTED}
    is_empty = bool(guess.column) and not any(table.profiles[name].filled for name in guess.columns)
    return guess.asked and is_empty and not is_demanded


def _tells_payment(table: SampleTable, paid: Guess | None) -> bool:
    """Whether a word that is known stands in what tells the payment."""
    if paid is None or paid.fact:
        return paid is not None
    return not table.profiles[paid.column].filled or any(
        table.collects(paid.column, word) is not None for word in table.profiles[paid.column].values
    )


def _unused(table: SampleTable, name: str, beside: dict[str, str], operation: Operation) -> Reason:
    """Why a column fills nothing. beside: the columns of the places that are filled."""
    profile, said = table.profiles.get(name), table.readings[name].meanings
    if profile is None:
        return ("doubled",)
    if not profile.filled:
        return ("empty",)
    if name in table.nameless:
        return ("nameless",)
    if profile.counts_rows and not said - _OF_ROWS:
        return ("counts_rows",)
    likely = {place: likeness(table.readings[name], names) for place, names in names_of_targets(operation).items()}
    for form in (form_of(place.split(".")[1], operation) for place, like in likely.items() if like >= LIKELY):
        if profile.fits(form) is False or (form is FieldForm.TEXT and profile.is_mostly("amount")):
            return unlike(profile, form)
    for place, other in ((places.BOXES, places.PACKAGE), (places.PACKAGE, places.BOXES)):
        if other in beside and likely.get(place, 0.0) >= LIKELY:
            return ("ids_or_count", beside[other])
    if table.takes_off(name):
        return ("taken_off",)
    for meanings, code in vocabulary().unused.items():
        is_else = {
            "counts_rows": said - _OF_ROWS or table.readings[name].unknown,
            "papers_date": not profile.share("date") and "date" not in said,
        }
        if said.issuperset(meanings.split()) and not is_else.get(code):
            return (code,)
    for meaning, names in vocabulary().likelier.items():
        likelier = next((beside[place] for place in names.split() if place in beside and likely.get(place)), None)
        if meaning in said and likelier is not None:
            return ("likelier", likelier)
    if said & {"amount", "price"} or "total" in said <= {"total", "order", "invoice", "net", "line", "item"}:
        return ("some_amount",)
    return ("no_match",) if said and not table.readings[name].unknown else ("nothing",)


def _fill_down(guesses: dict[str, Guess], table: SampleTable, done: Iterable[str]) -> tuple[str, ...]:
    """Columns of the document that are filled less often than those of the lines: blank below the first row.

    Where no column of goods was recognised, less often than the column that is filled most. done: the columns by which
    rows may be left out; where a document has one cell of these as well, it counts for all of its rows.
    """
    columns = {place: each.candidates[0].columns for place, each in guesses.items() if each.column}
    line = next((columns[place] for place in ("lines.item_name", "lines.sku_name") if place in columns), ())
    rows = table.cells.filter(pl.col(line[0]) != "") if line else table.cells  # not those of totals
    filled = {name: len(rows[name].filter(rows[name] != "")) / max(1, rows.height) for name in table.profiles}
    least = max(filled.values(), default=0.0) - _BLANK_BELOW
    header = [names for place, names in columns.items() if place.startswith("fields.")]
    named = dict.fromkeys(name for names in header for name in names)
    blank = tuple(name for name in named if 0 < filled[name] < least)
    key = next((columns[place][0] for place in places.KEYS if place in columns), "")
    if key not in blank and len(blank) * 2 <= len(header):
        return ()
    below = table.cells.filter(pl.all_horizontal(pl.col(name) == "" for name in blank))
    return (*blank, *(name for name in done if name not in blank and not (below[name] != "").any()))
