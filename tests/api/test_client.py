"""What goes over the wire, and what a call says of itself, against real sockets."""

import gzip
import json
import socket
import threading
import zlib
from collections import Counter
from typing import Any

import httpcore
import pytest
from support.raw_servers import RawServer, after_request, answering, http_bytes

from logistics_batch.api.answers import ReplyVerdict, judge
from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.endpoints import ENDPOINTS
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.reply import LARGEST_BODY_BYTES, LARGEST_LIST_BYTES
from logistics_batch.api.secret import Secret
from logistics_batch.errors import SettingsError, UsageError

from .conftest import KEY, Connect

PASS = {"status": "PASS", "message": {}}

# API §4, written down here a second time, by hand.
CALLS = [
    ("asn.fetch", "GET", "/wms/advance-shipping-notice"),
    ("asn.create", "POST", "/wms/advance-shipping-notice"),
    ("asn.update", "PUT", "/wms/advance-shipping-notice"),
    ("label.create", "POST", "/order/shippinglabel/?API_KEY=k3y-Canary%2F%2B7f9Q%3D%3D"),
    ("order.fetch", "GET", "/orders/shipment/SH-1"),
    ("order.create", "POST", "/orders/shipment"),
    ("order.update", "PUT", "/orders/shipment/SH-1"),
    ("order.add_items", "PUT", "/orders/add/items/SH-1"),
    ("order.delete_items", "PUT", "/orders/delete/items/SH-1"),
    ("order.cancel", "PUT", "/api/orders/cancel/SH-1"),
    ("webhook.subscribe", "POST", "/webhooks/subscribe"),
    ("webhook.update", "PUT", "/webhooks/update"),
]


def test_the_twelve_calls() -> None:
    assert [name for name, _, _ in CALLS] == list(ENDPOINTS)


@pytest.mark.parametrize(("name", "method", "target"), CALLS)
def test_method_path_and_key(connect: Connect, name: str, method: str, target: str) -> None:
    client, server = connect(answering(200, PASS))
    needs_id = ENDPOINTS[name].needs_order_id
    has_body = method != "GET" and name != "order.cancel"
    reply = client.call(name, order_id="SH-1" if needs_id else None, body='{"a":"é"}' if has_body else None)
    (seen,) = server.requests
    assert (reply.status, reply.failure, json.loads(reply.body)) == (200, "", PASS)
    assert (seen.method, seen.target) == (method, target)
    assert seen.header("API_KEY") == (None if name == "label.create" else KEY)
    assert seen.body == ('{"a":"é"}'.encode() if has_body else b"")
    assert seen.header("Content-Type") == ("application/json" if has_body else None)
    assert client.method(name) == method
    assert target.partition("?")[0] == client.path(name, order_id="SH-1" if needs_id else None)


def test_a_prefix_stays_and_every_path_can_be_another(connect: Connect) -> None:
    paths = {
        name: f"/v2/{number}/{{orderId}}" if endpoint.needs_order_id else f"/v2/{number}/"
        for number, (name, endpoint) in enumerate(ENDPOINTS.items())
    }
    client, server = connect(answering(200, PASS), prefix="/tenant/x/", paths=paths)
    for endpoint in ENDPOINTS.values():
        client.call(endpoint.name, order_id="SH-1" if endpoint.needs_order_id else None)
    targets = [request.target.partition("?")[0] for request in server.requests]
    assert targets == [f"/tenant/x{path.replace('{orderId}', 'SH-1')}" for path in paths.values()]


def test_an_order_id_stays_one_step_of_the_path(connect: Connect) -> None:
    client, server = connect(answering(200, PASS))
    client.call("order.fetch", order_id="A/../B?c=1#d%2Fé +")
    assert server.requests[0].target == "/orders/shipment/A%2F..%2FB%3Fc%3D1%23d%252F%C3%A9%20%2B"


