"""Calls that go wrong, over real sockets: each ends by its deadline and says truly whether it can have arrived."""

import contextlib
import socket
import ssl
from pathlib import Path

import httpcore
import pytest
from support.certificates import authority
from support.raw_servers import (
    Play,
    RawServer,
    after_request,
    answering,
    dripping,
    http_bytes,
    resetting,
    serving,
    silent,
    tunnelling,
)

from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.reply import Reply, Trace
from logistics_batch.api.secret import Secret
from logistics_batch.api.transport import FAILURES, CallTrace, Deadline, failure_of

from .conftest import KEY, Connect

NEVER_SENT = Trace(connect_started=True)
SENT = Trace(connect_started=True, send_started=True, body_sent=True)
ANSWERED = Trace(connect_started=True, send_started=True, body_sent=True, reply_started=True)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def hangs_up(connection: socket.socket, server: RawServer) -> None:
    """Reads the request and says nothing."""
    server.request(connection)


@pytest.mark.parametrize(
    ("play", "failure", "trace", "status"),
    [
        (hangs_up, "protocol", SENT, None),
        (resetting, "reset", SENT, None),
        (after_request(b"HTTP/1.1 2"), "protocol", SENT, None),
        (after_request(b"hello, this is not HTTP\r\n\r\n"), "protocol", SENT, None),
        (after_request(HEAD + b"Content-Length: 50\r\n\r\n" + b'{"status":"PASS"}'), "protocol", ANSWERED, 200),
        (after_request(HEAD + b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"sta'), "protocol", ANSWERED, 200),
        (after_request(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "protocol", ANSWERED, 200),
        (after_request(b"HTTP/1.1 200 OK\r\n" + b"X: " + b"a" * 200_000 + b"\r\n\r\n"), "protocol", SENT, None),
    ],
)
def test_answers_that_break_off(connect: Connect, play: Play, failure: str, trace: Trace, status: int | None) -> None:
    client, server = connect(play)
    reply = client.call("order.create", body="{}")
    assert (reply.failure, reply.trace, reply.status) == (failure, trace, status)
    assert reply.detail
    assert len(server.requests) == 1  # nothing is repeated


@pytest.mark.parametrize(
    ("play", "trace", "status"),
    [
        (silent, SENT, None),
        (dripping(b"HTTP/1.1 200 OK\r\nX: ", b"a", every_seconds=0.05), SENT, None),
        (dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n", every_seconds=0.05), SENT, None),
        (dripping(HEAD + b"Content-Length: 9999\r\n\r\n{", b" ", every_seconds=0.05), ANSWERED, 200),
        (dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", every_seconds=0.05), ANSWERED, 200),
    ],
)
def test_a_slow_drip_ends_at_the_deadline(connect: Connect, play: Play, trace: Trace, status: int | None) -> None:
    client, _ = connect(play, create_deadline_seconds=0.4, deadline_seconds=99.0)
    reply = client.call("order.create", body="{}")
    assert (reply.failure, reply.trace, reply.status) == ("deadline", trace, status)
    assert reply.elapsed_seconds >= 0.4


def test_creates_have_a_deadline_of_their_own(connect: Connect) -> None:
    client, _ = connect(silent, create_deadline_seconds=99.0, deadline_seconds=0.2)
    for name, order_id in (("asn.fetch", None), ("order.cancel", "SH-1"), ("label.create", None)):
        assert client.call(name, order_id=order_id).failure == "deadline"


def test_a_server_that_never_reads_ends_at_the_deadline(connect: Connect) -> None:
    def deaf(connection: socket.socket, server: RawServer) -> None:
        server.stop.wait(30)

    client, _ = connect(deaf, create_deadline_seconds=0.4)
    reply = client.call("order.create", body=b"x" * 50_000_000)
    assert reply.failure == "deadline"
    assert reply.trace == Trace(connect_started=True, send_started=True)


def test_a_server_that_reads_a_little_now_and_then_ends_at_the_deadline(connect: Connect) -> None:
    def sipping(connection: socket.socket, server: RawServer) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(100):
            if server.stop.wait(0.05):
                return
            connection.recv(4096)

    client, _ = connect(sipping, create_deadline_seconds=0.5)
    reply = client.call("order.create", body=b"x" * 50_000_000)
    assert (reply.failure, reply.status) == ("deadline", None)


def test_an_early_answer_counts_though_the_body_was_not_wanted(connect: Connect) -> None:
    def early(connection: socket.socket, server: RawServer) -> None:
        connection.recv(1000)
        connection.sendall(http_bytes(413, b"{}", headers={"Connection": "close"}))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 20):
            pass

    client, _ = connect(early)
    reply = client.call("order.create", body=b"x" * 5_000_000)
    assert (reply.status, reply.trace.send_started) == (413, True)


def closed_port() -> int:
    """A port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def call(base_url: str, **settings: object) -> Reply:
    access = ServiceAccess(base_url, Secret(KEY), create_deadline_seconds=5.0, **settings)  # type: ignore[arg-type]
    client = Client(access, pacer=Pacer("none"))
    with contextlib.closing(client):
        return client.call("order.create", body="{}")


def test_a_refused_connection_was_never_sent() -> None:
    reply = call(f"http://127.0.0.1:{closed_port()}")
    assert (reply.failure, reply.trace, reply.status) == ("connect", NEVER_SENT, None)
    assert "refused" in reply.detail


def test_an_unknown_name_was_never_sent() -> None:
    reply = call("https://nowhere.invalid")
    assert (reply.failure, reply.trace) == ("connect", NEVER_SENT)


def test_one_name_with_several_addresses_is_tried_until_one_answers(connect: Connect) -> None:
    # “localhost” stands for ::1 and 127.0.0.1 on most machines; the server listens on the second only.
    _, server = connect(answering(200, {"status": "PASS"}))
    assert call(f"http://localhost:{server.port}").status == 200


def test_tls_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, context = authority(tmp_path, host="127.0.0.1")
    other, other_context = authority(tmp_path, host="api.example.com")
    monkeypatch.setenv("SSL_CERT_FILE", str(good))  # the environment does not decide whom we trust
    with serving(answering(200, {"status": "PASS"}), tls=context) as server:
        assert call(server.url, ca_file=str(good)).status == 200
        assert len(server.requests) == 1
        for ca_file in (None, str(other)):
            reply = call(server.url, ca_file=ca_file)
            assert (reply.failure, reply.trace) == ("tls", NEVER_SENT)
            assert "certificate" in reply.detail
        assert len(server.requests) == 1
    with serving(answering(200, {}), tls=other_context) as server:
        assert call(server.url, ca_file=str(other)).failure == "tls"  # right authority, wrong name
        assert server.requests == []


def test_tls_with_something_that_does_not_speak_it(connect: Connect) -> None:
    def plain(connection: socket.socket, server: RawServer) -> None:
        connection.recv(1000)
        connection.sendall(http_bytes(200, b"{}"))

    _, server = connect(plain)
    reply = call(f"https://127.0.0.1:{server.port}")
    assert (reply.failure, reply.trace.send_started) == ("tls", False)


def test_a_handshake_that_stalls_was_never_sent(connect: Connect) -> None:
    def stalling(connection: socket.socket, server: RawServer) -> None:
        server.stop.wait(30)

    _, server = connect(stalling)
    client = Client(
        ServiceAccess(f"https://127.0.0.1:{server.port}", Secret(KEY), create_deadline_seconds=0.3), pacer=Pacer("none")
    )
    reply = client.call("order.create", body="{}")
    client.close()
    assert (reply.trace, reply.status) == (NEVER_SENT, None)
    assert reply.failure in ("tls", "deadline")


def test_what_is_said_to_a_proxy_is_not_the_call(connect: Connect) -> None:
    _, proxy = connect(answering(407, b"", headers={"Connection": "close"}))
    reply = call("https://api.example.com", proxy=proxy.url)
    assert proxy.requests[0].method == "CONNECT"
    assert proxy.requests[0].header("API_KEY") is None
    assert (reply.failure, reply.trace, reply.status) == ("connect", NEVER_SENT, None)


def test_a_tunnel_through_a_proxy_carries_the_call(tmp_path: Path) -> None:
    pem, context = authority(tmp_path, host="127.0.0.1")
    with serving(answering(200, {"status": "PASS"}), tls=context) as service, serving(tunnelling()) as proxy:
        reply = call(service.url, proxy=proxy.url, ca_file=str(pem))
        assert (reply.status, reply.trace) == (200, ANSWERED)
        assert service.requests[0].header("API_KEY") == KEY
        assert [request.method for request in proxy.requests] == ["CONNECT"]


def test_a_call_that_took_too_long_to_connect_does_not_send() -> None:
    now = [0.0]
    trace = CallTrace(Deadline(60, clock=lambda: now[0]), first_byte_before=10)
    now[0] = 10.5
    with pytest.raises(httpcore.ConnectTimeout):
        trace.leave()
    assert not trace.steps.send_started
    now[0] = 9.5
    trace.leave()
    assert trace.steps.send_started


def exceptions_of(module: object) -> list[type[Exception]]:
    found = [getattr(module, name) for name in dir(module)]
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", exceptions_of(httpcore), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_exception_of_the_network_has_a_name(kind: type[Exception]) -> None:
    assert any(issubclass(kind, known) for known in FAILURES), "the client would raise this"
    meaning = "timeout" if "Timeout" in kind.__name__ else "connect" if "Connect" in kind.__name__ else None
    assert meaning is None or failure_of(kind.__new__(kind)) == meaning


def test_exceptions_of_the_operating_system_have_a_name() -> None:
    assert failure_of(ConnectionResetError()) == "reset"
    assert failure_of(ssl.SSLError()) == "reset"
    assert issubclass(TimeoutError, tuple(FAILURES))
