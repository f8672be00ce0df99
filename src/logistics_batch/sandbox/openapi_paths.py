"""The operations of the API description, each named as in the journal and in fault plans."""

from dataclasses import dataclass, field
from typing import Any

from logistics_batch.sandbox.contract import ASN_STATUSES, ORDER_NUMBERS
from logistics_batch.sandbox.openapi_schemas import Schema, ref

PathItem = dict[str, Any]

ORDERS, ASNS, LABELS, WEBHOOKS = "Orders", "Advance shipping notices", "Labels", "Webhooks"
ASN_PATH = "/wms/advance-shipping-notice"
_BY_QUERY: list[PathItem] = [{"queryKey": []}]
_AWB = "$response.body#/message/awb_number"


@dataclass(frozen=True)
class Operation:
    """One operation: its name, its section of the document, what it takes and what 200 brings."""

    name: str
    method: str
    path: str
    section: str
    tag: str
    summary: str
    answer: str
    body: str = ""
    example: dict[str, Any] = field(default_factory=dict)
    order_id: str = ""
    links: dict[str, Any] = field(default_factory=dict)

    def described(self) -> PathItem:
        """The OpenAPI Operation Object."""
        described: PathItem = {
            "operationId": self.name,
            "tags": [self.tag],
            "summary": self.summary,
            "description": f"API §{self.section}",
            "responses": self._responses(),
        }
        if self.order_id:
            described["parameters"] = [_path_parameter("orderId", _STRING, self.order_id)]
        if self.body:
            content = {"schema": ref(self.body), "example": self.example}
            described["requestBody"] = {"required": True, "content": {"application/json": content}}
        return described

    def _responses(self) -> PathItem:
        good: PathItem = {"description": "Done", "content": {"application/json": {"schema": ref(self.answer)}}}
        failures = {
            "400": "A required value is missing, or data are malformed; or the order's state does not allow it",
            "401": "The API key is missing or wrong",
            "500": "Unexpected failure",
        }
        if self.body:
            failures["413"] = "The body is too large"
        return {
            "200": good | ({"links": self.links} if self.links else {}),
            **{status: failure(why) for status, why in sorted(failures.items())},
        }


_STRING: Schema = {"type": "string", "minLength": 1}
_ID = "AWB number or order id"
_ITEM = {"item_name": "TEA-250", "item_quantity": 2, "item_price_per_each": "120.00", "total_item_price": "240.00"}
_RECIPIENT = {
    "customer_name": "Asha Rao",
    "customer_mobile": "9876543210",
    "delivery_address": "12 MG Road, Pune",
    "delivery_postal_code": "411001",
}
_ASN = {
    "supplier_name": "Assam Tea Traders",
    "site_name": "Bhiwandi DC",
    "invoice_number": "INV-1001",
    "delivery_date": "2026-03-31",
    "sku_lines": [{"sku_name": "TEA-250", "qty": "40", "price_per_qty": "95.00"}],
}


def failure(why: str) -> PathItem:
    """A response with the FAIL envelope (API §7)."""
    return {"description": why, "content": {"application/json": {"schema": ref("Failed")}}}


def operations() -> dict[str, PathItem]:
    """The Paths Object: every endpoint of the document and the label link."""
    paths: dict[str, PathItem] = {}
    for operation in (*_orders(), *_asns(), *_label_and_webhooks()):
        paths.setdefault(operation.path, {})[operation.method] = operation.described()
    paths[ASN_PATH] = {"get": _asn_fetch(), **paths[ASN_PATH]}
    paths["/order/shippinglabel/"]["post"]["security"] = _BY_QUERY
    paths["/labels/{labelId}.pdf"] = {"get": _download()}
    return paths


def _orders() -> list[Operation]:
    return [
        Operation(
            name="order.create",
            method="post",
            path="/orders/shipment",
            section="4.6",
            tag=ORDERS,
            summary="Create an order",
            answer="OrderCreated",
            body="Order",
            example={"reference_number": "ORD-1001", **_RECIPIENT, "item_details": [_ITEM]},
            links=_links_of_an_order(),
        ),
        Operation(
            name="order.fetch",
            method="get",
            path="/orders/shipment/{orderId}",
            section="4.5",
            tag=ORDERS,
            summary="Fetch an order",
            answer="OrderFetched",
            order_id=f"{_ID}; also the reference number, as the switch order_id_reading says",
        ),
        Operation(
            name="order.update",
            method="put",
            path="/orders/shipment/{orderId}",
            section="4.7",
            tag=ORDERS,
            summary="Update an order",
            answer="OrderChanged",
            body="OrderUpdate",
            example=_RECIPIENT | {"delivery_address": "14 MG Road, Pune"},
            order_id=_ID,
        ),
        *_items_and_cancel(),
    ]


def _items_and_cancel() -> list[Operation]:
    return [
        Operation(
            name="order.add_items",
            method="put",
            path="/orders/add/items/{orderId}",
            section="4.8",
            tag=ORDERS,
            summary="Add items to an order",
            answer="OrderChanged",
            body="AddedItems",
            example={"item_details": {"extra-1": {"item_name": "TEA-500", "item_quantity": 1}}},
            order_id=_ID,
        ),
        Operation(
            name="order.delete_items",
            method="put",
            path="/orders/delete/items/{orderId}",
            section="4.9",
            tag=ORDERS,
            summary="Delete items from an order",
            answer="Passed",
            body="DeletedItems",
            example={"item_list": ["extra-1"]},
            order_id=_ID,
        ),
        Operation(
            name="order.cancel",
            method="put",
            path="/api/orders/cancel/{orderId}",
            section="4.10",
            tag=ORDERS,
            summary="Cancel an order that is Pending or Pickup-Failed",
            answer="Passed",
            order_id=_ID,
        ),
    ]


