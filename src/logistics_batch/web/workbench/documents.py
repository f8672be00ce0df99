"""The whole story of an order or an ASN on one time line, beside what was sent."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from logistics_batch.errors import UsageError
from logistics_batch.flows.orders.commands import shown_now
from logistics_batch.ledger import StoredDocument
from logistics_batch.messages.words import in_rows
from logistics_batch.model.issue import Issue
from logistics_batch.web.workbench.asked import NotThere, PageData, PageRequest, number_of
from logistics_batch.web.workbench.people import DECIDE, SignedIn

_OF_PEOPLE: Final = (
    "customer",
    "mobile",
    "phone",
    "address",
    "email",
    "lat",
    "long",
    "lon",
    "contact",
    "gst",
    "postal",
    "remark",
)
_CREATES: Final = ("order.create", "asn.create")
_TURN_WITHIN_SECONDS: Final = 5.0
HIDDEN: Final = "not shown for your role"


def words_for(who: SignedIn, why: Issue) -> str:
    """Why something is as it is: whoever does not see data of people gets the reason's name, for its words may hold
    some, as the service's own do."""
    return why.reason if who.sees_people or not why.code else why.rule.replace("_", " ")


def line_of(document: StoredDocument, who: SignedIn) -> dict[str, Any]:
    """A document in a list."""
    is_asn = document.operation.startswith("asn.")
    return {
        "id": document.id,
        "kind": "asns" if is_asn else "orders",
        "reference": document.reference or document.key,
        "operation": document.operation,
        "state": document.state,
        "awb_number": document.awb_number,
        "file_name": document.file_name,
        "run": document.run,
        "planned_at": document.planned_at,
        "reason": words_for(who, document.why),
    }


def order(asked: PageRequest) -> PageData:
    """Everything that is known of an order, by reference or AWB number."""
    return _story(asked, "order.")


def asn(asked: PageRequest) -> PageData:
    """Everything that is known of an ASN, by invoice number."""
    return _story(asked, "asn.")


def _story(asked: PageRequest, operations: str) -> PageData:
    name = asked.path["name"]
    documents = asked.parts.ledger.documents
    named = documents.select(references=[name])
    names = list(dict.fromkeys(each.reference for each in named if each.reference))
    found = documents.select(references=names) if names else named
    found = [each for each in found if each.operation.startswith(operations)]
    if not found:
        thing = "order" if operations == "order." else "ASN"
        raise NotThere(f"The ledger knows no {thing} “{name}”.")
    versions = [_version(asked, each) for each in found]
    steps = sorted((step for each in found for step in _steps(asked, each)), key=lambda step: str(step["at"]))
    data = {
        "name": name,
        "versions": versions,
        "steps": steps,
        "hides": not asked.who.sees_people,
        "may_ask": asked.who.role in DECIDE and any(each.operation in _CREATES for each in found),
    }
    return PageData("story.html", data)


def ask(asked: PageRequest) -> PageData:
    """What the service shows now of an order or an ASN that was created from here, beside what was sent."""
    ledger, number = asked.parts.ledger, number_of(asked.form.get("id", ""))
    document = None if number is None else ledger.documents.get(number)
    if document is None or document.operation not in _CREATES:
        raise UsageError("No order and no ASN of that number was sent from here.", remedy="Open its page again.")
    with asked.on.calling() as parts:
        limited = bool(asked.who.partners)
        found = shown_now(parts, document, within_seconds=_TURN_WITHIN_SECONDS, only_own=limited)
    sees = asked.who.sees_people
    data = line_of(document, asked.who) | {
        "asked_at": asked.now,
        "sent": shown_body(document.body, sees_people=sees),
        "records": [shown_body(json.dumps(each, default=str), sees_people=sees) for each in found.records],
        "message": found.message,
        "is_same": found.is_same,
        "purged": document.purged,
    }
    return PageData("shown_now.html", data)


def _version(asked: PageRequest, document: StoredDocument) -> dict[str, Any]:
    """What one version of it says, and how it stands."""
    return line_of(document, asked.who) | {
        "generation": document.generation,
        "sheet": document.sheet,
        "rows": list(document.rows),
        "method": document.method,
        "path": document.path,
        "fix": document.fix if asked.who.sees_people else "",
        "keep": document.keep if asked.who.sees_people else dict.fromkeys(document.keep, HIDDEN),
        "purged": document.purged,
        "body": shown_body(document.body, sees_people=asked.who.sees_people),
    }


def _steps(asked: PageRequest, document: StoredDocument) -> Iterator[dict[str, Any]]:
    """What happened to a version: when, what kind of step, and its words."""
    parts = asked.parts
    which = f"version {document.generation}"
    yield {
        "at": document.planned_at,
        "kind": "planned",
        "version": which,
        "text": f"Read from {document.file_name}, {in_rows(document.rows)}; run {document.run}.",
    }
    for each in parts.ledger.attempts.of(document.id):
        yield {
            "at": each.intent_at,
            "kind": "sent",
            "version": which,
            "text": f"Attempt {each.n} of run {each.run_id}: the intent was written down.",
        }
        if each.finished_at:
            status = f"HTTP {each.status}" if each.status else each.failure or "no answer"
            message = f" “{each.message}”" if each.message and asked.who.sees_people else ""
            proves = each.meaning.replace("_", " ") or "nothing"
            text = f"Attempt {each.n}: {status}{message}. That proves: {proves}."
            yield {"at": each.finished_at, "kind": "answered", "version": which, "text": text}
    for at, kind, text in parts.ledger.documents.evidence(document.id):
        told = text if asked.who.sees_people else HIDDEN
        yield {"at": at, "kind": kind.replace("_", " "), "version": which, "text": told}
    for made in parts.ledger.documents.decisions(document.id):
        why = made.why or "the words are not kept any more"
        text = f"{made.who} decided “{made.what}”: {why if asked.who.sees_people else HIDDEN}"
        yield {"at": made.at, "kind": "decided", "version": which, "text": text}
    if document.awb_number and document.operation == "order.create":
        for print_line in parts.ledger.labels.prints([document.awb_number]):
            text = f"Label printed, copy {print_line.copy}, bundle {print_line.bundle_id}."
            yield {"at": print_line.at, "kind": "printed", "version": which, "text": text}
        for hint in parts.ledger.orders.events_of([document.awb_number]):
            yield {"at": hint.at, "kind": "event", "version": which, "text": f"The service says: {hint.status}."}
    if document.settled_at:
        text = f"{document.state.replace('_', ' ').capitalize()}. {words_for(asked.who, document.why)}".strip()
        yield {"at": document.settled_at, "kind": "settled", "version": which, "text": text}


def shown_body(body: str, *, sees_people: bool) -> str:
    """A body to read: one value a line, without data of people where they are not needed."""
    if not body:
        return ""
    try:
        found = json.loads(body)
    except ValueError:
        return body if sees_people else HIDDEN
    return json.dumps(found if sees_people else _without_people(found), ensure_ascii=False, indent=1)


def _without_people(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: HIDDEN if inner and any(part in name.casefold() for part in _OF_PEOPLE) else _without_people(inner)
            for name, inner in value.items()
        }
    return [_without_people(inner) for inner in value] if isinstance(value, list) else value
