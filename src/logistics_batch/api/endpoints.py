"""The twelve endpoints (API §4), and where and how a service is reached."""

import difflib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, urlsplit

from logistics_batch.api.reply import LARGEST_BODY_BYTES, LARGEST_LIST_BYTES
from logistics_batch.api.secret import Secret
from logistics_batch.errors import SettingsError, UsageError

_ORDER_ID = "{orderId}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One call of the API.

    key_in_query: the API key is a query parameter here instead of a header (API §4.4).
    creates: a second call may make a second thing. lists: it answers with all of a range of dates.
    """

    name: str
    method: str
    path_template: str
    key_in_query: bool = False
    creates: bool = False
    lists: bool = False

    @property
    def needs_order_id(self) -> bool:
        """Whether the path names an order."""
        return _ORDER_ID in self.path_template


ENDPOINTS: Final[Mapping[str, Endpoint]] = MappingProxyType(
    {
        endpoint.name: endpoint
        for endpoint in (
            Endpoint("asn.fetch", "GET", "/wms/advance-shipping-notice", lists=True),
            Endpoint("asn.create", "POST", "/wms/advance-shipping-notice", creates=True),
            Endpoint("asn.update", "PUT", "/wms/advance-shipping-notice"),
            Endpoint("label.create", "POST", "/order/shippinglabel/", key_in_query=True),
            Endpoint("order.fetch", "GET", "/orders/shipment/{orderId}"),
            Endpoint("order.create", "POST", "/orders/shipment", creates=True),
            Endpoint("order.update", "PUT", "/orders/shipment/{orderId}"),
            Endpoint("order.add_items", "PUT", "/orders/add/items/{orderId}", creates=True),
            Endpoint("order.delete_items", "PUT", "/orders/delete/items/{orderId}"),
            Endpoint("order.cancel", "PUT", "/api/orders/cancel/{orderId}"),
            Endpoint("webhook.subscribe", "POST", "/webhooks/subscribe"),
            Endpoint("webhook.update", "PUT", "/webhooks/update"),
        )
    }
)


def find_endpoint(name: str) -> Endpoint:
    """The endpoint of this name.

    Raises:
        UsageError: there is none; names the nearest.
    """
    if name not in ENDPOINTS:
        raise UsageError(f"There is no call “{name}”.", remedy=_nearest(name))
    return ENDPOINTS[name]


def fill_path(template: str, *, order_id: str | None) -> str:
    """The path with the order's id in it, percent-encoded so that it stays one step of the path.

    Raises:
        UsageError: an id is missing, not wanted, or cannot be a step of a path.
    """
    if _ORDER_ID not in template:
        if order_id is not None:
            raise UsageError(f"The call to {template} takes no order id.")
        return template
    if not order_id or order_id in (".", ".."):
        raise UsageError(f"The call to {template} needs the id of an order.", remedy="Give its AWB number.")
    return template.replace(_ORDER_ID, quote(order_id, safe=""))


@dataclass(frozen=True)
class ServiceAccess:
    """How the service is reached.

    base_url: https://…, perhaps with a path in front of the API's own paths; http:// only for this machine.
    paths: other paths than the contract's, by endpoint name. deadline_seconds: for a whole call, from its first
    packet to the last byte of the answer; create_deadline_seconds: the same for calls that create something.
    ca_file: a PEM file of the certificate authorities to trust instead of the public ones. proxy: http://host:port.
    largest_list_bytes: so much is read of an answer that lists what lies in a range of dates.

    Raises SettingsError, with a remedy, if something of this cannot be.
    """

    base_url: str
    api_key: Secret
    paths: Mapping[str, str] = field(default_factory=dict)
    deadline_seconds: float = 45.0
    create_deadline_seconds: float = 60.0
    ca_file: str | None = None
    proxy: str | None = field(default=None, repr=False)  # may hold a password
    largest_list_bytes: int = LARGEST_LIST_BYTES

    def __post_init__(self) -> None:
        _check_base_url(self.base_url)
        _check_key(self.api_key)
        for name, path in self.paths.items():
            _check_path(name, path)
        if not (self.deadline_seconds > 0 and self.create_deadline_seconds > 0):
            raise SettingsError("A deadline must be longer than 0 s.", remedy="Write it as 45s, for example.")
        if self.proxy is not None:
            _check_proxy(self.proxy)

    def template(self, endpoint: Endpoint) -> str:
        """The endpoint's path as set, or as in the contract."""
        return self.paths.get(endpoint.name, endpoint.path_template)

    def largest_bytes(self, endpoint: Endpoint) -> int:
        """How much is read of an answer of this call."""
        return self.largest_list_bytes if endpoint.lists else LARGEST_BODY_BYTES

    def warnings(self) -> tuple[str, ...]:
        """What is probably not meant, in words for `doctor`."""
        base = urlsplit(self.base_url).path.rstrip("/")
        if base.endswith("/api") and "order.cancel" not in self.paths:
            warning = (
                "service.base_url ends in /api, and the path for cancelling an order begins with /api as well (API "
                f"§4.10): cancelling goes to {base}/api/orders/cancel/…. If that is wrong, set service.paths "
                '"order.cancel" = "/orders/cancel/{orderId}".'
            )
            return (warning,)
        return ()


