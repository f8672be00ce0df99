"""The key reaches the service, and nothing else: no log, no exception, no repr, whatever the spelling."""

import base64
import copy
import io
import logging
import pickle
import socket
import traceback
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.raw_servers import Play, RawServer, after_request, answering, http_bytes

from logistics_batch.api.answers import judge, read_label
from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import REMOVED, RedactionFilter, Redactor, Secret, install_redaction
from logistics_batch.errors import SettingsError, UsageError

from .conftest import KEY, Connect


def spellings(key: str) -> list[str]:
    """Every form in which the key may turn up."""
    raw = key.encode()
    forms = {key, quote(key, safe=""), quote(key), quote_plus(key), base64.b64encode(raw).decode()}
    forms |= {base64.urlsafe_b64encode(raw).decode(), raw.hex(), str(raw)[2:-1]}
    for front in (b"a:", b"ab:", b"abc:"):
        letters = base64.b64encode(front + raw).decode()
        forms.add(letters[len(front) * 8 // 6 + 1 : -4])
    return sorted(forms)


def assert_clean(text: str) -> None:
    for form in spellings(KEY):
        assert form not in text


def remove(net: RedactionFilter) -> None:
    """Take a net away again."""
    for handler in (*logging.getLogger().handlers, logging.lastResort):
        if handler is not None:
            handler.removeFilter(net)


@pytest.fixture
def debug_log() -> Iterator[io.StringIO]:
    """Everything that any logger says, at DEBUG, with nothing in between."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    names = ["", "httpx", "httpcore", "httpcore.connection", "httpcore.http11", "httpcore.proxy"]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.DEBUG)
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def echoing(connection: socket.socket, server: RawServer) -> None:
    """Answers with everything it was sent: services do that in their errors."""
    request = server.request(connection)
    assert request is not None
    told = f"{request.target} {dict(request.headers)} {base64.b64encode(KEY.encode()).decode()}"
    answer = f'{{"status":"FAIL","message":"{told}"}}'.encode()
    connection.sendall(http_bytes(400, answer, headers={"Connection": "close"}))


def echoing_in_headers(connection: socket.socket, server: RawServer) -> None:
    """Redirects to what it was asked for, key and all, in an old form, so that it goes through more hands."""
    request = server.request(connection)
    assert request is not None
    headers = {
        "Location": f"http://127.0.0.1:1/{quote(KEY, safe='')}{request.target}",
        "Content-Type": f"text/x; k={KEY}",
    }
    connection.sendall(http_bytes(302, b"", headers=headers).replace(b"HTTP/1.1", b"HTTP/1.0", 1))


def everything_seen(client: Client) -> str:
    """Two calls, one with the key in the query, and whatever can be shown of them."""
    seen = [repr(client), repr(client.settings), str(client.settings), repr(vars(client))]
    for name in ("label.create", "order.create"):
        reply = client.call(name, body="{}")
        seen += [repr(reply), str(reply), reply.body.decode(), reply.detail, reply.content_type]
        seen += [repr(judge(reply, operation=name)), repr(read_label(reply))]
    return "\n".join(seen)


@pytest.mark.parametrize(
    "play",
    [echoing, answering(200, {"status": "SUCCESS"}), after_request(b""), after_request(b"garbage\r\n\r\n")],
    ids=["echo", "answer", "hang up", "garbage"],
)
@pytest.mark.parametrize("proxied", [False, True], ids=["direct", "through a proxy"])
def test_no_log_line_and_no_reply_holds_the_key_even_without_a_filter(
    connect: Connect, debug_log: io.StringIO, play: Play, proxied: bool
) -> None:
    client, server = connect(play)
    if proxied:
        client = Client(ServiceAccess("http://127.0.0.1:9", Secret(KEY), proxy=server.url), pacer=Pacer("none"))
    seen = everything_seen(client)
    assert {request.header("API_KEY") for request in server.requests} == {None, KEY}
    assert "send_request_headers" in debug_log.getvalue() or not proxied  # httpcore says what it does with a proxy
    assert_clean(debug_log.getvalue())
    assert_clean(seen)


def test_headers_that_echo_the_key_are_caught_by_the_filter(connect: Connect, debug_log: io.StringIO) -> None:
    client, _ = connect(echoing_in_headers)
    net = install_redaction([client.settings.api_key])
    try:
        assert_clean(everything_seen(client))
    finally:
        remove(net)
    assert f"k={REMOVED}" in debug_log.getvalue()
    assert_clean(debug_log.getvalue())


def test_no_exception_holds_the_key(connect: Connect) -> None:
    client, _ = connect(answering(200, {}))
    for wrong in ({"endpoint": "order.creat"}, {"endpoint": "order.fetch"}, {"endpoint": "asn.fetch", "body": "x"}):
        with pytest.raises(UsageError) as caught:
            client.call(**wrong)
        assert_clean("".join(traceback.format_exception(caught.value)))


@pytest.mark.parametrize("key", ["", f"{KEY}\n", f" {KEY}", f"{KEY}é", f"{KEY}\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ServiceAccess("https://api.example.com", Secret(key))
    assert_clean(str(caught.value) + caught.value.remedy)


def test_a_proxy_password_is_not_shown() -> None:
    access = ServiceAccess("https://api.example.com", Secret(KEY), proxy="http://u:pa55word@proxy:3128")
    assert "pa55word" not in repr(access)
    with pytest.raises(SettingsError) as caught:
        ServiceAccess("https://api.example.com", Secret(KEY), proxy="https://u:pa55word@proxy:3128")
    assert "pa55word" not in str(caught.value)
    with pytest.raises(SettingsError) as caught:
        ServiceAccess("https://u:pa55word@api.example.com", Secret(KEY))
    assert "pa55word" not in str(caught.value)


def test_a_secret_is_shown_by_nothing_but_reveal() -> None:
    secret = Secret(KEY)
    assert secret.reveal() == KEY
    assert_clean(f"{secret} {secret!r} {secret:>20} {[secret]} {str(secret)} {'%s' % secret}")  # noqa: RUF010, UP031
    assert not hasattr(secret, "__dict__")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError):
            pickle.dumps(secret, protocol)
    assert copy.copy(secret) is secret
    assert copy.deepcopy({"key": secret})["key"] is secret


def test_secrets_compare() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
    assert Secret("a")
    assert not Secret("")


@pytest.fixture
def caught_log() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger whose only handler has the filter."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(message)s %(extra)s", defaults={"extra": ""}))
    handler.addFilter(RedactionFilter([Secret(KEY)]))
    logger = logging.getLogger("test-of-redaction")
    logger.propagate = False
    logger.addHandler(handler)
    yield logger, stream
    logger.removeHandler(handler)


def test_the_filter_finds_the_key_wherever_a_record_holds_it(
    caught_log: tuple[logging.Logger, io.StringIO],
) -> None:
    logger, stream = caught_log
    for form in (KEY, quote(KEY, safe=""), quote_plus(KEY), base64.b64encode(KEY.encode()).decode()):
        logger.warning("plain %s", f"before {form} after")
        logger.warning("url https://x/?API_KEY=%s&y=1", form)
        logger.warning("extra", extra={"extra": {"key": form}})
        logger.warning("stack " + form, stack_info=True)
        logger.warning("broken %d", form)
        try:
            raise ValueError(form)
        except ValueError:
            logger.exception("failed")
    for front in ("", "a", "ab"):
        logger.warning("basic %s", base64.b64encode(f"{front}:{KEY}:x".encode()).decode())
    assert REMOVED in stream.getvalue()
    assert "ValueError" in stream.getvalue()
    assert_clean(stream.getvalue())


def test_the_filter_leaves_other_records_as_they_are() -> None:
    net = RedactionFilter([Secret(KEY)])
    record = logging.makeLogRecord({"msg": "%s of %d", "args": ("3", 4)})
    assert net.filter(record)
    assert (record.msg, record.args) == ("%s of %d", ("3", 4))


def test_the_net_hangs_under_every_handler_of_the_root() -> None:
    root = logging.getLogger()
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root.addHandler(handler)
    before = logging.getLogger("httpx").level
    net = install_redaction([Secret(KEY)])
    try:
        logging.getLogger("anything").error("a slip: %s", KEY)
        assert "a slip" in stream.getvalue()
        assert_clean(stream.getvalue())
        assert logging.getLogger("httpx").getEffectiveLevel() >= logging.WARNING
    finally:
        remove(net)
        root.removeHandler(handler)
        logging.getLogger("httpx").setLevel(before)


@given(st.text(st.characters(codec="ascii", min_codepoint=33), min_size=8, max_size=40), st.binary(max_size=5))
def test_every_alignment_of_base64_is_found(key: str, front: bytes) -> None:
    redactor = Redactor([Secret(key)])
    text = base64.b64encode(front + key.encode() + front).decode()
    assert redactor.text(text) != text
    assert redactor.body(text.encode()) != text.encode()


def test_a_very_short_secret_does_not_shred_every_text() -> None:
    assert Redactor([Secret("a")]).text("a banana") == "a banana"
    assert Redactor([]).body(b"x") == b"x"


def test_a_short_key_leaves_replies_alone(connect: Connect) -> None:
    _, server = connect(answering(200, {"status": "PASS", "message": {"item": "demo kit"}}))
    client = Client(ServiceAccess(server.url, Secret("demo")), pacer=Pacer("none"))
    assert b"demo kit" in client.call("order.create", body="{}").body
    client.close()
