"""`doctor` sends itself an event through the public address: each thing that can be wrong on the way is named."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support.http_answers import Asked, Service, Told, between
from support.receiver_process import HEADER, SECRET, RunningReceiver
from support.workspace import Workspace

from logistics_batch.operate.doctor import Check, CheckState, Door, check_events
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened


def checked(workspace: Workspace, url: str, *, header: str = HEADER, secret: str = SECRET) -> Check:
    with Opened(workspace.root).parts(Need()) as parts:
        return check_events(parts, Door(url, header, secret))


@contextmanager
def server_in_front(receiver: RunningReceiver, *, drops: str = "", status: int = 0) -> Iterator[str]:
    """A proxy that passes requests on without one of their headers, or answers by itself."""

    def rule(asked: Asked, service: Service) -> Told:
        kept = {name: value for name, value in asked.headers.items() if name != drops}
        return Told(status) if status else service(replace(asked, headers=kept))

    with between(receiver.url, rule) as proxy:
        yield f"{proxy.url}/events"


def test_an_event_that_comes_the_whole_way_is_well(receiver: RunningReceiver) -> None:
    before = len(receiver.stored())
    with server_in_front(receiver) as url:
        check = checked(receiver.workspace, url)
    assert (check.state, check.text) == (CheckState.OK, f"an event to {url} came into the ledger")
    assert [row["unreadable"] for row in receiver.stored()[before:]] == ["another topic"]


def test_a_server_that_drops_the_header_is_named(receiver: RunningReceiver) -> None:
    with server_in_front(receiver, drops=HEADER) as url:
        check = checked(receiver.workspace, url)
    assert check.state is CheckState.PROBLEM
    assert check.text == f"{url} answered 401"
    assert "drops the header" in check.remedy
    assert SECRET not in repr(check)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/other", 0, "receive.path agree"),
        ("/events", 502, "Start `logistics-batch receive`"),
        ("/events", 301, "name"),
    ],
)
def test_what_the_server_in_front_does_wrong(receiver: RunningReceiver, path: str, status: int, words: str) -> None:
    with server_in_front(receiver, status=status) as url:
        check = checked(receiver.workspace, url.replace("/events", path))
    assert (check.state, words in check.remedy) == (CheckState.PROBLEM, True), check


def test_a_receiver_that_is_not_there_or_keeps_another_ledger(receiver: RunningReceiver, tmp_path: Path) -> None:
    check = checked(receiver.workspace, "http://127.0.0.1:9/events")
    assert (check.state, "cannot be reached" in check.text) == (CheckState.PROBLEM, True)
    check = checked(Workspace(tmp_path, url="https://service.invalid"), receiver.url)
    assert (check.state, "did not come into this ledger" in check.text) == (CheckState.PROBLEM, True)


def test_doctor_checks_it_when_the_settings_name_the_address(own_receiver: RunningReceiver) -> None:
    own_receiver.workspace.configure(f'public_url = "{own_receiver.url}"')
    checks = {check["name"]: check for check in own_receiver.workspace.run("doctor", "--json").json["checks"]}
    assert checks["events"]["state"] == "ok", checks["events"]
