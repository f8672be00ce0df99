"""Markers of ASNs in the ledger: which one a document gets, and that it is no part of what a file says.

A marker follows from a document's identity, so that nothing has to be kept of it beside the bytes that were sent.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from sqlalchemy import Connection, select

from logistics_batch.ledger.connection import digest
from logistics_batch.ledger.documents.decide import Decision, Generation
from logistics_batch.ledger.schema import document
from logistics_batch.model.asn_marker import marker_of, with_marker, without_marker
from logistics_batch.model.document import Document, Operation

_MARKED = (Operation.ASN_CREATE, Operation.ASN_UPDATE)


def carries_marker(operation: str, *, marks: bool) -> bool:
    """Whether a new document of this kind may carry a marker."""
    return operation == Operation.ASN_UPDATE or (marks and operation in _MARKED)


class Marking:
    """The markers of one document that comes in and of its earlier generations."""

    def __init__(self, connection: Connection, account: str, item: Document) -> None:
        self._connection = connection
        self._account = account
        self._item = item

    def as_said(self, history: Sequence[Generation]) -> list[Generation]:
        """The earlier generations, those with this very content under its digest, marked or not."""
        if self._item.operation not in _MARKED:
            return list(history)
        content = digest(self._item.body)
        return [
            replace(known, body_sha256=content)
            if known.body_sha256 == digest(with_marker(self._item.body, self._marker(known.generation)))
            else known
            for known in history
        ]

    def without(self, body: str, known: Generation) -> str:
        """What the file of an earlier generation said."""
        return without_marker(body, self._marker(known.generation)) if self._item.operation in _MARKED else body

    def marked(self, decision: Decision, *, marks: bool) -> Decision:
        """The decision with the marker that a new generation carries; an update keeps that of the ASN, always."""
        if self._item.operation not in _MARKED or decision.action not in ("plan", "hold"):
            return decision
        marker = self._marker(decision.generation) if marks or self._item.operation is Operation.ASN_UPDATE else ""
        has_room = with_marker(self._item.body, marker) != self._item.body
        return replace(decision, marker=marker) if has_room else decision

    def _marker(self, generation: int) -> str:
        if self._item.operation is Operation.ASN_UPDATE:
            return self._of_created
        return marker_of(self._account, self._item.key, generation)

    @cached_property
    def _of_created(self) -> str:
        """The marker of the ASN that is updated, "" if it has none or that is no longer known."""
        found = self._connection.execute(
            select(document.c.generation, document.c.body)
            .where(document.c.account == self._account, document.c.kind == "asn", document.c.key == self._item.key)
            .where(document.c.state == "accepted")
            .order_by(document.c.generation.desc())
            .limit(1)
        ).first()
        if found is None:
            return ""
        own = marker_of(self._account, self._item.key, found.generation)
        return own if own in found.body.decode() else ""
