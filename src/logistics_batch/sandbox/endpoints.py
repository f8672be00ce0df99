"""The names of the endpoints, for the journal and for fault plans."""

import re

_ENDPOINTS = (
    ("asn.fetch", "GET", r"/wms/advance-shipping-notice"),
    ("asn.create", "POST", r"/wms/advance-shipping-notice"),
    ("asn.update", "PUT", r"/wms/advance-shipping-notice"),
    ("label.create", "POST", r"/order/shippinglabel/"),
    ("order.fetch", "GET", r"/orders/shipment/(?P<id>[^/]+)"),
    ("order.create", "POST", r"/orders/shipment"),
    ("order.update", "PUT", r"/orders/shipment/(?P<id>[^/]+)"),
    ("order.add_items", "PUT", r"/orders/add/items/(?P<id>[^/]+)"),
    ("order.delete_items", "PUT", r"/orders/delete/items/(?P<id>[^/]+)"),
    ("order.cancel", "PUT", r"/api/orders/cancel/(?P<id>[^/]+)"),
    ("webhook.subscribe", "POST", r"/webhooks/subscribe"),
    ("webhook.update", "PUT", r"/webhooks/update"),
    ("label.download", "GET", r"/labels/(?P<id>[^/]+)\.pdf"),
)
UNKNOWN = "unknown"
LABEL_CREATE = "label.create"
LABEL_DOWNLOAD = "label.download"
CONTROL = "/_sandbox/"
ENDPOINT_NAMES = (*(name for name, _, _ in _ENDPOINTS), UNKNOWN)


def endpoint_of(method: str, path: str) -> tuple[str, str]:
    """The endpoint's name and the id in its path ("" without one)."""
    for name, its_method, pattern in _ENDPOINTS:
        match = re.fullmatch(pattern, path) if method == its_method else None
        if match:
            return name, match.groupdict().get("id", "")
    return UNKNOWN, ""


def allowed_methods(path: str) -> list[str]:
    """The methods that a path of the document knows."""
    return [method for _, method, pattern in _ENDPOINTS if re.fullmatch(pattern, path)]


def is_link(path: str) -> bool:
    """Whether a path is that of a signed link, which needs no key."""
    return endpoint_of("GET", path)[0] == LABEL_DOWNLOAD


def reference_in(content: object) -> str:
    """The reference, invoice number, AWB or order numbers that a body names; "" without one."""
    if not isinstance(content, dict):
        return ""
    names = ("reference_number", "invoice_number", "awb_number", "order_numbers[]")
    return next((str(content[name]) for name in names if content.get(name)), "")