def test_filters_are_encoded(connect: Connect) -> None:
    client, server = connect(answering(200, []))
    client.call("asn.fetch", query={"invoice_number": "INV 1&status=New+", "site_name": "मुंबई"})
    wanted = "invoice_number=INV%201%26status%3DNew%2B&site_name=%E0%A4%AE%E0%A5%81%E0%A4%82%E0%A4%AC%E0%A4%88"
    assert server.requests[0].target == f"/wms/advance-shipping-notice?{wanted}"


def test_the_label_key_joins_a_query(connect: Connect) -> None:
    client, server = connect(answering(200, PASS))
    client.call("label.create", body="{}", query={"x": "1"})
    assert server.requests[0].target == "/order/shippinglabel/?x=1&API_KEY=k3y-Canary%2F%2B7f9Q%3D%3D"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("order.creat", {}),
        ("order.fetch", {}),
        ("order.fetch", {"order_id": ""}),
        ("order.cancel", {"order_id": ".."}),
        ("order.create", {"order_id": "SH-1"}),
        ("asn.fetch", {"body": "{}"}),
    ],
)
def test_a_callers_mistake_sends_nothing(connect: Connect, name: str, options: dict[str, str]) -> None:
    client, server = connect(answering(200, PASS))
    with pytest.raises(UsageError):
        client.call(name, **options)
    assert server.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(connect: Connect, status: int) -> None:
    _, elsewhere = connect(answering(200, PASS))
    client, _ = connect(answering(status, b"", headers={"Location": f"{elsewhere.url}/x?API_KEY=copied"}))
    reply = client.call("order.create", body="{}")
    assert (reply.status, elsewhere.connections) == (status, 0)
    assert reply.detail == f"redirects to {elsewhere.url}/x"


def test_a_malformed_redirect_keeps_its_status(connect: Connect) -> None:
    client, _ = connect(answering(302, b"", headers={"Location": "http://[::bad"}))
    assert client.call("order.create", body="{}").status == 302


def test_proxies_and_netrc_of_the_environment_are_not_used(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    _, proxy = connect(answering(200, PASS))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    client, server = connect(answering(200, PASS))
    assert client.call("order.create", body="{}").status == 200
    assert (len(server.requests), proxy.connections) == (1, 0)


def test_a_proxy_of_the_settings_is_used(connect: Connect) -> None:
    _, proxy = connect(answering(200, PASS))
    client, server = connect(answering(200, PASS), proxy=f"http://user:p%40ss@127.0.0.1:{proxy.port}")
    assert client.call("order.create", body="{}").status == 200
    assert server.connections == 0
    assert proxy.requests[0].target == f"{server.url}/orders/shipment"
    assert proxy.requests[0].header("Proxy-Authorization") == "Basic dXNlcjpwQHNz"


def test_each_new_asn_has_a_connection_of_its_own(connect: Connect) -> None:
    client, server = connect(answering(200, PASS))
    for name in ("order.create", "asn.fetch", "asn.create", "asn.create", "asn.fetch", "order.create"):
        assert client.call(name, body=None if name == "asn.fetch" else "{}").status == 200
    assert server.connections == 3
    alone = [request.header("Connection") == "close" for request in server.requests]
    assert alone == [False, False, True, True, False, False]


def test_a_server_that_hangs_up_after_each_answer_costs_one_call_at_most(connect: Connect) -> None:
    client, server = connect(after_request(http_bytes(200, b'{"status":"PASS"}', headers={"Connection": "keep-alive"})))
    failures = [client.call("order.create", body="{}").failure for _ in range(20)]
    assert sum(map(bool, failures)) <= 1  # where its end had not come in when the connection was used again
    assert len(server.requests) >= 19


def test_no_cookie_is_kept(connect: Connect) -> None:
    client, server = connect(answering(200, PASS, headers={"Set-Cookie": "session=1; Path=/"}))
    for _ in range(2):
        client.call("order.create", body="{}")
    assert [request.header("Cookie") for request in server.requests] == [None, None]


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("x-gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_compression_that_nobody_asked_for_is_undone(connect: Connect, encoding: str, pack: object) -> None:
    body = json.dumps(PASS).encode()
    packed = pack(body)  # type: ignore[operator]
    client, server = connect(answering(200, packed, headers={"Content-Encoding": encoding}))
    reply = client.call("order.create", body="{}")
    assert (reply.body, reply.failure) == (body, "")
    assert server.requests[0].header("Accept-Encoding") == "identity"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"no gzip at all"),
        ("gzip", gzip.compress(b"x" * 999, mtime=0)[:-9]),
        ("br", b"\x0b\x02"),
        ("gzip, gzip", b"x"),
    ],
)
def test_damaged_compression_is_a_failure_with_a_status(connect: Connect, encoding: str, body: bytes) -> None:
    client, _ = connect(answering(200, body, headers={"Content-Encoding": encoding}))
    reply = client.call("order.create", body="{}")
    assert (reply.status, reply.failure, reply.body) == (200, "encoding", b"")
    assert reply.trace.reply_started


