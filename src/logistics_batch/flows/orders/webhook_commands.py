"""Calls about webhooks that a person makes: subscribe to events of orders, change that."""

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from logistics_batch.api.answers import ReplyVerdict, judge
from logistics_batch.errors import UsageError
from logistics_batch.flows.orders.order_commands import Conclusion, open_end
from logistics_batch.flows.parts import Parts
from logistics_batch.model.payloads import WebhookSubscription, WebhookUpdate, body_text
from logistics_batch.model.report import ExitCode


def subscribe_webhook(parts: Parts, wanted: Mapping[str, object]) -> Conclusion:
    """Subscribe to order events (API §4.11); `wanted` has the fields of WebhookSubscription.

    Raises UsageError if the fields cannot be sent; KeyRefused, ServiceMisaddressed.
    """
    return _configure(parts, "webhook.subscribe", _payload(WebhookSubscription, wanted))


def update_webhook(parts: Parts, wanted: Mapping[str, object]) -> Conclusion:
    """Change a webhook (API §4.12); `wanted` has the fields of WebhookUpdate.

    Raises UsageError if the fields cannot be sent; KeyRefused, ServiceMisaddressed.
    """
    return _configure(parts, "webhook.update", _payload(WebhookUpdate, wanted))


def _configure(parts: Parts, endpoint: str, payload: BaseModel) -> Conclusion:
    answer = judge(parts.client.call(endpoint, body=body_text(payload)), operation=endpoint)
    if answer.meaning is ReplyVerdict.ACCEPTED:
        return Conclusion(f"The service took it: {answer.message or 'no message'}", ExitCode.DONE)
    if answer.meaning in (ReplyVerdict.REFUSED, ReplyVerdict.DECLINED):
        return Conclusion(f"The service refused it: {answer.message}", ExitCode.ROWS_NOT_DONE)
    return open_end(answer, question="Whether the service took it is not known; the same call may be made again.")


def _payload(model: type[BaseModel], wanted: Mapping[str, object]) -> BaseModel:
    given = {name: value for name, value in wanted.items() if value is not None}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, each['loc'])) or 'webhook'}: {each['msg']}" for each in error.errors()]
        raise UsageError("This cannot be sent. " + " ".join(lines)) from None
