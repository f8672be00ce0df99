"""The routes of the contract and the OpenAPI document that FastAPI writes of them."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import FastAPI, Path
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from logistics_batch.sandbox.contract.forms import Refused, Schema, refusal
from logistics_batch.sandbox.contract.replies import Failed, Reply, StatusEvent
from logistics_batch.sandbox.service import json_body

ORDERS, ASNS, LABELS, WEBHOOKS = "Orders", "Advance shipping notices", "Labels", "Webhooks"
_TAGS = {
    ORDERS: "A delivery for an end recipient, with optional pickup and return legs.",
    ASNS: "Goods on their way from a supplier to a warehouse.",
    LABELS: "A PDF for the parcel, behind a signed link that expires.",
    WEBHOOKS: "Where the service sends order status updates.",
}
_FAILURES = {
    400: "A required value is missing, or data are malformed; or the order's state does not allow it",
    401: "The API key is missing or wrong",
    413: "The body is too large",
    500: "Unexpected failure",
}
_ABOUT = (
    "Advance shipping notices, shipment orders, labels and status webhooks. Most answers are {status, message}; values "
    "are strings unless said otherwise. What the service's own document leaves open is described as the sandbox does "
    "it by default."
)
_KEYS = {  # API §5
    "headerKey": {"type": "apiKey", "name": "API_KEY", "in": "header"},
    "queryKey": {"type": "apiKey", "name": "API_KEY", "in": "query"},
}

OrderId = Annotated[
    str,
    Path(
        alias="orderId",
        min_length=1,
        description="AWB number or order id; for fetch also the reference number, as the switch order_id_reading says",
    ),
]


class StrictRequest(Request):
    """A request whose body is JSON by the letter: UTF-8, no duplicate keys, no NaN, no broken text."""

    async def json(self) -> Any:
        """The body as an object."""
        if not hasattr(self, "_json"):
            self._json = await json_body(self)
        return self._json


class ContractRoute(APIRoute):
    """A route that answers as the document has it: 400 with FAIL and a message for a body of another form (API §7)."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        options["summary"] = options.get("summary") or (endpoint.__doc__ or "").rstrip(".")
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler with the service's own refusals."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            strict = StrictRequest(request.scope, request.receive)
            if self.body_field is not None:
                await strict.json()
            try:
                return await handle(strict)
            except RequestValidationError as error:
                errors = [one | {"loc": one["loc"][1:]} for one in error.errors()]
                raise Refused(refusal(errors)) from None

        return handle_strictly


def documented(
    name: str, section: str, answer: type[Reply], *, tag: str, links: Schema | None = None
) -> dict[str, Any]:
    """What a route of the document says of itself: its name as in the journal, its section, and its answers."""
    good: dict[str, Any] = {"model": answer, "description": "Done"} | ({"links": links} if links else {})
    failures: dict[int | str, dict[str, Any]] = {
        status: {"model": Failed, "description": why} for status, why in _FAILURES.items()
    }
    return {
        "operation_id": name,
        "tags": [tag],
        "description": f"API §{section}",
        "response_model": None,
        "responses": {200: good, **failures},
    }


class ContractApi(FastAPI):
    """The service with its document (OpenAPI 3.1), without a server: the address is where it was read from."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            title="Logistics service (sandbox)",
            version="1",
            description=_ABOUT,
            openapi_tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
            redirect_slashes=False,
            docs_url=None,
            redoc_url=None,
            openapi_url=None,
            separate_input_output_schemas=False,
            **options,
        )
        self.webhooks.post(
            "updateOrderStatus",
            operation_id="updateOrderStatus",
            summary="An order has a new status",
            description="Sent to the callback URL of every active webhook, with its headers; again later if the answer "
            "is not 2xx. The same status may arrive more than once, and not in order.",
            tags=[WEBHOOKS],
            openapi_extra={"security": []},
        )(_send_event)

    def openapi(self) -> dict[str, Any]:
        """The document: FastAPI's, with the keys, and without the 422 that this service never answers."""
        if self.openapi_schema is None:
            document = super().openapi()
            document["security"] = [{"headerKey": []}]
            document["components"]["securitySchemes"] = _KEYS
            for paths in (document["paths"], document["webhooks"]):
                for item in paths.values():
                    for operation in item.values():
                        operation["responses"].pop("422", None)
            for name in ("HTTPValidationError", "ValidationError"):
                document["components"]["schemas"].pop(name, None)
        return self.openapi_schema or {}


async def _send_event(event: StatusEvent) -> None:
    """Tell a subscriber of a new status (API §6)."""