READ_OF = {"webhook.subscribe": LARGEST_BODY_BYTES, "asn.fetch": LARGEST_LIST_BYTES}


@pytest.mark.parametrize("call", READ_OF)
def test_a_body_is_read_up_to_its_limit_a_list_further(connect: Connect, call: str) -> None:
    client, _ = connect(answering(200, b"x" * READ_OF[call]))
    reply = client.call(call)
    assert (len(reply.body), reply.truncated) == (READ_OF[call], False)
    client, _ = connect(answering(200, b"x" * (READ_OF[call] + 1)))
    reply = client.call(call)
    assert (len(reply.body), reply.truncated, reply.failure) == (READ_OF[call], True, "")


@pytest.mark.parametrize("call", READ_OF)
def test_a_compressed_flood_is_cut(connect: Connect, call: str) -> None:
    bomb = gzip.compress(b"0" * 200_000_000, compresslevel=1)
    client, _ = connect(answering(200, bomb, headers={"Content-Encoding": "gzip"}))
    reply = client.call(call)
    assert (len(reply.body), reply.truncated) == (READ_OF[call], True)


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"Retry-After": "7"}, 7.0),
        (503, {"Retry-After": "0.5"}, 0.5),
        (429, {"Retry-After": "Sun, 09 Sep 2001 01:47:10 GMT"}, 30.0),
        (429, {"Retry-After": "Sun, 09 Sep 2001 01:00:00 GMT"}, 0.0),
        (429, {"Retry-After": "soon"}, None),
        (429, {"Retry-After": "-5"}, None),
        (429, {"Retry-After": "nan"}, None),
        (429, {"X-RateLimit-Reset": "1"}, 1.0),
        (429, {"X-RateLimit-Reset": "1000000005"}, 5.0),
        (429, {"X-RateLimit-Reset": "86400"}, None),
        (429, {"Retry-After": "2", "X-RateLimit-Reset": "9"}, 2.0),
        (429, {}, None),
        (200, {"Retry-After": "7"}, None),
    ],
)
def test_how_long_to_wait(connect: Connect, status: int, headers: dict[str, str], seconds: float | None) -> None:
    _, server = connect(answering(status, {}, headers=headers))
    access = ServiceAccess(server.url, Secret(KEY))
    client = Client(access, pacer=Pacer("none"), wall_clock=lambda: 1_000_000_000.0)
    assert client.call("asn.fetch").retry_after_seconds == seconds
    client.close()


@pytest.mark.parametrize("status", [429, 503])
def test_who_says_for_how_long_slows_everybody_down(connect: Connect, status: int) -> None:
    client, _ = connect(answering(status, {}, headers={"Retry-After": "60"}))
    client.call("asn.fetch")
    assert 50 < client.pacer.try_turn() <= 60