def _asns() -> list[Operation]:
    found = {"operationId": "asn.fetch", "parameters": {"invoice_number": "$request.body#/invoice_number"}}
    again = {"operationId": "asn.update", "requestBody": "$request.body"}
    return [
        Operation(
            name="asn.create",
            method="post",
            path=ASN_PATH,
            section="4.2",
            tag=ASNS,
            summary="Create an ASN",
            answer="AsnStored",
            body="Asn",
            example=_ASN,
            links={"fetch": found, "update": again},
        ),
        Operation(
            name="asn.update",
            method="put",
            path=ASN_PATH,
            section="4.3",
            tag=ASNS,
            summary="Update the ASN with this supplier, site and invoice number",
            answer="AsnStored",
            body="Asn",
            example=_ASN | {"status": "In-Progress"},
            links={"fetch": found},
        ),
    ]


def _label_and_webhooks() -> list[Operation]:
    webhook = {"webhookId": 1, "callbackUrl": "http://127.0.0.1:9/events", "headers": {"API_KEY": "a secret of yours"}}
    update = {"operationId": "webhook.update", "requestBody": "$request.body"}
    return [
        Operation(
            name="label.create",
            method="post",
            path="/order/shippinglabel/",
            section="4.4",
            tag=LABELS,
            summary="Get a link to a label",
            answer="LabelLink",
            body="LabelRequest",
            example={ORDER_NUMBERS: "ORD-1001"},
            links={"download": _link_to_the_label()},
        ),
        Operation(
            name="webhook.subscribe",
            method="post",
            path="/webhooks/subscribe",
            section="4.11",
            tag=WEBHOOKS,
            summary="Subscribe to order status updates",
            answer="Passed",
            body="Webhook",
            example=webhook,
            links={"update": update},
        ),
        Operation(
            name="webhook.update",
            method="put",
            path="/webhooks/update",
            section="4.12",
            tag=WEBHOOKS,
            summary="Change a subscription, or switch it off",
            answer="Passed",
            body="WebhookUpdate",
            example={"webhookId": 1, "is_active": False},
        ),
    ]


def _links_of_an_order() -> dict[str, Any]:
    """How a created order is reached by the other operations."""
    names = ("order.fetch", "order.update", "order.add_items", "order.delete_items", "order.cancel")
    links: dict[str, Any] = {name: {"operationId": name, "parameters": {"orderId": _AWB}} for name in names}
    return links | {"label.create": {"operationId": "label.create", "requestBody": {ORDER_NUMBERS: _AWB}}}


def _link_to_the_label() -> dict[str, Any]:
    """The parts of the signed URL; ``#regex:`` is understood by testers of APIs, not by the OpenAPI standard."""
    url = "$response.body#/url#regex:"
    parts = {"labelId": r"labels/(\d+)\.pdf", "expires": r"expires=(\d+)", "signature": r"signature=([0-9a-f]+)"}
    return {"operationId": "label.download", "parameters": {name: url + part for name, part in parts.items()}}


def _asn_fetch() -> PathItem:
    texts = {
        "description": "Full or partial description",
        "site": "Site id",
        "site_name": "Site name, or part of it",
        "invoice_number": "Invoice number",
        "supplier": "Supplier id",
        "supplier_name": "Supplier name, or part of it",
    }
    day: Schema = {"anyOf": [{"type": "string", "format": "date"}, {"const": ""}]}
    ends = [(name, end) for name in ("delivery_date", "created_date", "modified_date") for end in ("start", "end")]
    fetch = Operation(
        name="asn.fetch",
        method="get",
        path=ASN_PATH,
        section="4.1",
        tag=ASNS,
        summary="Search ASNs",
        answer="AsnList",
    ).described()
    fetch["description"] += (
        ". At least one of these is needed: both ends of a date range, or invoice_number. "
        "A range counts only with both of its ends, and includes them. A blank value counts as not given."
    )
    fetch["parameters"] = [
        *(_query_parameter(name, {"type": "string"}, says) for name, says in texts.items()),
        _query_parameter("status", {"enum": [*ASN_STATUSES, ""]}, "Status"),
        *(_query_parameter(f"{name}_{end}", day, f"{end.capitalize()} of the range") for name, end in ends),
    ]
    return fetch


def _download() -> PathItem:
    xml = {"application/xml": {"schema": {"type": "string"}}}
    pdf = {"application/pdf": {"schema": {"type": "string", "contentMediaType": "application/pdf"}}}
    return {
        "operationId": "label.download",
        "tags": [LABELS],
        "summary": "Download a label",
        "description": "API §4.4, §8.5: the time-limited link that a label request answers with; it needs no key",
        "security": [],
        "parameters": [
            _path_parameter("labelId", {"type": "integer", "minimum": 1}, "Number of the label"),
            _query_parameter("expires", {"type": "string", "pattern": "^[0-9]{1,12}$"}, "Unix time", required=True),
            _query_parameter("signature", {"type": "string", "pattern": "^[0-9a-f]{64}$"}, "Signature", required=True),
        ],
        "responses": {
            "200": {"description": "The label, 4 x 6 inches a page", "content": pdf},
            "400": failure("The label has no number"),
            "403": {"description": "The signature is wrong or the link has expired", "content": xml},
        },
    }


def _path_parameter(name: str, schema: Schema, says: str) -> PathItem:
    return {"name": name, "in": "path", "required": True, "description": says, "schema": schema}


def _query_parameter(name: str, schema: Schema, says: str, *, required: bool = False) -> PathItem:
    return {"name": name, "in": "query", "required": required, "description": says, "schema": schema}
