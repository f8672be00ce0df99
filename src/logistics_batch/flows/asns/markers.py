"""Finding ASNs by the marker in their description: after a doubt, and to confirm what was accepted (API §4.1).

A record counts only if it shows the marker itself. One is the ASN; more are the same ASN several times, of which a
person is told. That none is shown proves nothing.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta

from logistics_batch.api.answers import asn_header
from logistics_batch.flows.asns.baseline import Found, is_new, search_invoice
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import NewNotice, StoredDocument
from logistics_batch.model.asn_marker import shows_marker
from logistics_batch.model.issue import Issue

CONFIRMED_WITHIN = timedelta(days=7)
ASKS_UNTIL_STOP = 3  # documents in a row about which nobody could be asked; settling keeps to it, too
_EXPIRED = "expired"  # API §2.1
_ALARMS_AT_ONCE = 20
_ALARM = "asn|duplicate|"
_ONCE_AGAIN = Issue("settled.once_again")  # of a document whose alarm a look ended


@dataclass(frozen=True, slots=True)
class Marked:
    """How many records show the marker of an ASN; new: those that were not there before its first send.

    live: those that are not expired. whole: the service did not say that it has more.
    """

    shown: int
    new: int
    live: int = 0
    whole: bool = True
    unreachable: bool = False


def find_marked(parts: Parts, document: StoredDocument) -> Marked:
    """Search by invoice number and marker."""
    found = search_invoice(parts.client, document, description=document.marker)
    if found.failed is not None:
        return Marked(0, 0, whole=False, unreachable=not found.said_no)
    marked = marked_in(document, found)
    live = [record for record in marked if asn_header(record).status.casefold() != _EXPIRED]
    return Marked(len(marked), sum(is_new(document, record) for record in marked), len(live), found.whole)


def marked_in(document: StoredDocument, found: Found) -> list[dict[str, object]]:
    """The records that show the marker of this ASN."""
    return [record for record in found.records if shows_marker(asn_header(record).description, document.marker)]


def doubled(marked: Marked) -> Issue:
    """What is said of an accepted ASN that the service has more than once."""
    return Issue.of("possible_duplicate.marked", count=marked.shown)


def raise_alarm(parts: Parts, document: StoredDocument, marked: Marked) -> None:
    """Write down that a person should know of an ASN that the service has more than once."""
    run = parts.ledger.runs.get(document.accepted_run or document.run)
    job = run.job if run else ""
    parts.ledger.notices.note(
        NewNotice(
            key=_alarm(document.id),
            kind="on_failure",
            job=job,
            business_date=run.business_date if run else "",
            title=f"{job}: an ASN stands {marked.shown} times at the service",
            text=" ".join(
                (
                    f"Document {document.id} of {document.file_name}.",
                    doubled(marked).reason,
                    doubled(marked).fix,
                    f"When that is done, say so: held decide {document.id} accept --reason TEXT",
                )
            ),
        ),
        now=parts.clock.now().isoformat(),
    )


def has_alarm(parts: Parts, document: StoredDocument) -> bool:
    """Whether an alarm says that the service has it more than once."""
    return any(each.key == _alarm(document.id) for each in parts.ledger.notices.open())


def end_alarm(parts: Parts, document: StoredDocument, *, why: Issue) -> None:
    """It is over, or a person says that the others are closed at the service.

    The alarm last, so that whoever is interrupted can say it again.
    """
    now = parts.clock.now().isoformat()
    parts.ledger.attempts.note_duplicate(document.id, why=why, at=now)
    parts.ledger.notices.over(_alarm(document.id), why.reason, now=now)


def confirm_marked(parts: Parts) -> list[Issue]:
    """Search for accepted ASNs that were not seen yet, each by its marker; gives what a run's report should mention.

    That one is not found is no error: the service may be slow to show it, or keep descriptions in a form of its own. It
    is searched for again by later runs. Call while holding the sending lock.
    """
    if not parts.policy.marks_asns:
        return []
    doubled_again = _follow_alarms(parts)
    since = (parts.clock.now() - CONFIRMED_WITHIN).isoformat()
    waiting = [each for each in parts.ledger.attempts.unconfirmed_asns(since=since) if each.marker]
    missing, doubled = _confirm_all(parts, waiting) if waiting else (0, 0)
    notes = []
    if missing:
        notes.append(Issue.of("asns.not_found_yet", missing=missing, all=len(waiting)))
    if doubled + doubled_again:
        notes.append(doubled_note(doubled + doubled_again))
    return notes


def doubled_note(count: int) -> Issue:
    """What a report mentions of ASNs that the service has more than once."""
    return Issue.of("asns.doubled", count=count)


def _confirm_all(parts: Parts, waiting: Sequence[StoredDocument]) -> tuple[int, int]:
    """How many were not found, and how many more than once; a service that does not answer is left alone."""
    missing = doubled = silent = 0
    parts.progress.start("Confirming ASNs", len(waiting))
    with ThreadPoolExecutor(parts.policy.concurrency, thread_name_prefix="confirm") as workers:
        for start in range(0, len(waiting), parts.policy.concurrency):
            if parts.stop.is_set() or silent >= ASKS_UNTIL_STOP:
                break
            some = waiting[start : start + parts.policy.concurrency]
            for document, marked in zip(some, workers.map(lambda each: find_marked(parts, each), some), strict=True):
                parts.progress.advance()
                silent = silent + 1 if marked.unreachable else 0
                if not marked.unreachable:
                    _keep(parts, document, marked)
                    missing, doubled = missing + (marked.shown == 0), doubled + (marked.shown > 1)
    parts.progress.done()
    return missing, doubled


def _keep(parts: Parts, document: StoredDocument, marked: Marked) -> None:
    now = parts.clock.now().isoformat()
    if marked.shown > 1:
        _tell_doubled(parts, document, marked)
    else:
        text = f"Its marker {document.marker} was {'found' if marked.shown else 'not found'} at the service."
        parts.ledger.attempts.note_confirmation(document.id, at=now, found=bool(marked.shown), text=text)


def _tell_doubled(parts: Parts, document: StoredDocument, marked: Marked) -> None:
    raise_alarm(parts, document, marked)
    parts.ledger.attempts.note_duplicate(document.id, why=doubled(marked), at=parts.clock.now().isoformat())


def _alarm(document_id: int) -> str:
    return f"{_ALARM}{document_id}"


def _follow_alarms(parts: Parts) -> int:
    """Alarms end where the service shows an ASN once again: the others are gone from it, or expired.

    Where it shows more again within days, they begin anew, unless a person ended them; gives how many did.
    """
    since = (parts.clock.now() - CONFIRMED_WITHIN).isoformat()
    last = [each.key for each in parts.ledger.notices.open() if each.key.startswith(_ALARM)]
    lately = dict.fromkeys(
        each.key for each in parts.ledger.notices.notices_since(since) if each.key.startswith(_ALARM)
    )
    over = [key for key in lately if key not in last]
    begun = 0
    for key in (*last[:_ALARMS_AT_ONCE], *over[-_ALARMS_AT_ONCE:]):
        document = parts.ledger.documents.get(int(key.removeprefix(_ALARM)))
        if parts.stop.is_set() or document is None or not document.marker:
            continue
        if key not in last and document.why != _ONCE_AGAIN:
            continue
        marked = find_marked(parts, document)
        if marked.unreachable:
            break
        if key in last and marked.live == 1 and marked.whole:  # of an empty list, or of a part of one, nothing follows
            end_alarm(parts, document, why=_ONCE_AGAIN)
        elif key not in last and marked.live > 1:
            _tell_doubled(parts, document, marked)
            begun += 1
    return begun
