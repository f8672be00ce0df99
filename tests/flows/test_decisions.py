"""What a person decides is said to be done only where it was."""

import pytest
from support.documents import stored_document

from logistics_batch.errors import UsageError
from logistics_batch.flows.doubts.decisions import reopen
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger.documents.documents import Documents


def test_a_drop_that_changed_meanwhile_is_not_called_reopened(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped = stored_document(id=7, state="abandoned", rule="dropped")
    monkeypatch.setattr(Documents, "get", lambda *_: dropped)
    with pytest.raises(UsageError, match="the number 7 has changed meanwhile"):
        reopen(parts, 7, reason="wanted after all")