def _nearest(name: str) -> str:
    near = difflib.get_close_matches(name, ENDPOINTS, n=1)
    return f"Did you mean {near[0]}?" if near else "Known are: " + ", ".join(ENDPOINTS) + "."


def _check_base_url(base_url: str) -> None:
    remedy = "Write it as https://host or https://host/path in service.base_url."
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
        (host or "").encode("idna")
    except ValueError as error:  # UnicodeError is one
        raise SettingsError("service.base_url is not an address.", remedy=remedy) from error
    if parts.username is not None or parts.password is not None:
        raise SettingsError(
            "service.base_url holds a user name or password.", remedy="Remove it; the key belongs into service.api_key."
        )
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or _has_gaps(base_url):
        raise SettingsError(f"service.base_url “{base_url}” is not an address of a service.", remedy=remedy)
    if parts.scheme == "http" and not _is_this_machine(host):
        raise SettingsError(
            f"service.base_url “{base_url}” is not encrypted: the API key and addresses of people would be readable "
            "on the way.",
            remedy=f"Write https://{host}…; http:// is accepted for this machine only (127.0.0.1, ::1, localhost).",
        )


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _has_gaps(text: str) -> bool:
    return any(character.isspace() or not character.isprintable() for character in text)


def _check_key(key: Secret) -> None:
    value = key.reveal()
    if not value:
        raise SettingsError("The API key is empty.", remedy="Set service.api_key_file or service.api_key.")
    if not all("!" <= character <= "~" for character in value):
        raise SettingsError(
            "The API key holds a blank, a line break or a letter that no header can carry.",
            remedy="Copy the key again, alone and on one line, into the file that service.api_key_file names.",
        )


def _check_path(name: str, path: str) -> None:
    if name not in ENDPOINTS:
        raise SettingsError(f"service.paths has no call “{name}”.", remedy=_nearest(name))
    needs_id = ENDPOINTS[name].needs_order_id
    steps = path.replace(_ORDER_ID, "id").split("/")
    sound = path.startswith("/") and not path.startswith("//") and not _has_gaps(path)
    if not sound or any(sign in path.replace(_ORDER_ID, "") for sign in "?#{}\\") or {".", ".."} & set(steps):
        raise SettingsError(
            f"The path “{path}” of {name} under service.paths cannot be used.",
            remedy="Write a path that begins with one /, such as " + ENDPOINTS[name].path_template + ".",
        )
    if needs_id != (path.count(_ORDER_ID) == 1):
        wanted = "must hold {orderId} once" if needs_id else "must not hold {orderId}"
        raise SettingsError(
            f"The path “{path}” of {name} under service.paths {wanted}.",
            remedy=f"The contract's path is {ENDPOINTS[name].path_template}.",
        )


def _check_proxy(proxy: str) -> None:
    try:
        parts = urlsplit(proxy)
        sound = parts.scheme == "http" and bool(parts.hostname) and parts.port is not None
    except ValueError:
        sound = False
    if not sound or parts.path not in ("", "/") or parts.query or parts.fragment or _has_gaps(proxy):
        raise SettingsError(
            "service.proxy is not an address of a proxy.", remedy="Write it as http://host:port in service.proxy."
        )
