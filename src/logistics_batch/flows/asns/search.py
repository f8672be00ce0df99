"""Searching for one ASN at the service: what was there before it was sent, what is new since, and by its marker.

ASNs have no documented uniqueness (API §8), so one whose answer was lost can only be recognised as new under its
invoice number, or by the marker in its description. Of records with the marker one is the ASN; more are the same ASN
several times, of which a person is told; that none is shown proves nothing.

How a search without results is answered is not documented either (API §4.1). An empty list says it; a 400 or 404 with
the service's own FAIL does where two numbers that were never used get the same, and where a search for an ASN that
was accepted finds it. While no ASN was accepted yet, a no is kept with the ASN that goes out, and judged later.
"""

import hashlib
import json
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import Lock

from logistics_batch.api.answers import Answer, ReplyVerdict, asn_header, judge, read_asns
from logistics_batch.api.client import Client, Reply
from logistics_batch.api.content_match import record_digest, same_asn, same_goods
from logistics_batch.api.envelopes import AsnPage
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Ledger, NewNotice, StoredDocument, form_of
from logistics_batch.model.asn_marker import shows_marker
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

ASKS_UNTIL_STOP = 3  # documents in a row about which nobody could be asked; settling keeps to it, too
_CONFIRMED_WITHIN = timedelta(days=7)
_PART = "and more"  # stands among the digests where the service did not show all
_NO = "no "  # … and how it said no, before it was known what that means
_LIKE_IT = "like it"  # … and once for each record with the ASN's content that has no id to be known again by
_EXPIRED = "expired"  # API §2.1

Record = dict[str, object]


@dataclass(frozen=True, slots=True)
class Found:
    """The service's records under one invoice number; whole: it did not say that it has more.

    failed: the reply and its meaning where no list came; said_no: a mark of how the service said no then, which is the
    same for all numbers. It stays where nobody knows yet whether that no means none.
    """

    records: tuple[Record, ...] = ()
    whole: bool = True
    failed: tuple[Reply, Answer] | None = None
    said_no: str = ""

    @property
    def unreachable(self) -> bool:
        """Whether the service could not be asked."""
        return self.failed is not None and not self.said_no


def search_invoice(client: Client, number: str, *, description: str = "", turn_taken: bool = False) -> Found:
    """Fetch the ASNs with an invoice number, and with a text in their description (API §4.1)."""
    query = {"invoice_number": number} | ({"description": description} if description else {})
    reply = client.call("asn.fetch", query=query, turn_taken=turn_taken)
    page = read_asns(reply)
    if not isinstance(page, AsnPage):
        answer = judge(reply, operation="asn.fetch")
        if page.signature:  # about this number, or about all of them
            answer = replace(answer, meaning=ReplyVerdict.DECLINED)
        elif answer.meaning not in (ReplyVerdict.UNAUTHORIZED, ReplyVerdict.SLOW_DOWN, ReplyVerdict.MISADDRESSED):
            answer = Answer(ReplyVerdict.NOT_SENT, page.message)
        form = form_of(page.signature, number)  # the ledger keeps a mark of it: the service's words may name people
        said_no = hashlib.sha256(form.encode()).hexdigest()[:32] if form else ""
        return Found(failed=(reply, answer), said_no=said_no)
    # Names and numbers may match in part at the service: compare again here.
    exact = [record for record in page.records if asn_header(record).invoice_number == number]
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
                unused = [search_invoice(self._client, f"LB-{secrets.token_hex(8)}").said_no for _ in range(2)]
                self._none = unused[0] if unused[0] == unused[1] else ""
            if found.said_no != self._none:
                return found
            if known is not None and not self._shows_known:
                self._shows_known = bool(search_invoice(self._client, known.reference).records)
            if known is None or self._shows_known:
                return Found() if known is not None else Found(whole=False, said_no=found.said_no)
        if found.failed is None:
            return found
        reply, answer = found.failed
        return Found(failed=(reply, replace(answer, meaning=ReplyVerdict.NOT_SENT)))  # about all searches, not this one


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the service had under an ASN's invoice number before the ASN was sent: the ground for settling a doubt.

    digests: of all that was found. whole: the service did not say that it has more. said_no: how it said no, where
    that may mean that it has none. like_it: how many records without an id have the ASN's content. failed: the reply
    and its meaning if the search could not be made; then nothing is known.
    """

    digests: tuple[str, ...] = ()
    whole: bool = True
    said_no: str = ""
    like_it: int = 0
    already_there: bool = False
    failed: tuple[Reply, Answer] | None = None

    @property
    def text(self) -> str:
        """As the ledger keeps it."""
        part = [] if self.whole else [_PART]
        said_no = [_NO + self.said_no] if self.said_no else []
        return json.dumps([*self.digests, *part, *said_no, *[_LIKE_IT] * self.like_it])


def take_baseline(
    client: Client, document: StoredDocument, *, empty: EmptySearches, known: StoredDocument | None
) -> Baseline:
    """Ask what is there before the first send; the turn for the call was taken by the caller."""
    found = empty.read(search_invoice(client, document.reference, turn_taken=True), known)
    if found.failed is not None:
        return Baseline(failed=found.failed)
    return Baseline(
        digests=tuple(sorted(record_digest(record) for record in found.records)),
        whole=found.whole,
        said_no=found.said_no,
        like_it=len(_nameless(document, found)),
        already_there=any(
            shows_marker(asn_header(record).description, document.marker) or same_asn(document.body, record)
            for record in found.records
        ),
    )


def _before(document: StoredDocument) -> list[str]:
    """What stood there before the first send, as `Baseline.text` keeps it."""
    return list(json.loads(document.baseline or "[]"))


def _nameless(document: StoredDocument, found: Found) -> list[Record]:
    """The records with this document's content that have no id."""
    return [record for record in found.records if not asn_header(record).id and same_asn(document.body, record)]


