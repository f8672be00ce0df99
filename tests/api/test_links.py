"""Label links: which doors are knocked at, what goes over the wire, and what a bad answer becomes."""

import logging
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpcore
import pytest
from support.certificates import authority
from support.raw_servers import answering, dripping, serving, tunnelling

from logistics_batch.api.links import LinkFailure, LinkFetcher, LinkProblem, LinkWay, is_public

PUBLIC = "93.184.216.34"
PDF = b"%PDF-1.4 label %%EOF"
SECRET_PART = "signature=SECRETSECRET"


class _Wire(httpcore.NetworkStream):
    """Our end of a connection to nowhere; TLS is only noted."""

    def __init__(self, end: socket.socket, tls_names: list[str | None]) -> None:
        self._end = end
        self._tls_names = tls_names

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._end.settimeout(timeout)
        return self._end.recv(max_bytes)

    def close(self) -> None:
        self._end.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        self._tls_names.append(server_hostname)
        assert ssl_context.check_hostname
        assert ssl_context.verify_mode is ssl.CERT_REQUIRED
        return self

    def get_extra_info(self, info: str) -> socket.socket | None:
        return self._end if info == "socket" else None


class Spy(httpcore.NetworkBackend):
    """Records every address that is connected to; behind each lies a pair of sockets with one fixed reply in it."""

    def __init__(self) -> None:
        self.connected: list[tuple[str, int]] = []
        self.tls_names: list[str | None] = []
        self.reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(PDF), PDF)
        self._far_ends: list[socket.socket] = []

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: object = None,
    ) -> httpcore.NetworkStream:
        self.connected.append((host, port))
        near, far = socket.socketpair()
        far.sendall(self.reply)
        far.shutdown(socket.SHUT_WR)
        self._far_ends.append(far)
        return _Wire(near, self.tls_names)

    def written(self) -> bytes:
        """All that was written on the latest connection, which is closed by now."""
        with self._far_ends.pop() as far:
            return b"".join(iter(lambda: far.recv(65536), b""))


