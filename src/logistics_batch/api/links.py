"""Downloads the PDF behind a signed label link (API §4.4), and nothing else.

Whoever controls the reply of the label call chooses the link, so it must not make us knock at other doors: only the
service's own host and port, or listed hosts over https at public addresses, are ever connected to. A name is resolved
once and the connection goes to that very address. Where the settings name a proxy, calls and links alike go through
it, and it is the proxy that looks up the name: a listed host then has to prove its name by its certificate before it
is asked anything. The link is a bearer secret: it goes into no message, log or exception. The API key, cookies,
redirects and proxies from the environment play no part here.
"""

import ipaddress
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

import httpcore

from logistics_batch.api.transport import (
    Deadline,
    TimedNetwork,
    addresses_of,
    is_literal,
    proxy_of,
    system_resolve,
    verifying,
)

Resolve = Callable[[str, int], Sequence[str]]

_DEFAULT_PORTS = {"http": 80, "https": 443}

# What `is_global` of some Python versions lets through, and addresses that look public but lead inside a cloud.
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "168.63.129.16/32",  # Azure's inner services
        "2001::/23",  # IETF assignments, Teredo, ORCHID
        "2001:db8::/32",
        "2002::/16",  # 6to4: holds an IPv4 address
        "3fff::/20",
        "5f00::/16",
    )
)
_GLOBAL_UNICAST_V6 = ipaddress.ip_network("2000::/3")


class LinkProblem(StrEnum):
    """Why a download failed."""

    FORBIDDEN = "forbidden"  # the guards refused the link; nothing was sent
    EXPIRED = "expired"  # 403, 404 or 410: a new link may help
    STATUS = "status"  # any other answer than 200, redirects too
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    CUT = "cut"  # the answer ended early or was no HTTP
    TOO_LARGE = "too_large"


@dataclass(frozen=True, slots=True)
class LinkFailure:
    """A download that gave no file; `message` is for a report and holds no part of the link but its host."""

    kind: LinkProblem
    message: str


@dataclass(frozen=True, slots=True)
class LinkWay:
    """Where links may lead, and how: as calls do.

    base_url: the service's own. allowed_hosts: further ones, as `host` or `host:port`. ca_file: who vouches for the
    service's own host; None for the public authorities, which vouch for all others. proxy: http://host:port.
    deadline_seconds, size_bytes: how long a whole download may take, and how large the file may be.
    """

    base_url: str
    allowed_hosts: Sequence[str] = ()
    ca_file: str | None = None
    proxy: str | None = field(default=None, repr=False)  # may hold a password
    deadline_seconds: float = 45.0
    size_bytes: int = 20_000_000


@dataclass(frozen=True, slots=True)
class _Target:
    scheme: str
    host: str
    port: int
    path: str
    own: bool

    @property
    def host_header(self) -> bytes:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return (name if self.port == _DEFAULT_PORTS[self.scheme] else f"{name}:{self.port}").encode("ascii")


class _Refused(Exception):
    """The guards or the answer say no; carries the failure to report."""

    def __init__(self, kind: LinkProblem, message: str) -> None:
        super().__init__(message)
        self.failure = LinkFailure(kind, message)