def test_a_call_waits_for_its_turn_unless_it_has_it() -> None:
    now = [100.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    pacer = Pacer("1/s", clock=lambda: now[0], sleep=sleep)
    client = Client(ServiceAccess("http://127.0.0.1:1", Secret(KEY)), pacer=pacer)
    for _ in range(3):
        client.call("asn.fetch")
    assert sum(slept) == pytest.approx(2 * 1.02)
    now[0] += 1.02
    assert pacer.try_turn() == 0
    client.call("asn.fetch", turn_taken=True)
    assert sum(slept) == pytest.approx(2 * 1.02)
    client.close()


@pytest.mark.parametrize("connecting", [False, True], ids=["before it connects", "while it connects"])
def test_a_question_waits_out_a_pause_that_begins_after_its_turn_was_taken(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, connecting: bool
) -> None:
    _, server = connect(answering(200, PASS))
    now, pauses = [100.0], [20.0]
    really = httpcore.SyncBackend.connect_tcp

    def pause() -> None:
        if pauses:
            pacer.slow_down(pauses.pop())

    def sleep(seconds: float) -> None:
        now[0] += seconds
        if not connecting:
            pause()

    def connects(*args: Any, **options: Any) -> httpcore.NetworkStream:
        pause()
        return really(*args, **options)

    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", connects)
    pacer = Pacer("2/s", clock=lambda: now[0], sleep=sleep)
    client = Client(ServiceAccess(server.url, Secret(KEY)), pacer=pacer)
    pacer.try_turn()  # so that the next turn lies half a second ahead
    assert client.call("asn.fetch").status == 200
    assert now[0] >= 120
    client.close()


def test_calls_that_connect_slowly_leave_at_a_slow_rate(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    _, server = connect(answering(200, PASS))
    now, waits = [100.0], list[tuple[float, int]]()
    really = httpcore.SyncBackend.connect_tcp

    def sleep(seconds: float) -> None:
        waits.append((seconds, server.connections))
        now[0] += seconds

    def slowly(*args: Any, **options: Any) -> httpcore.NetworkStream:
        now[0] += 0.5
        return really(*args, **options)

    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", slowly)
    pacer = Pacer("5/min", clock=lambda: now[0], sleep=sleep)
    client = Client(ServiceAccess(server.url, Secret(KEY)), pacer=pacer, kept_idle_seconds=0)
    assert [client.call("asn.fetch").status for _ in range(5)] == [200] * 5
    client.close()
    assert 4 * 12 <= now[0] - 100.5 <= 4 * 12 / 0.95
    # No connection stands open while a call waits for its turn.
    waited = Counter[int]()
    for seconds, connections in waits:
        waited[connections] += round(seconds)
    assert [number for number, seconds in waited.items() if seconds] == [1, 2, 3, 4]
    assert set(waited.values()) - {0} == {12}


def test_a_process_that_ends_sends_nothing_more(connect: Connect) -> None:
    _, server = connect(answering(200, PASS))
    stop = threading.Event()
    client = Client(ServiceAccess(server.url, Secret(KEY)), pacer=Pacer("1/min", stop=stop))
    assert client.call("asn.fetch").status == 200
    stop.set()
    reply = client.call("order.create", body="{}")
    assert judge(reply, operation="order.create").meaning is ReplyVerdict.NOT_SENT
    assert server.connections == 1
    client.close()


def test_sixteen_threads_share_a_client(connect: Connect) -> None:
    def echo(connection: socket.socket, server: RawServer) -> None:
        while (request := server.request(connection)) is not None:
            connection.sendall(http_bytes(200, request.body))

    client, _ = connect(echo)
    wrong: list[object] = []

    def work(number: int) -> None:
        for turn in range(10):
            body = json.dumps({"thread": number, "turn": turn})
            reply = client.call("order.create", body=body)
            if reply.body != body.encode():
                wrong.append((reply, body))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_file_of_authorities_must_be_one(tmp_path: object) -> None:
    for name in ("/nowhere/ca.pem", __file__):
        with pytest.raises(SettingsError, match="certificate authorities"):
            Client(ServiceAccess("https://api.example.com", Secret(KEY), ca_file=name))
