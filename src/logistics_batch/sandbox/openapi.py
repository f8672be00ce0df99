"""The OpenAPI 3.1 description of the service, for people, generators and testers of APIs."""

from typing import Any

from logistics_batch.sandbox.openapi_paths import operations
from logistics_batch.sandbox.openapi_schemas import answer_schemas, event_schema, ref, request_schemas

Document = dict[str, Any]

TAGS = {
    "Orders": "A delivery for an end recipient, with optional pickup and return legs.",
    "Advance shipping notices": "Goods on their way from a supplier to a warehouse.",
    "Labels": "A PDF for the parcel, behind a signed link that expires.",
    "Webhooks": "Where the service sends order status updates.",
}


def openapi_document() -> Document:
    """The whole service as one OpenAPI 3.1 document, without a server: the address is where it was read from."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Logistics service (sandbox)",
            "version": "1",
            "description": "Advance shipping notices, shipment orders, labels and status webhooks. "
            "Most answers are {status, message}; values are strings unless said otherwise. "
            "What the service's own document leaves open is described as the sandbox does it by default.",
        },
        "tags": [{"name": name, "description": description} for name, description in TAGS.items()],
        "security": [{"headerKey": []}],
        "paths": operations(),
        "webhooks": {"updateOrderStatus": {"post": _status_event()}},
        "components": {
            "securitySchemes": _security(),
            "schemas": request_schemas() | answer_schemas() | {"StatusEvent": event_schema()},
        },
    }


def _security() -> Document:
    """The key is a header, and a query parameter for label requests (API §5)."""
    key = {"type": "apiKey", "name": "API_KEY"}
    return {"headerKey": key | {"in": "header"}, "queryKey": key | {"in": "query"}}


def _status_event() -> Document:
    """What a subscriber receives (API §6); the headers of its subscription come along."""
    return {
        "operationId": "updateOrderStatus",
        "summary": "An order has a new status",
        "description": "Sent to the callback URL of every active webhook, with its headers; again later "
        "if the answer is not 2xx. The same status may arrive more than once, and not in order.",
        "tags": ["Webhooks"],
        "security": [],
        "requestBody": {"required": True, "content": {"application/json": {"schema": ref("StatusEvent")}}},
        "responses": {"2XX": {"description": "Taken; anything else is tried again."}},
    }
