"""Why nothing could be sent is a whole sentence, for what to do follows it in one line."""

import pytest

from logistics_batch.api.answers import Answer, ReplyVerdict
from logistics_batch.api.client import Reply
from logistics_batch.flows.push.outcomes import stop_reason


@pytest.mark.parametrize("meaning", [*ReplyVerdict])
@pytest.mark.parametrize("status", [None, 404])
@pytest.mark.parametrize("message", ["", "No ASN found"])
def test_a_reason_to_stop_ends_as_a_sentence(meaning: ReplyVerdict, status: int | None, message: str) -> None:
    said = stop_reason(Reply("asn.fetch", status=status), Answer(meaning, message))
    assert said.endswith(".") and "“”" not in said, said
