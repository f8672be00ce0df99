"""Answers to new ASNs that say neither yes nor no, as `{}` does: a search tells whether they are a service's yes.

What a success of an ASN looks like is not documented (API §4.2, §8). Each such answer is a doubt, which settling ends;
here it only matters whether a run may go on.
"""

from logistics_batch.api.answers import Answer, Meaning
from logistics_batch.api.client import Reply
from logistics_batch.flows.asns.baseline import indistinct, new_since, search_invoice
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import StoredDocument
from logistics_batch.model.document import Operation


class SilentAnswers:
    """Those of one run."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._last: StoredDocument | None = None

    def note(self, document: StoredDocument, reply: Reply, answer: Answer) -> None:
        """Remember the ASN, if its answer was whole and clean and told nothing."""
        clean = reply.status is not None and 200 <= reply.status < 300 and not (reply.failure or answer.looks_like_html)
        if clean and answer.meaning is Meaning.UNKNOWN and document.operation == Operation.ASN_CREATE:
            self._last = document

    def mean_yes(self) -> bool:
        """Whether the service shows the ASN that it answered so last; each is asked for once."""
        document, self._last = self._last, None
        if document is None:
            return False
        found = search_invoice(self._parts.client, document)
        return bool(new_since(document, found)) and not indistinct(self._parts.ledger, document, found)
