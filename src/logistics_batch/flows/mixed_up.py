"""Orders that were answered with the number of another one: an answer was mixed up on its way, and it shows later."""

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import NewNotice, StoredDocument


def give_back_number(parts: Parts, document: StoredDocument, awb_number: str) -> None:
    """The service shows this order with this number: another order of ours that has it got this one's answer.

    Then whether the other arrived is not known for certain; it is looked for as orders without a number are, and a
    person is told until it is found.
    """
    now = parts.clock.now().isoformat()
    for other in parts.ledger.give_back_number(document, awb_number, at=now) if awb_number else ():
        parts.ledger.notice(
            NewNotice(
                key=_key(other),
                kind="on_held",
                job="",
                title=f"The answer about order {other.reference} was that of {document.reference}",
                text=f"Something mixes answers up, a cache or a proxy. AWB number {awb_number} is that of "
                f"{document.reference}; use no label of it for {other.reference}, and look up whether the service has "
                "that order.",
            ),
            now=now,
        )


def found_number(parts: Parts, document: StoredDocument, awb_number: str) -> None:
    """The order's own number is known now."""
    now = parts.clock.now().isoformat()
    parts.ledger.over(_key(document), f"It is there, with AWB number {awb_number}.", now=now)


def _key(document: StoredDocument) -> str:
    return f"order|mixed up|{document.id}"
