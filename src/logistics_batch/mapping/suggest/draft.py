"""A draft mapping for an unknown file: for each place the likeliest column, by name and values, with the reasons.

Nobody applies a draft by itself: it is text for a person, who answers its questions; until then it does not load.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from logistics_batch.mapping.naming.names import LIKELY, TO, likeness, names_of_targets, reading_of, vocabulary
from logistics_batch.mapping.spec.targets import FieldForm, form_of, targets_of
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.amounts import summed, unit_price, with_amounts
from logistics_batch.mapping.suggest.doubts import (
    RIVAL_KEYS,
    against_rivals,
    beside_address,
    by_document,
    counted_boxes,
    doubted,
    ids_or_count,
    is_bare_name,
    looks,
    put_aside,
    ranges_of_boxes,
    whole_address,
)
from logistics_batch.mapping.suggest.evidence import WORTH_ASKING, evidence_of, of_fact, unlike
from logistics_batch.mapping.suggest.guess import SURE, Candidate, Guess, Reason
from logistics_batch.mapping.suggest.joined import PART_OF_AN_ADDRESS
from logistics_batch.mapping.suggest.left_out import may_be_left_out
from logistics_batch.mapping.suggest.profile import Profile, numbers_of, profile_of
from logistics_batch.mapping.suggest.table import SampleTable, table_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

_PURCHASE: Final = "fields.description"  # of an ASN: the PO number, unless that is the only number there is
_BY_VALUES: Final = {
    places.PHONE: ("phone", "name and phone"),
    places.PIN: ("pin",),
    **dict.fromkeys(places.ADDRESSES, ("name and address",)),
}
_TOGETHER: Final[dict[str, Reason]] = {
    "name and phone": ("name_and_phone",),
    "name and address": ("name_and_address",),
}  # in cells that fill another place as well
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
_OF_PERSONS: Final = frozenset(["desc", "name", "company", "number", *TO])
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
        elif spare and place in (*targets_of(operation).required, *places.KEYS):
            near = [each for each in spare if each.confidence > spare[0].confidence - RIVAL_KEYS]
            found[place] = replace(Guess.of(place, near[0]), candidates=tuple(near), asked=True)
        elif place in targets_of(operation).required and place in places.KEYS:  # rather than what need not be there
            other = next(each for each in found.values() if each.column == candidates[0].columns[0])
            if other.place not in targets_of(operation).required:
                del found[other.place]
                found[place] = replace(Guess.of(place, candidates[0]), asked=True)
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
    wanted = [place for place in targets.places if place.startswith("fields.") and place != _PURCHASE
              and (place not in found or (place == places.PERSON and is_bare_name(table, found)))]  # fmt: skip
    pairs = [
        (place, candidate)
        for place in wanted
        for fact in table.above
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
        found[place] = replace(Guess.of(place, candidate), asked=len(values) > 1)
        taken.add(fact.label)
    return found


def missing_of(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> Iterator[Guess]:
    """A question for each place that the service demands and no column was found for."""
    targets = targets_of(operation)
    demanded = [place for place in targets.required if place.startswith("fields.") or targets.lines]
    for group in targets.either:
        if not any(f"fields.{name}" in found for name in group):
            demanded.append(f"fields.{group[0 if operation is Operation.LABEL_CREATE else -1]}")
    if operation is Operation.ORDER_CREATE:  # the service demands neither, but whoever ordered twelve does
        demanded.append(places.QUANTITIES[0])
        demanded.append(places.PAID)
    used = {name for guess in found.values() for name in guess.columns}
    if persons := [] if places.PERSON in found else _persons(table, found, used, operation):
        who = tuple(Candidate((name,), 0.4, (("only_values", "name of a person"),)) for name in persons)
        yield replace(Guess.of(places.PERSON, who[0]), candidates=who, asked=True)
    read = {guess.fact.address for guess in found.values() if guess.fact}
    persons_column = found[places.PERSON].columns[:1] if places.PERSON in found else ()
    for place in (each for each in demanded if each not in found):
        shapes, names = _BY_VALUES.get(place, ()), names_of_targets(operation).get(place, "")
        free = [name for name in table.columns if name not in used]
        candidates = (
            [
                Candidate((name,), 0.4, (_TOGETHER.get(shape, ("only_values", shape)),))
                for shape in shapes
                for name in ([*free, *persons_column] if shape in _TOGETHER else free)
                if table.profiles[name].is_mostly(shape)
                and (len(table.profiles[name].values) > 1 or shape in _TOGETHER)
            ]
            or [
                Candidate((), 0.4, (("name_and_phone",),), fact)
                for fact in table.above
                if place == places.PHONE and looks(table, fact, "name and phone")
            ]
            or [
                Candidate(
                    (),
                    0.4,
                    (("payment_and_amount",) if told.has_payment_with_amount else ("says_who_pays", fact.value),),
                    fact,
                )
                for fact, told in ((each, profile_of((each.value,))) for each in table.above)
                if place == places.PAID and fact.address not in read and told.mentions_payment
            ]
            or [
                replace(candidate, fact=fact, reasons=(("below", fact.label),))
                for fact in table.below  # Goods despatched against Invoice No.
                if (candidate := of_fact(replace(fact, label=" ".join(fact.label.split()[-2:])), place, operation))
            ]
            or [
                Candidate((name,), 0.3, (unlike(table.profiles[name], form_of(place.split(".")[1], operation)),))
                for name in free
                if place in (*targets.required, places.QUANTITIES[0])
                and likeness(table.readings[name], names) >= LIKELY
            ]
        )
        per_box = [name for name in free if "size_of_case" in table.readings[name].meanings]
        ranges = ranges_of_boxes(table)
        if place in places.QUANTITIES and per_box and (boxes := counted_boxes(table) or ranges):
            guess = Guess.of(place, Candidate((per_box[0],), 0.4, (("in_one_box", boxes[0]),)))
            by = {"cartons" if boxes is ranges else "times": boxes[0]}
            yield replace(guess, asked=True, **by)  # type: ignore[arg-type]
        elif place == places.PAID and (paid := _told_by_amount(table, found.get(places.COLLECTED))):
            yield replace(Guess.of(place, paid), asked=True)
        elif candidates:
            yield replace(Guess.of(place, candidates[0]), candidates=tuple(candidates), asked=True)
        else:
            unpaid = "no_payment" if places.COLLECTED in found else "not_said_who_pays"
            told = {places.QUANTITIES[0]: "no_quantity", places.PAID: unpaid}.get(place, "not_found")
            yield Guess(place, (), 0.0, ((told,),), asked=True)


def _told_by_amount(table: SampleTable, collected: Guess | None) -> Candidate | None:
    """The column of what is collected, where it is blank or nought for some orders and not for others."""
    column = collected.column if collected is not None and not collected.asked else ""
    if not column:
        return None
    filled = (numbers_of(table.cells[column]) > 0).fill_null(value=False)
    return Candidate((column,), 0.4, (("by_amount", column),)) if filled.any() and not filled.all() else None


def _persons(table: SampleTable, found: dict[str, Guess], used: set[str], operation: Operation) -> list[str]:
    """The columns that may name whoever gets the goods, by their values, where the name says nothing against it."""
    if operation not in (Operation.ORDER_CREATE, Operation.LABEL_CREATE):
        return []
    named = [name for name in table.columns if name not in used and table.readings[name].meanings <= _OF_PERSONS
             and table.profiles[name].filled and table.profiles[name].is_mostly("name of a person")]  # fmt: skip
    goods = next((found[place].column for place in places.GOODS if place in found), "")
    if goods and table.cells[goods].is_duplicated().any():  # what is the same for the same goods describes these
        named = [name for name in named if table.differs_within(name, goods)]
    phones = [name for name, each in table.profiles.items() if len(named) > 1 and each.is_mostly("phone")
              and each.filled == 1]  # fmt: skip
    # Of one phone's orders the goods differ, and whose they are does not.
    return [name for name in named if not any(table.differs_within(name, phone) for phone in phones)] or named


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known about an unknown sheet.

    guesses: what fills each place, in the contract's order, and the questions. numbered: the columns `SKU {n}` that
    are used. unused: columns that nothing was found for, and why. fill_down: columns that are filled on the first row
    of a document only. done: by their columns the cells by which rows may be left out. rival: what the rows may
    become as well. alone: the file has no other sheet. twins: other sheets with rows and the same columns.
    """

    operation: Operation
    table: SampleTable
    guesses: dict[str, Guess]
    numbered: tuple[str, ...]
    unused: dict[str, Reason]
    fill_down: tuple[str, ...]
    done: dict[str, tuple[str, ...]]
    rival: Operation | None = None
    alone: bool = True
    twins: tuple[str, ...] = ()


