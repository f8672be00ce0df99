"""What the service had under an ASN's invoice number before the ASN was sent: the ground for settling a doubt.

ASNs have no documented uniqueness (API §8), so an ASN whose answer was lost can only be recognised as new there.

How a search without results is answered is not documented either (API §4.1). An empty list says it; a 400 or 404 with
the service's own FAIL does where two numbers that were never used get the same, and where a search for an ASN that
was accepted finds it.
"""

import json
import secrets
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Lock

from logistics_batch.api.answers import Answer, ReplyVerdict, asn_header, judge, read_asns
from logistics_batch.api.client import Client, Reply
from logistics_batch.api.content_match import record_digest, same_asn, same_goods
from logistics_batch.api.envelopes import AsnPage
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Ledger, StoredDocument, form_of
from logistics_batch.model.asn_marker import shows_marker
from logistics_batch.model.document import Operation

_PART = "and more"  # stands among the digests where the service did not show all
_LIKE_IT = "like it"  # … and once for each record with the ASN's content that has no id to be known again by
_EXPIRED = "expired"  # API §2.1


@dataclass(frozen=True, slots=True)
class Baseline:
    """The digests of what a search by invoice number found.

    whole: the service did not say that it has more. like_it: how many records without an id have the ASN's content.
    failed: the reply and its meaning if the search could not be made; then nothing is known.
    """

    digests: tuple[str, ...] = ()
    whole: bool = True
    like_it: int = 0
    already_there: bool = False
    failed: tuple[Reply, Answer] | None = None

    @property
    def text(self) -> str:
        """As the ledger keeps it."""
        return json.dumps([*self.digests, *(() if self.whole else (_PART,)), *[_LIKE_IT] * self.like_it])


@dataclass(frozen=True, slots=True)
class Found:
    """The service's records under one invoice number; whole: it did not say that it has more.

    failed: the reply and its meaning where no list came; said_no: how the service said no then, without the number.
    """

    records: tuple[dict[str, object], ...] = ()
    whole: bool = True
    failed: tuple[Reply, Answer] | None = None
    said_no: str = ""


def search_invoice(
    client: Client, document: StoredDocument, *, description: str = "", turn_taken: bool = False
) -> Found:
    """Fetch the ASNs with this document's invoice number, and with this text in their description (API §4.1)."""
    return _search(client, document.reference, description=description, turn_taken=turn_taken)


def _search(client: Client, invoice_number: str, *, description: str = "", turn_taken: bool = False) -> Found:
    query = {"invoice_number": invoice_number} | ({"description": description} if description else {})
    reply = client.call("asn.fetch", query=query, turn_taken=turn_taken)
    page = read_asns(reply)
    if not isinstance(page, AsnPage):
        answer = judge(reply, operation="asn.fetch")
        if page.signature:  # about this number, or about all of them
            answer = replace(answer, meaning=ReplyVerdict.DECLINED)
        elif answer.meaning not in (ReplyVerdict.UNAUTHORIZED, ReplyVerdict.SLOW_DOWN, ReplyVerdict.MISADDRESSED):
            answer = Answer(ReplyVerdict.NOT_SENT, page.message)
        return Found(failed=(reply, answer), said_no=form_of(page.signature, invoice_number))
    # Names and numbers may match in part at the service: compare again here.
    exact = [record for record in page.records if asn_header(record).invoice_number == invoice_number]
    more = bool(page.next and page.next.strip("0 ")) or (page.count or 0) > len(page.records)
    return Found(records=tuple(exact), whole=not more)


