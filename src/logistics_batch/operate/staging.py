"""What is assumed, documented or verified about the service, in a doctor's words."""

from collections.abc import Iterator

from logistics_batch.flows.doubts.staging import StagingReport, verify_service
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.proof import is_of_this_key
from logistics_batch.ledger import ServiceFacts
from logistics_batch.model.issue import Issue
from logistics_batch.operate.doctor import Check, CheckState

_DUPLICATES = {
    "refused": "a second create of a live reference is refused",
    "repeated": "a second create of a live reference is answered like the first",
    "unclear": "the answer to a second create of a live reference proves nothing",
}
_NOT_UNIQUE = (
    "That a reference makes one order could not be shown",
    "An order in doubt is sent again only where asking for it by its reference is certain; else a person decides.",
)


def check_facts(parts: Parts) -> Check:
    """What is known by now; makes no call."""
    facts = parts.ledger.facts.verified()
    if facts is None:
        text = "references are unique: documented (API §8.4), not verified on this account"
        return Check("uniqueness", CheckState.OK, f"{text}; see `doctor --staging`")
    if not is_of_this_key(parts, facts):
        told = Issue("facts.other_key")
        return Check("uniqueness", CheckState.WARNING, told.reason, told.fix)
    if not facts.unique:
        return Check("uniqueness", CheckState.WARNING, f"{_NOT_UNIQUE[0]} on {facts.at[:10]}.", _NOT_UNIQUE[1])
    return Check(
        "uniqueness", CheckState.OK, f"references are unique: documented (API §8.4), verified on {facts.at[:10]}"
    )


def assumptions(parts: Parts) -> Iterator[Check]:
    """What the promise rests on besides unique references, and how far each is known; makes no call."""
    patience = parts.policy.settle_after_seconds
    for name, text in {
        "cancelling": "assumed: nobody cancels an order between a doubt and its second send; a cancelled one is held",
        "late effects": f"assumed: a call without effect within {patience:g} s (service.settle_after) never has one",
        "reading": "verified in each settling: orders that certainly exist are found, before an absence is believed",
        "disk writes": "assumed: what the disk confirmed survives a power cut",
        "no effect": "assumed: a call that is answered 401 or 429, or a first one that is answered 400, did nothing",
    }.items():
        yield Check(name, CheckState.OK, text)


def stage(parts: Parts, *, pincode: str) -> Iterator[Check]:
    """Make test orders and cancel them; see `flows.doubts.staging`.

    Raises RunStopped if none is taken, LedgerBusy.
    """
    report = verify_service(parts, pincode=pincode)
    yield from _of_facts(report.facts)
    yield _of_leftovers(report)


def _of_facts(facts: ServiceFacts) -> Iterator[Check]:
    if facts.unique:
        yield Check("one order for a reference", CheckState.OK, "verified, also for four creates at once")
    else:
        yield Check("one order for a reference", CheckState.WARNING, f"{_NOT_UNIQUE[0]}.", _NOT_UNIQUE[1])
    told = ", in words of its own" if facts.duplicate_form else ""
    yield Check("duplicate reference", CheckState.OK, _DUPLICATES[facts.duplicate] + told)
    names = " or ".join(name.replace("_", " ") for name in facts.found_by)
    if "reference_number" in facts.found_by:
        yield Check("orderId", CheckState.OK, f"an order is found by {names}")
    else:
        text = f"An order is found by {names}, not by its reference." if names else "An order cannot be fetched."
        remedy = "Orders in doubt cannot be looked for: see `one order for a reference`."
        yield Check("orderId", CheckState.WARNING, text, remedy)


def _of_leftovers(report: StagingReport) -> Check:
    if not report.left:
        return Check("test orders", CheckState.OK, "all are cancelled")
    named = ", ".join(" ".join((order.reference, *order.awb_numbers)) for order in report.left)
    remedy = "Look them up at the service and cancel them; the next `doctor --staging` tries again."
    return Check("test orders", CheckState.PROBLEM, f"These may still be there: {named}.", remedy)