def draft_of(sheets: Sequence[Sheet], *, operation: Operation | None = None, among: int = 0) -> Draft | None:
    """Look at a file; None if no row of it looks like a header.

    operation: what the rows shall become; None: orders, ASNs, receipts or added items, whichever explains most of all
    sheets together; where another one does nearly as well, or nothing tells, it is asked about. among: how many sheets
    the file has, if these are not all.
    """
    operations, least = ([operation], 1) if operation else ([*_GUESSED], 2)
    shown = [sheet for sheet in sheets if not _FOR_SHOW.search(sheet.name)] or sheets
    drafts = {
        each: [_draft(table, each) for sheet in shown if (table := table_of(sheet, each, least=least))]
        for each in operations
    }
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
        each for each in draft.guesses.values() if not each.candidates and each.place in targets_of(best).required
    ]
    rival = next(iter(others), Operation.ORDER_CREATE if best is Operation.ASN_CREATE else Operation.ASN_CREATE)
    more = _worth(best, drafts[best]) - max(0.0, _worth(rival, drafts[rival]) if rival in others else 0.0)
    is_told = operation is not None or more >= (_PLAINLY_MORE if len(lacking) < _MANY else _ALONE)
    return draft if is_told else replace(draft, rival=rival)


def _demanded(operation: Operation) -> set[str]:
    """The places that make an operation what it is."""
    targets = targets_of(operation)
    return {
        *targets.required,
        *places.KEYS,
        *places.QUANTITIES,
        *(f"fields.{name}" for group in targets.either for name in group),
    }


