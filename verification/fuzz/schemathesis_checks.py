"""A check for schemathesis: what is valid by the schema is refused for the state of things only, never for its form."""

import re

import schemathesis

STATE = re.compile(
    r"Order not found|The order can't be (?:cancelled|updated) now|The order is cancelled"
    r"|Items (?:belong to the order already|do not belong to the order): .*"
    r"|AWB Number already exists|order_id is not the reference number of this AWB Number"
    r"|Advance shipping notice not found|More than one advance shipping notice matches .*"
    r"|Webhook not found|At least one of created date range, .* is required",
    re.DOTALL,
)

# JSON Schema calls 2.0 an integer; the service wants whole numbers written as such.
WHOLE = re.compile(r"Malformed value of (packages_count|webhookId): .*")


@schemathesis.check
def valid_data_is_refused_for_its_state_only(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    """Fails for a 400 that blames the form of valid data."""
    valid = case.meta is not None and case.meta.generation.mode.is_positive
    if not valid or response.status_code != 400:
        return
    message = response.json()["message"]
    whole = WHOLE.fullmatch(message)
    if whole and isinstance(case.body.get(whole[1]), float):
        return
    assert STATE.fullmatch(message), f"valid by the schema, and yet refused: {message}"
