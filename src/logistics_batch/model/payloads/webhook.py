"""The webhook: its subscription, which we send, and its events, which we are sent (API §2.4, §6)."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from logistics_batch.model.payloads.forms import Key, Payload, WebAddress, WholeCount


class WebhookSubscription(Payload):
    """Body of POST /webhooks/subscribe (API §4.11)."""

    webhookId: WholeCount | None = None  # number of the webhook
    callbackUrl: WebAddress  # URL that the service calls with events
    headers: dict[Key, Key] | None = Field(default=None, repr=False)  # headers of each callback; they may hold secrets
    verify_payload: bool | None = None  # payload verification flag


class WebhookUpdate(Payload):
    """Body of PUT /webhooks/update.

    API §4.12 names "callback URL or active state" as examples and shows no fields: these are the subscription's, and
    `is_active`, which such services are seen to take.
    """

    webhookId: WholeCount | None = None  # number of the webhook
    callbackUrl: WebAddress | None = None  # URL that the service calls (API §4.12)
    headers: dict[Key, Key] | None = Field(default=None, repr=False)  # headers of each callback; they may hold secrets
    verify_payload: bool | None = None  # payload verification flag
    is_active: bool | None = None  # whether events are sent; name not published (API §4.12)

    @model_validator(mode="after")
    def _changes_something(self) -> "WebhookUpdate":
        changes = (self.callbackUrl, self.headers, self.verify_payload, self.is_active)
        if all(change is None for change in changes):
            raise PydanticCustomError(
                "webhook_unchanged", "Nothing to update: give a callback URL, headers or a flag to change."
            )
        return self


def _as_text(value: object) -> str | None:
    """Events come in several dialects: numbers stand where texts are published."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


EventText = Annotated[str | None, BeforeValidator(_as_text)]


class StatusEvent(BaseModel):
    """What is read of an event of the topic updateOrderStatus (API §6); its bytes are kept as they came.

    Tolerant, for an event that cannot be read is lost: services send dialects with fields missing, null or of another
    type. An event is a hint, to be confirmed by fetching the order.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True, defer_build=True)

    WaybillNo: EventText = None  # AWB number (API §6)
    eventType: EventText = None  # topic, updateOrderStatus (API §6)
    OrderStatus: EventText = None  # current status (API §6)
    order_status: EventText = None  # the same status again (API §6)
    StatusDateTime: EventText = None  # ISO 8601 date-time with offset (API §6)
    order_no: EventText = None  # customer's order number (API §6)