def _worth(operation: Operation, drafts: Sequence[Draft]) -> float:
    """How much drafts of a file's sheets explain together; an operation without what tells it hardly anything."""
    found: dict[str, tuple[float, str, Profile | None]] = {}
    for draft in drafts:
        for place, guess in draft.guesses.items():
            sure = guess.candidates[0].confidence if guess.candidates else -1.0
            if sure > found.get(place, (-1.0,))[0]:
                found[place] = (sure, guess.column, draft.table.profiles.get(guess.column))
    lacking = {place for draft in drafts for place, guess in draft.guesses.items() if not guess.candidates} - {
        *found,
        places.PAID,
    }
    demanded = _demanded(operation)
    sure = sum(each[0] * (1 if place in demanded else _OPTIONAL) for place, each in found.items())
    sure -= _LACKING * len(lacking)
    titles = [f" {title} " for draft in drafts for title in draft.table.titles]
    named = vocabulary().titles.get(operation, "").split(", ")
    sure += _TITLED * any(f" {words} " in title for words in named for title in titles)
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
            found[places.PAID] = replace(Guess.of(places.PAID, rivals[0]), candidates=rivals, asked=True)
    if operation in (Operation.ORDER_CREATE, Operation.ORDER_UPDATE):
        found = with_amounts(table, found)
    found = unit_price(table, found, operation)
    found = doubted(table, by_document(table, found, operation))
    found |= {each.place: each for each in missing_of(table, operation, found)}
    found = beside_address(table, ids_or_count(put_aside(table, operation, found)))
    found = {place: found[place] for place in targets_of(operation).places if place in found}
    used = {name for guess in found.values() for name in (*guess.columns, guess.times, guess.cartons)}
    numbered = tuple(stem for stem in table.numbered if stem in used)
    used |= {name for stem in numbered for name in table.numbered[stem]}
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
        fill_down=_fill_down(found, table.profiles),
        done=may_be_left_out(table, operation, found),
    )


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
        is_else = {"counts_rows": said - _OF_ROWS, "papers_date": not profile.share("date") and "date" not in said}
        if said.issuperset(meanings.split()) and not is_else.get(code):
            return (code,)
    for meaning, names in vocabulary().likelier.items():
        likelier = next((beside[place] for place in names.split() if place in beside and likely.get(place)), None)
        if meaning in said and likelier is not None:
            return ("likelier", likelier)
    if said & {"amount", "price"} or "total" in said <= {"total", "order", "invoice", "net", "line", "item"}:
        return ("some_amount",)
    return ("no_match",) if said and not table.readings[name].unknown else ("nothing",)


def _fill_down(guesses: dict[str, Guess], profiles: dict[str, Profile]) -> tuple[str, ...]:
    """Columns of the document that are filled less often than those of the lines: blank below the first row.

    Where no column of goods was recognised, less often than the column that is filled most.
    """
    columns = {place: each.candidates[0].columns for place, each in guesses.items() if each.column}
    line = next((columns[place] for place in ("lines.item_name", "lines.sku_name") if place in columns), ())
    most = profiles[line[0]].filled if line else max((each.filled for each in profiles.values()), default=0.0)
    least = most - _BLANK_BELOW
    header = [names for place, names in columns.items() if place.startswith("fields.")]
    named = dict.fromkeys(name for names in header for name in names)
    blank = tuple(name for name in named if 0 < profiles[name].filled < least)
    key = next((columns[place][0] for place in places.KEYS if place in columns), "")
    return blank if key in blank or len(blank) * 2 > len(header) else ()
