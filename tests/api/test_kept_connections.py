"""Connections that serve one call after the other: only where nothing about them is odd."""

import socket
import time
from pathlib import Path

import pytest
from api.conftest import KEY, Connect
from support.certificates import authority
from support.raw_servers import Play, RawServer, answering, http_bytes, serving

from logistics_batch.api.answers import ReplyVerdict, judge
from logistics_batch.api.client import Client, Reply, ServiceAccess
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import Secret

PASS = {"status": "PASS", "message": {"awb_number": "SH-1"}}
ANSWER = http_bytes(200, b'{"status":"PASS","message":{"awb_number":"SH-1"}}')


def create(client: Client) -> Reply:
    return client.call("order.create", body="{}")


def answering_with(answer: bytes, *, times: int = 1_000_000) -> Play:
    """Answers so many requests on a connection, then hangs up."""

    def play(connection: socket.socket, server: RawServer) -> None:
        for _ in range(times):
            if server.request(connection) is None:
                return
            connection.sendall(answer)

    return play


def test_calls_follow_each_other_on_one_connection_if_they_may(connect: Connect) -> None:
    client, server = connect(answering(200, PASS), kept_idle_seconds=30)
    replies = [create(client) for _ in range(5)]
    assert server.connections == 1
    assert [reply.trace.on_kept_line for reply in replies] == [False, True, True, True, True]
    assert all(request.header("Connection") is None for request in server.requests)
    assert not client.kept_line_broke


def test_when_they_may_not_each_has_its_own(connect: Connect) -> None:
    client, server = connect(answering(200, PASS), kept_idle_seconds=0)
    assert [create(client).trace.on_kept_line for _ in range(3)] == [False] * 3
    assert server.connections == 3
    assert all(request.header("Connection") == "close" for request in server.requests)


def test_a_connection_that_was_idle_too_long_is_not_used(connect: Connect) -> None:
    client, server = connect(answering(200, PASS), kept_idle_seconds=0.02)
    create(client)
    time.sleep(0.1)
    assert not create(client).trace.on_kept_line
    assert server.connections == 2


def test_a_connection_that_the_service_closed_is_not_used(connect: Connect) -> None:
    client, server = connect(answering_with(ANSWER, times=1), kept_idle_seconds=30)
    for _ in range(3):
        reply = create(client)
        assert (reply.status, reply.failure) == (200, "")
        time.sleep(0.1)  # its end has come in
    assert server.connections == 3
    assert not client.kept_line_broke


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER + ANSWER,  # the second would be taken for the answer to the next order
        ANSWER + b"\r\n",
        http_bytes(200, b"{}", headers={"Connection": "close"}),
        b"HTTP/1.1 100 Continue\r\n\r\n" + ANSWER,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    ],
    ids=["two answers", "a line more", "close", "continue", "chunked", "1.0"],
)
def test_an_answer_that_is_not_quite_plain_ends_its_connection(connect: Connect, answer: bytes) -> None:
    client, server = connect(answering_with(answer), kept_idle_seconds=30)
    for _ in range(3):
        assert create(client).status == 200
    assert server.connections == 3


def in_pieces(*pieces: bytes) -> Play:
    """Answers every request with these, each a moment after the other."""

    def play(connection: socket.socket, server: RawServer) -> None:
        while server.request(connection) is not None:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.02)

    return play


def test_an_answer_whose_body_comes_in_pieces_is_plain(connect: Connect) -> None:
    client, server = connect(in_pieces(ANSWER[:-30], ANSWER[-30:-10], ANSWER[-10:]), kept_idle_seconds=30)
    replies = [create(client) for _ in range(3)]
    assert {judge(reply, operation="order.create").awb_number for reply in replies} == {"SH-1"}
    assert server.connections == 1


@pytest.mark.parametrize("cut", [1, 8, 20, 40])
def test_an_answer_whose_head_comes_in_pieces_is_read_all_the_same(connect: Connect, cut: int) -> None:
    client, _ = connect(in_pieces(ANSWER[:cut], ANSWER[cut:]))
    reply = create(client)
    assert (reply.status, reply.failure) == (200, "")
    assert judge(reply, operation="order.create").awb_number == "SH-1"


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: +2",
        "Content-Length: -2",
        "Content-Length: 2\r\nX : blank",
        "Content-Length: 2\r\nX: \x00",
        "Content-Length: 2\r\nno colon",
    ],
)
def test_an_answer_that_breaks_the_rules_of_http_proves_nothing(connect: Connect, head: str) -> None:
    """What stands behind such a head may be another's answer."""
    client, server = connect(
        answering_with(b"HTTP/1.1 200 OK\r\n" + head.encode() + b"\r\n\r\n{}"), kept_idle_seconds=30
    )
    for _ in range(2):
        reply = create(client)
        assert reply.failure == "protocol"
        assert judge(reply, operation="order.create").meaning is ReplyVerdict.UNKNOWN
    assert server.connections == 2


def test_what_breaks_on_a_kept_connection_is_a_doubt_and_the_last_of_its_kind(connect: Connect) -> None:
    def play(connection: socket.socket, server: RawServer) -> None:
        server.request(connection)
        connection.sendall(ANSWER)
        if server.request(connection) is not None and server.connections > 1:
            connection.sendall(ANSWER)

    client, server = connect(play, kept_idle_seconds=30)
    assert create(client).status == 200
    broken = create(client)
    assert broken.trace.on_kept_line
    assert judge(broken, operation="order.create").meaning is ReplyVerdict.UNKNOWN
    assert client.kept_line_broke
    later = [create(client) for _ in range(3)]
    assert [reply.trace.on_kept_line for reply in later] == [False] * 3
    assert {reply.status for reply in later} == {200}
    assert server.connections == 4


def test_each_call_on_a_kept_connection_has_its_own_deadline(connect: Connect) -> None:
    def play(connection: socket.socket, server: RawServer) -> None:
        while server.request(connection) is not None:
            time.sleep(0.15)
            connection.sendall(ANSWER)

    client, server = connect(play, create_deadline_seconds=0.6, kept_idle_seconds=30)
    assert [create(client).status for _ in range(6)] == [200] * 6
    assert server.connections == 1


def test_a_time_out_that_nobody_asked_for_is_a_doubt(connect: Connect) -> None:
    """Some services say 408 on a connection that they close; it is no answer to what was sent meanwhile."""

    def play(connection: socket.socket, server: RawServer) -> None:
        server.request(connection)
        connection.sendall(ANSWER)
        server.request(connection)
        connection.sendall(http_bytes(408))

    client, _ = connect(play, kept_idle_seconds=30)
    create(client)
    assert judge(create(client), operation="order.create").meaning is ReplyVerdict.UNKNOWN
    assert client.kept_line_broke


def test_encrypted_connections_are_kept_as_well(tmp_path: Path) -> None:
    pem, context = authority(tmp_path, host="127.0.0.1")
    with serving(answering(200, PASS), tls=context) as service:
        client = Client(
            ServiceAccess(service.url, Secret(KEY), ca_file=str(pem)), pacer=Pacer("none"), kept_idle_seconds=30
        )
        assert [create(client).status for _ in range(3)] == [200] * 3
        assert service.connections == 1
        client.close()


def test_nothing_is_kept_through_a_proxy() -> None:
    with serving(answering(200, PASS)) as proxy:
        access = ServiceAccess("http://127.0.0.1:9", Secret(KEY), proxy=proxy.url)
        client = Client(access, pacer=Pacer("none"), kept_idle_seconds=30)
        assert [create(client).status for _ in range(3)] == [200] * 3
        assert proxy.connections == 3
        client.close()
