"""What a person decides is said to be done only where it was."""

import pytest
from support.documents import stored_document

from logistics_batch.errors import UsageError
from logistics_batch.flows.doubts.decisions import decide, reopen
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger.documents.documents import StoredDocuments


def test_a_drop_that_changed_meanwhile_is_not_called_reopened(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped = stored_document(id=7, state="abandoned", rule="dropped")
    monkeypatch.setattr(StoredDocuments, "get", lambda *_: dropped)
    with pytest.raises(UsageError, match="the number 7 has changed meanwhile"):
        reopen(parts, 7, reason="wanted after all")


@pytest.mark.parametrize("rule", ["cancelled", "earlier_held", "same_bytes", "two_files", "other_spelling"])
def test_what_was_never_sent_is_not_accepted_but_in_an_older_copy(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    for may_exist in (False, True):
        held = stored_document(id=7, state="held", rule=rule, may_exist=may_exist, account=parts.ledger.account)
        monkeypatch.setattr(StoredDocuments, "get", lambda *_, held=held: held)
        if may_exist:
            assert decide(parts, 7, decision="accept", reason="seen there", dry_run=True) == held
        else:
            with pytest.raises(UsageError, match="does not fit"):
                decide(parts, 7, decision="accept", reason="seen there", dry_run=True)