def no_before(document: StoredDocument) -> str:
    """How the search before the first send was answered no, where that was not known to mean none; empty otherwise."""
    return next((each.removeprefix(_NO) for each in _before(document) if each.startswith(_NO)), "")


def saw_all(document: StoredDocument, empty: EmptySearches, known: StoredDocument | None) -> bool:
    """Whether the search before the first send was shown everything, or said no as it does now where it has none."""
    if _PART not in _before(document):
        return True
    return empty.read(Found(whole=False, said_no=no_before(document)), known).whole


def is_new(document: StoredDocument, record: Record) -> bool:
    """Whether a record was not there before the first send."""
    return record_digest(record) not in _before(document)


def new_since(document: StoredDocument, found: Found) -> list[Record]:
    """The records that were not there before the first send and that have this document's content.

    One without an id looks new when the service changes its state or a date: of these only as many count as there are
    more than before. One that is expired is none that was sent just now.
    """
    before = _before(document)
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
        found = search_invoice(self._parts.client, document.reference)
        return bool(new_since(document, found)) and not indistinct(self._parts.ledger, document, found)


@dataclass(frozen=True, slots=True)
class Marked:
    """How many records show the marker of an ASN; new: those that were not there before its first send."""

    shown: int = 0
    new: int = 0
    unreachable: bool = False


def find_marked(client: Client, document: StoredDocument) -> Marked:
    """Search by invoice number and marker; only records that show the marker themselves count."""
    found = search_invoice(client, document.reference, description=document.marker)
    marked = [record for record in found.records if shows_marker(asn_header(record).description, document.marker)]
    return Marked(len(marked), sum(is_new(document, record) for record in marked), found.unreachable)


def tell_doubled(parts: Parts, document: StoredDocument, shown: int) -> Issue:
    """Raise the alarm about an ASN that the service has more than once, and give what is said of it."""
    why = Issue.of("possible_duplicate.marked", count=shown)
    run = parts.ledger.runs.get(document.accepted_run or document.run)
    close = f"When that is done, say so: held decide {document.id} accept --reason TEXT"
    parts.ledger.notices.note(
        NewNotice(
            key=_alarm(document),
            kind="on_failure",
            job=run.job if run else "",
            business_date=run.business_date if run else "",
            title=f"{run.job if run else ''}: an ASN stands {shown} times at the service",
            text=f"Document {document.id} of {document.file_name}. {why.reason} {why.fix} {close}",
        ),
        now=parts.now,
    )
    return why


def has_alarm(parts: Parts, document: StoredDocument) -> bool:
    """Whether an alarm says that the service has it more than once."""
    return any(each.key == _alarm(document) for each in parts.ledger.notices.open())


def end_alarm(parts: Parts, document: StoredDocument, *, why: Issue) -> None:
    """A person says that the others are closed at the service.

    The alarm last, so that whoever is interrupted can say it again.
    """
    parts.ledger.attempts.note_duplicate(document.id, why=why, at=parts.now)
    parts.ledger.notices.over(_alarm(document), why.reason, now=parts.now)


def _alarm(document: StoredDocument) -> str:
    return f"asn|duplicate|{document.id}"


def confirm_marked(parts: Parts) -> list[Issue]:
    """Search for accepted ASNs that were not seen yet, each by its marker; gives what a run's report should mention.

    Only where ASNs get markers.

    That one is not found is no error: the service may be slow to show it, or keep descriptions in a form of its own. It
    is searched for again by later runs. A service that does not answer is left alone. Call while holding the sending
    lock.
    """
    since = (parts.clock.now() - _CONFIRMED_WITHIN).isoformat()
    waiting = [each for each in parts.ledger.attempts.unconfirmed_asns(since=since) if each.marker]
    if not waiting:
        return []
    missing = doubled = silent = 0
    at_once = parts.policy.concurrency
    parts.progress.start("Confirming ASNs", len(waiting))
    with ThreadPoolExecutor(at_once, thread_name_prefix="confirm") as workers:
        for start in range(0, len(waiting), at_once):
            if parts.stop.is_set() or silent >= ASKS_UNTIL_STOP:
                break
            some = waiting[start : start + at_once]
            looks = workers.map(lambda each: find_marked(parts.client, each), some)
            for document, marked in zip(some, looks, strict=True):
                parts.progress.advance()
                silent = silent + 1 if marked.unreachable else 0
                if marked.unreachable:
                    continue
                missing, doubled = missing + (marked.shown == 0), doubled + (marked.shown > 1)
                if marked.shown > 1:
                    why = tell_doubled(parts, document, marked.shown)
                    parts.ledger.attempts.note_duplicate(document.id, why=why, at=parts.now)
                else:
                    found = marked.shown > 0
                    text = f"Its marker {document.marker} was {'found' if found else 'not found'} at the service."
                    parts.ledger.attempts.note_confirmation(document.id, at=parts.now, found=found, text=text)
    parts.progress.done()
    unseen = [Issue.of("asns.not_found_yet", missing=missing, all=len(waiting))] if missing else []
    return [*unseen, *([Issue.of("asns.doubled", count=doubled)] if doubled else [])]