class Names:
    """A resolver that answers from a table and counts how often it was asked."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.addresses


def fetcher(spy: Spy, names: Names) -> LinkFetcher:
    return LinkFetcher(
        LinkWay("http://127.0.0.1:8080/api", ["labels.example.com", "cdn.example.com:8443"]),
        resolve=names,
        network=spy,
    )


FORBIDDEN_ADDRESSES = [
    "10.0.0.5",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.1.1",
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "0.1.2.3",
    "100.64.0.1",
    "100.100.100.200",  # a cloud's metadata service in shared space
    "169.254.0.1",
    "169.254.169.254",  # most clouds' metadata service
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.10",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",  # a cloud's metadata service over IPv6
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:93.184.216.34",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1",
    "100::1",
    "2001::7f00:1",  # Teredo
    "2001:db8::1",
    "2002:7f00:1::1",  # 6to4 of 127.0.0.1
    "3fff::1",
    "5f00::1",
    "not an address",
]

FORBIDDEN_LINKS = [
    "http://labels.example.com/x.pdf",
    "https://labels.example.com:444/x.pdf",
    "https://other.example.com/x.pdf",
    "https://labels.example.com.evil.test/x.pdf",
    "https://evil.test/labels.example.com/x.pdf",
    "https://labels.example.com@evil.test/x.pdf",
    "https://user:pass@labels.example.com/x.pdf",
    "https://user@labels.example.com/x.pdf",
    "https://evil.test#@labels.example.com/",
    "https://labels.example.com\\@evil.test/x.pdf",
    "https://evil.test\\labels.example.com/x.pdf",
    "https://127.0.0.1/x.pdf",
    "https://2130706433/x.pdf",
    "https://0x7f000001/x.pdf",
    "https://0177.0.0.1/x.pdf",
    "https://127.1/x.pdf",
    "https://[::1]/x.pdf",
    "https://[::ffff:127.0.0.1]/x.pdf",
    "https://169.254.169.254/latest/meta-data/",
    "https://localhost/x.pdf",
    "http://127.0.0.1:8081/x.pdf",
    "http://127.0.0.1/x.pdf",
    "https://127.0.0.1:8080/x.pdf",
    "http://localhost:8080/x.pdf",
    "ftp://labels.example.com/x.pdf",
    "file:///etc/passwd",
    "gopher://labels.example.com/x",
    "data:application/pdf;base64,AAAA",
    "//labels.example.com/x.pdf",
    "/labels/1.pdf",
    "labels.example.com/x.pdf",
    "",
    "https://",
    "https:///x.pdf",
    "https://labels.example.com:99999/x.pdf",
    "https://labels.example.com:0/x.pdf",
    "https://labels.example.com:abc/x.pdf",
    "https://labels.example.com /x.pdf",
    "https://labels.example.com/x.pdf\r\nAPI_KEY: x",
    "https://labels.example.com/\tx.pdf",
    "https://labels.example.com/\x00",
    "https://läbels.example.com/x.pdf",
    "https://labels。example.com/x.pdf",
    "https://labels%2eexample.com/x.pdf",
    "https://labels.example.com./x.pdf",
    "https://[labels.example.com]/x.pdf",
]


@pytest.mark.parametrize("address", FORBIDDEN_ADDRESSES)
def test_listed_host_with_an_inner_address_is_never_connected_to(address: str) -> None:
    for addresses in ([address], [PUBLIC, address]):
        spy, names = Spy(), Names(*addresses)
        failure = fetcher(spy, names).download(f"https://labels.example.com/1.pdf?{SECRET_PART}")
        assert isinstance(failure, LinkFailure)
        assert failure.kind is LinkProblem.FORBIDDEN
        assert spy.connected == []


@pytest.mark.parametrize("url", FORBIDDEN_LINKS)
def test_forbidden_link_is_neither_resolved_nor_connected_to(url: str) -> None:
    spy, names = Spy(), Names(PUBLIC)
    failure = fetcher(spy, names).download(url)
    assert isinstance(failure, LinkFailure)
    assert failure.kind is LinkProblem.FORBIDDEN
    assert (spy.connected, names.asked) == ([], [])


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:4700::1111", "2a00:1450:4001:82a::200e"])
def test_public_address(address: str) -> None:
    assert is_public(address)


def test_listed_host_is_resolved_once_and_that_very_address_is_connected_to() -> None:
    spy, names = Spy(), Names(PUBLIC)
    assert fetcher(spy, names).download(f"https://labels.example.com/a/1.pdf?{SECRET_PART}") == PDF
    assert names.asked == ["labels.example.com"]
    assert spy.connected == [(PUBLIC, 443)]
    assert spy.tls_names == ["labels.example.com"]
    lines = spy.written().split(b"\r\n")
    assert lines[0] == f"GET /a/1.pdf?{SECRET_PART} HTTP/1.1".encode()
    assert b"Host: labels.example.com" in lines
    assert not [
        line for line in lines if line.lower().startswith((b"api_key", b"cookie", b"authorization", b"referer"))
    ]


def test_listed_port_is_part_of_the_listing() -> None:
    spy, names = Spy(), Names(PUBLIC)
    assert fetcher(spy, names).download("https://cdn.example.com:8443/1.pdf") == PDF
    assert spy.connected == [(PUBLIC, 8443)]
    assert b"Host: cdn.example.com:8443" in spy.written()
    assert isinstance(fetcher(spy, names).download("https://cdn.example.com/1.pdf"), LinkFailure)


def test_host_names_are_compared_without_case() -> None:
    spy = Spy()
    assert fetcher(spy, Names(PUBLIC)).download("https://LABELS.example.com/1.pdf") == PDF


def test_own_service_may_be_private() -> None:
    spy = Spy()
    assert fetcher(spy, Names("127.0.0.1")).download("http://127.0.0.1:8080/labels/1.pdf") == PDF
    assert spy.connected == [("127.0.0.1", 8080)]


def test_https_service_never_leads_to_plain_http() -> None:
    spy = Spy()
    own = LinkFetcher(LinkWay("https://api.example.com:8443"), resolve=Names("10.1.2.3"), network=spy)
    assert isinstance(own.download("http://api.example.com:8443/labels/1.pdf"), LinkFailure)
    assert own.download("https://api.example.com:8443/labels/1.pdf") == PDF


def test_nothing_of_the_link_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    spy = Spy()
    spy.reply = b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"
    failure = fetcher(spy, Names(PUBLIC)).download(f"https://labels.example.com/private/1.pdf?{SECRET_PART}")
    told = f"{failure!r} {caplog.text}"
    assert "SECRETSECRET" not in told
    assert "private" not in told


@pytest.mark.parametrize("status", [403, 404, 410])
def test_expired(status: int) -> None:
    spy = Spy()
    spy.reply = f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode()
    failure = fetcher(spy, Names(PUBLIC)).download("https://labels.example.com/1.pdf")
    assert isinstance(failure, LinkFailure)
    assert failure.kind is LinkProblem.EXPIRED
    assert str(status) in failure.message


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: https://evil.test/\r\nContent-Length: 0\r\n\r\n", LinkProblem.STATUS),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", LinkProblem.STATUS),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n%PDF-", LinkProblem.CUT),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n%PDF-\r\n", LinkProblem.CUT),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx", LinkProblem.CUT),
        (b"SSH-2.0-OpenSSH_9.6\r\n", LinkProblem.CUT),
        (b"", LinkProblem.CUT),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000, LinkProblem.TOO_LARGE),
    ],
)
def test_bad_answer_is_a_failure(reply: bytes, kind: LinkProblem) -> None:
    spy = Spy()
    spy.reply = reply
    own = LinkFetcher(LinkWay("http://127.0.0.1:1", size_bytes=1000), resolve=Names("127.0.0.1"), network=spy)
    failure = own.download("http://127.0.0.1:1/1.pdf")
    assert isinstance(failure, LinkFailure)
    assert failure.kind is kind
    assert len(spy.connected) == 1


def test_name_without_address() -> None:
    def unknown(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    own = LinkFetcher(LinkWay("https://api.invalid"), resolve=unknown, network=Spy())
    failure = own.download("https://api.invalid/1.pdf")
    assert isinstance(failure, LinkFailure)
    assert failure.kind is LinkProblem.UNREACHABLE


def test_next_address_is_tried_when_one_does_not_answer() -> None:
    class HalfDead(Spy):
        def connect_tcp(self, host: str, port: int, *more: Any, **options: Any) -> httpcore.NetworkStream:
            if host == "8.8.8.8":
                raise httpcore.ConnectError("refused")
            return super().connect_tcp(host, port, *more, **options)

    spy = HalfDead()
    assert fetcher(spy, Names("8.8.8.8", PUBLIC)).download("https://labels.example.com/1.pdf") == PDF
    assert spy.connected == [(PUBLIC, 443)]


def test_over_a_real_connection_without_environment_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with serving(answering(200, PDF, content_type="application/pdf")) as service:
        assert LinkFetcher(LinkWay(service.url)).download(f"{service.url}/labels/1.pdf?{SECRET_PART}") == PDF


def test_server_that_drips_meets_the_deadline() -> None:
    with serving(dripping(b"HTTP/1.1 200 OK\r\n\r\n", b"x", every_seconds=0.05)) as service:
        failure = LinkFetcher(LinkWay(service.url, deadline_seconds=0.5)).download(f"{service.url}/1.pdf")
    assert isinstance(failure, LinkFailure)
    assert failure.kind is LinkProblem.TIMEOUT


def test_a_link_of_the_service_goes_through_the_proxy_of_the_settings() -> None:
    with serving(answering(200, PDF, content_type="application/pdf")) as proxy:
        way = LinkWay("http://127.0.0.1:9", proxy=f"http://user:p%40ss@127.0.0.1:{proxy.port}")
        assert LinkFetcher(way).download("http://127.0.0.1:9/labels/1.pdf") == PDF
    assert [request.target for request in proxy.requests] == ["http://127.0.0.1:9/labels/1.pdf"]
    assert proxy.requests[0].header("Proxy-Authorization") == "Basic dXNlcjpwQHNz"


def test_a_link_of_the_service_goes_through_a_tunnel_that_its_own_authority_vouches_for(tmp_path: Path) -> None:
    pem, context = authority(tmp_path, host="api.example.com")
    with (
        serving(answering(200, PDF, content_type="application/pdf"), tls=context) as service,
        serving(tunnelling(to_port=service.port)) as proxy,
    ):
        way = LinkWay("https://api.example.com", ca_file=str(pem), proxy=proxy.url)
        assert LinkFetcher(way, resolve=Names()).download(f"https://api.example.com/1.pdf?{SECRET_PART}") == PDF
    assert [request.target for request in proxy.requests] == ["api.example.com:443"]
    assert [request.target for request in service.requests] == [f"/1.pdf?{SECRET_PART}"]


def test_behind_a_proxy_a_listed_host_that_does_not_prove_its_name_is_asked_nothing(tmp_path: Path) -> None:
    pem, context = authority(tmp_path, host="labels.example.com")
    with (
        serving(answering(200, PDF), tls=context) as impostor,
        serving(tunnelling(to_port=impostor.port)) as proxy,
    ):
        way = LinkWay("https://api.example.com", ["labels.example.com"], ca_file=str(pem), proxy=proxy.url)
        failure = LinkFetcher(way).download(f"https://labels.example.com/1.pdf?{SECRET_PART}")
    assert isinstance(failure, LinkFailure)
    assert "certificate" in failure.message
    assert (len(proxy.requests), impostor.requests) == (1, [])


def test_a_private_authority_vouches_for_no_listed_host(tmp_path: Path) -> None:
    pem, context = authority(tmp_path, host="labels.example.com")

    class Near(httpcore.SyncBackend):
        """Leads to the server of this test, whatever address was judged."""

        def connect_tcp(self, host: str, port: int, *more: Any, **options: Any) -> httpcore.NetworkStream:
            return super().connect_tcp("127.0.0.1", server.port, *more, **options)

    with serving(answering(200, PDF), tls=context) as server:
        own = LinkFetcher(
            LinkWay("https://labels.example.com", ca_file=str(pem)), resolve=Names(PUBLIC), network=Near()
        )
        assert own.download("https://labels.example.com/1.pdf") == PDF
        way = LinkWay("https://api.example.com", ["labels.example.com"], ca_file=str(pem))
        failure = LinkFetcher(way, resolve=Names(PUBLIC), network=Near()).download("https://labels.example.com/1.pdf")
    assert isinstance(failure, LinkFailure)
    assert "certificate" in failure.message
    assert len(server.requests) == 1


@pytest.mark.parametrize("address", ["169.254.169.254", "10.0.0.5", "[::1]"])
def test_behind_a_proxy_a_listed_inner_address_is_never_asked_for(address: str) -> None:
    with serving(tunnelling()) as proxy:
        way = LinkWay("https://api.example.com", [address], proxy=proxy.url)
        failure = LinkFetcher(way).download(f"https://{address}/latest/meta-data/")
    assert isinstance(failure, LinkFailure)
    assert (failure.kind, proxy.connections) == (LinkProblem.FORBIDDEN, 0)


@pytest.mark.parametrize("status", [403, 407, 502])
def test_a_proxy_that_refuses_is_named(status: int) -> None:
    with serving(answering(status, b"", headers={"Connection": "close"})) as proxy:
        way = LinkWay("https://api.example.com", proxy=f"http://user:s3cret-pass@127.0.0.1:{proxy.port}")
        failure = LinkFetcher(way).download("https://api.example.com/1.pdf")
    assert isinstance(failure, LinkFailure)
    assert failure.kind is LinkProblem.UNREACHABLE
    assert "through the proxy" in failure.message
    assert "s3cret" not in f"{failure!r}{way!r}"