def is_public(address: str) -> bool:
    """Whether an IP address is an ordinary one of the public Internet.

    Private, loopback, link-local, shared, multicast, documentation and cloud-metadata addresses are not, nor is any
    IPv6 form that carries an IPv4 address inside.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if not ip.is_global or ip.is_multicast or ip.is_reserved:
        return False
    if ip.version == 6 and (ip.scope_id is not None or ip not in _GLOBAL_UNICAST_V6):
        return False
    return not any(ip.version == net.version and ip in net for net in _NEVER)


class LinkFetcher:
    """Fetches label links; safe to share between threads (each download has its own connection)."""

    def __init__(
        self,
        way: LinkWay,
        *,
        resolve: Resolve = system_resolve,
        network: httpcore.NetworkBackend | None = None,
    ) -> None:
        """Guard links; resolve and network are seams: how a name becomes addresses, what connects to one of them."""
        base = urlsplit(way.base_url)
        self._own = (base.scheme, (base.hostname or "").lower(), base.port or _DEFAULT_PORTS.get(base.scheme, 0))
        self._allowed = frozenset(_with_port(host) for host in way.allowed_hosts)
        self._way = way
        self._resolve = resolve
        self._network = network or httpcore.SyncBackend()

    def download(self, url: str) -> bytes | LinkFailure:
        """The file behind a link, or why there is none; never raises for what the network does."""
        deadline = Deadline(self._way.deadline_seconds)
        try:
            target = self._judge(url)
            return self._get(target, self._network_for(target, deadline))
        except _Refused as refused:
            return refused.failure

    def _judge(self, url: str) -> _Target:
        parts = _split(url)
        host = (parts.hostname or "").lower()
        scheme = parts.scheme
        port = parts.port or _DEFAULT_PORTS[scheme]
        target = parts.path or "/"
        target = f"{target}?{parts.query}" if parts.query else target
        if (scheme, host, port) == self._own:
            return _Target(scheme, host, port, target, own=True)
        if (host, port) not in self._allowed:
            raise _Refused(
                LinkProblem.FORBIDDEN,
                f"the link leads to {host}:{port}, which is not listed in label_hosts of [service]; "
                "list it once the operator of the service confirms it",
            )
        if scheme != "https":
            raise _Refused(LinkProblem.FORBIDDEN, f"the link to {host} is not https")
        return _Target(scheme, host, port, target, own=False)

    def _network_for(self, target: _Target, deadline: Deadline) -> TimedNetwork:
        """The network that connects to the addresses that were judged, whatever name is asked for."""
        if self._way.proxy is None:
            addresses = self._addresses(target, deadline)
            return TimedNetwork(deadline, resolve=lambda *_: addresses, connect=self._network)
        # Inside, names of the world are often not to be had. A listed host proves its name by its certificate.
        if not target.own and is_literal(target.host):
            _check_public(target, [target.host])
        return TimedNetwork(deadline)

    def _addresses(self, target: _Target, deadline: Deadline) -> Sequence[str]:
        try:
            addresses = addresses_of(target.host, target.port, deadline, resolve=self._resolve)
        except httpcore.ConnectTimeout:
            text = "the name of the label's host was not resolved in time"
            raise _Refused(LinkProblem.TIMEOUT, text) from None
        except httpcore.ConnectError:
            addresses = ()
        if not addresses:
            raise _Refused(LinkProblem.UNREACHABLE, f"the name {target.host} has no address")
        if not target.own:
            _check_public(target, addresses)
        return addresses

    def _get(self, target: _Target, network: httpcore.NetworkBackend) -> bytes:
        url = httpcore.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode("ascii"),
            port=target.port,
            target=target.path.encode("ascii"),
        )
        headers = [
            (b"Host", target.host_header),
            (b"Accept", b"application/pdf"),
            (b"Accept-Encoding", b"identity"),
            (b"User-Agent", b"logistics-batch"),
            (b"Connection", b"close"),
        ]
        try:
            with self._connections(target, network) as connections:
                return self._body(connections.handle_request(httpcore.Request(b"GET", url, headers=headers)))
        except httpcore.TimeoutException as exc:
            late = f"{target.host} did not deliver the label within {self._way.deadline_seconds:g} s"
            raise _Refused(LinkProblem.TIMEOUT, late) from exc
        except httpcore.ProtocolError as exc:
            raise _Refused(LinkProblem.CUT, f"the answer of {target.host} broke off or is no HTTP") from exc
        except (httpcore.NetworkError, httpcore.ProxyError) as exc:
            raise _Refused(LinkProblem.UNREACHABLE, self._unreachable(exc, target.host)) from exc

    def _connections(self, target: _Target, network: httpcore.NetworkBackend) -> httpcore.ConnectionPool:
        # A private authority vouches for the service's own host only.
        authorities = self._way.ca_file if target.own else None
        return httpcore.ConnectionPool(
            ssl_context=verifying(authorities) if target.scheme == "https" else None,
            proxy=proxy_of(self._way.proxy) if self._way.proxy else None,
            max_connections=1,
            max_keepalive_connections=0,
            network_backend=network,
        )

    def _body(self, response: httpcore.Response) -> bytes:
        headers = {name.lower(): value for name, value in response.headers}
        if response.status != 200:
            raise _refused_status(response.status)
        if headers.get(b"content-encoding", b"identity").lower() not in (b"identity", b""):
            raise _Refused(LinkProblem.CUT, "the label came compressed although it was asked for as it is")
        content = bytearray()
        for chunk in response.iter_stream():
            content += chunk
            if len(content) > self._way.size_bytes:
                size = self._way.size_bytes / 1_000_000
                raise _Refused(LinkProblem.TOO_LARGE, f"the label file is larger than {size:g} MB")
        return bytes(content)

    def _unreachable(self, exc: Exception, host: str) -> str:
        if _is_of_tls(exc):
            return f"the TLS certificate or handshake of {host} is not acceptable"
        return f"{host} cannot be reached" + (" through the proxy of [service]" if self._way.proxy else "")


def _with_port(host: str) -> tuple[str, int]:
    parts = urlsplit(f"//{host}")
    return (parts.hostname or "").lower(), parts.port or 443


def _split(url: str) -> SplitResult:
    """The parts of a link that has nothing in it about which two parsers could disagree."""
    strange = not url.isascii() or any(char <= " " or char in '\\"<>^`{|}\x7f' for char in url)
    try:
        parts = urlsplit(url)
        port_is_sane = parts.port != 0
    except ValueError:
        strange, port_is_sane, parts = True, False, SplitResult("", "", "", "", "")
    if strange or not port_is_sane or not parts.hostname or "%" in parts.netloc:
        raise _Refused(LinkProblem.FORBIDDEN, "the label link is not a plain web address")
    if parts.scheme not in _DEFAULT_PORTS:
        raise _Refused(LinkProblem.FORBIDDEN, "the label link is neither https nor http")
    if "@" in parts.netloc:
        raise _Refused(LinkProblem.FORBIDDEN, "the label link carries a user name")
    return parts


def _refused_status(status: int) -> _Refused:
    if status in (403, 404, 410):
        return _Refused(LinkProblem.EXPIRED, f"the label link has expired (HTTP {status})")
    if 300 <= status < 400:
        return _Refused(LinkProblem.STATUS, f"the label link redirects (HTTP {status}); redirects are not followed")
    return _Refused(LinkProblem.STATUS, f"the label link answered HTTP {status}")


def _check_public(target: _Target, addresses: Sequence[str]) -> None:
    if not all(is_public(address) for address in addresses):
        raise _Refused(LinkProblem.FORBIDDEN, f"the link's host {target.host} has an address that is not public")


def _is_of_tls(exc: Exception) -> bool:
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