class EmptySearches:
    """Which no of the service means that it has none, as far as this was verified in one run; usable by all threads."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = Lock()
        self._none = ""  # how two numbers that were never used were answered
        self._shows_known = False

    def read(self, found: Found, known: StoredDocument | None) -> Found:
        """No records where the service's no means that; what was found as it is otherwise.

        known: an ASN that is there. While there is none, nobody can tell whether a search would show one: then the
        answer is not whole.
        """
        if not found.said_no:
            return found
        with self._lock:
            if found.said_no != self._none:
                unused = [_search(self._client, f"LB-{secrets.token_hex(8)}").said_no for _ in range(2)]
                self._none = unused[0] if unused[0] == unused[1] else ""
            if found.said_no != self._none:
                return found
            if known is not None and not self._shows_known:
                self._shows_known = bool(search_invoice(self._client, known).records)
            if known is None or self._shows_known:
                return Found(whole=known is not None)
        if found.failed is None:
            return found
        reply, answer = found.failed
        return Found(failed=(reply, replace(answer, meaning=ReplyVerdict.NOT_SENT)))  # about all searches, not this one


def take_baseline(
    client: Client, document: StoredDocument, *, empty: EmptySearches, known: StoredDocument | None
) -> Baseline:
    """Ask what is there before the first send; the turn for the call was taken by the caller."""
    found = empty.read(search_invoice(client, document, turn_taken=True), known)
    if found.failed is not None:
        return Baseline(failed=found.failed)
    return Baseline(
        digests=tuple(sorted(record_digest(record) for record in found.records)),
        whole=found.whole,
        like_it=len(_nameless(document, found)),
        already_there=any(_is_it(document, record) for record in found.records),
    )


def _is_it(document: StoredDocument, record: dict[str, object]) -> bool:
    """Whether a record is this ASN, by its marker or by its content."""
    return shows_marker(asn_header(record).description, document.marker) or same_asn(document.body, record)


class Control(StrEnum):
    """What a search for an ASN that was accepted says about searches."""

    FOUND = "found"  # they show what is there
    NOT_FOUND = "not_found"  # they do not
    NOTHING_KNOWN = "nothing_known"  # no ASN is known to be there
    UNREACHABLE = "unreachable"  # the service could not be asked


def search_known(client: Client, ledger: Ledger) -> Control:
    """Search for the ASN that was accepted last; unless it is found, “not found” means nothing.

    Content is not compared: the ASN may have been changed since.
    """
    known = ledger.documents.last_accepted(Operation.ASN_CREATE)
    if known is None:
        return Control.NOTHING_KNOWN
    found = search_invoice(client, known)
    if found.failed is not None and not found.said_no:
        return Control.UNREACHABLE
    return Control.FOUND if found.records else Control.NOT_FOUND


def saw_all(document: StoredDocument) -> bool:
    """Whether the search before the first send was shown everything."""
    return _PART not in json.loads(document.baseline or "[]")


def is_new(document: StoredDocument, record: dict[str, object]) -> bool:
    """Whether a record was not there before the first send."""
    return record_digest(record) not in json.loads(document.baseline or "[]")


def indistinct(ledger: Ledger, document: StoredDocument, found: Found) -> bool:
    """Whether the records that show this ASN may all be other ASNs of ours, and so prove nothing about this one.

    Replies may name parties in another form than was sent (API §4.1); then one invoice number with the same lines for
    two sites looks alike. Only if each of the others was certainly accepted, and there is one record more, is it this.
    """
    shown = [record for record in found.records if same_asn(document.body, record)]
    others = [
        other
        for other in ledger.documents.select(operations=[Operation.ASN_CREATE], references=[document.reference])
        if other.key != document.key
        and other.attempts > 0
        and other.state != "refused"
        and (other.purged or any(same_asn(other.body, record) for record in shown))  # of a purged one nobody can tell
    ]
    certain = all(other.state == "accepted" for other in others)
    return bool(others) and not (certain and len(shown) == len(others) + 1)


def new_since(document: StoredDocument, found: Found) -> list[dict[str, object]]:
    """The records that were not there before the first send and that have this document's content.

    One without an id looks new when the service changes its state or a date: of these only as many count as there are
    more than before. One that is expired is none that was sent just now.
    """
    before = list(json.loads(document.baseline or "[]"))
    surplus = len(_nameless(document, found)) - before.count(_LIKE_IT)
    fresh = []
    for record in found.records:
        digest, header = record_digest(record), asn_header(record)
        if digest in before:
            before.remove(digest)
        elif same_asn(document.body, record) and header.status.casefold() != _EXPIRED:
            surplus -= not header.id
            if header.id or surplus >= 0:
                fresh.append(record)
    return fresh


def like_new(document: StoredDocument, found: Found) -> int:
    """How many records came since with its goods, and other parties: maybe itself, with parties in another form."""
    return sum(
        is_new(document, record) and same_goods(document.body, record) and not same_asn(document.body, record)
        for record in found.records
    )


def _nameless(document: StoredDocument, found: Found) -> list[dict[str, object]]:
    """The records with this document's content that have no id."""
    return [record for record in found.records if not asn_header(record).id and same_asn(document.body, record)]


class UnconfirmedCreates:
    """Answers of one run to new ASNs that say neither yes nor no, as `{}` does.

    What a success of an ASN looks like is not documented (API §4.2, §8). Each such answer is a doubt, which settling
    ends; here a search tells whether they are a service's yes, so that the run may go on.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._last: StoredDocument | None = None

    def note(self, document: StoredDocument, reply: Reply, answer: Answer) -> None:
        """Remember the ASN, if its answer was whole and clean and told nothing."""
        clean = reply.status is not None and 200 <= reply.status < 300 and not (reply.failure or answer.looks_like_html)
        if clean and answer.meaning is ReplyVerdict.UNKNOWN and document.operation == Operation.ASN_CREATE:
            self._last = document

    def is_confirmed(self) -> bool:
        """Whether the service shows the ASN that it answered so last; each is asked for once."""
        document, self._last = self._last, None
        if document is None:
            return False
        found = search_invoice(self._parts.client, document)
        return bool(new_since(document, found)) and not indistinct(self._parts.ledger, document, found)
