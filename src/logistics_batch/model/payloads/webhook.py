"""The webhook: its subscription, which we send, and its events, which we are sent (API §2.4, §6)."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from logistics_batch.model.payloads.forms import Key, WebAddress, WebhookNumber
from logistics_batch.model.payloads.payload import Payload


class WebhookSubscription(Payload):
    """Body of POST /webhooks/subscribe (API §4.11)."""

    webhookId: WebhookNumber | None = Field(default=None, description="Number of the webhook (API §2.4).")
    callbackUrl: WebAddress = Field(description="URL that the service calls with events (API §2.4).")
    headers: dict[Key, Key] | None = Field(
        default=None, repr=False, description="Headers of each callback; they may hold secrets (API §2.4)."
    )
    verify_payload: bool | None = Field(default=None, description="Payload verification flag (API §2.4).")


class WebhookUpdate(Payload):
    """Body of PUT /webhooks/update.

    API §4.12 names "callback URL or active state" as examples and shows no fields: these are the subscription's, and
    `is_active`, which such services are seen to take.
    """

    webhookId: WebhookNumber | None = Field(default=None, description="Number of the webhook (API §2.4).")
    callbackUrl: WebAddress | None = Field(default=None, description="URL that the service calls (API §2.4, §4.12).")
    headers: dict[Key, Key] | None = Field(
        default=None, repr=False, description="Headers of each callback; they may hold secrets (API §2.4)."
    )
    verify_payload: bool | None = Field(default=None, description="Payload verification flag (API §2.4).")
    is_active: bool | None = Field(default=None, description="Whether events are sent; name not published (API §4.12).")

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


def _as_texts(value: object) -> list[str]:
    if value is None:
        return []
    many = value if isinstance(value, list) else [value]
    return [text for entry in many if (text := _as_text(entry))]


def _as_degrees(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None


def _as_object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


EventText = Annotated[str | None, BeforeValidator(_as_text)]
EventTexts = Annotated[list[str], BeforeValidator(_as_texts)]
EventDegrees = Annotated[float | None, BeforeValidator(_as_degrees)]


class _Received(BaseModel):
    """What others send: everything optional, what we do not know is kept."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True, defer_build=True)


class EventLocation(_Received):
    """Where the status changed, in degrees (API §6)."""

    lat: EventDegrees = Field(default=None, description="Latitude in degrees (API §6).")
    long: EventDegrees = Field(default=None, description="Longitude in degrees (API §6).")


class StatusEvent(_Received):
    """An event of the topic updateOrderStatus (API §6).

    Tolerant, for an event that cannot be read is lost: services send dialects with fields missing, null or of another
    type. An event is a hint, to be confirmed by fetching the order.
    """

    WaybillNo: EventText = Field(default=None, description="AWB number (API §6).")
    eventType: EventText = Field(default=None, description="Topic, updateOrderStatus (API §6).")
    OrderStatus: EventText = Field(default=None, description="Current status (API §6).")
    order_status: EventText = Field(default=None, description="The same status again (API §6).")
    StatusCode: EventText = Field(default=None, description="Status code (API §6).")
    CourierComment: EventText = Field(default=None, repr=False, description="Courier's comment (API §6).")
    StatusDateTime: EventText = Field(default=None, description="ISO 8601 date-time with offset (API §6).")
    ToMobileNumber: EventText = Field(default=None, repr=False, description="Recipient's phone (API §6).")
    ToEmail: EventText = Field(default=None, repr=False, description="Recipient's e-mail (API §6).")
    ToName: EventText = Field(default=None, repr=False, description="Recipient's name (API §6).")
    Client: EventText = Field(default=None, description="Client's name (API §6).")
    podDocs: EventTexts = Field(default_factory=list, description="Links to proofs of delivery (API §6).")
    EDD: EventText = Field(default=None, description="Expected delivery, ISO 8601 date-time (API §6).")
    order_no: EventText = Field(default=None, description="Customer's order number (API §6).")
    location: Annotated[EventLocation | None, BeforeValidator(_as_object)] = Field(
        default=None, description="Where the status changed (API §6)."
    )
    remarks: EventText = Field(default=None, repr=False, description="Free remark (API §6).")
