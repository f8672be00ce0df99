"""Histories by chance on the real program: faults, deaths, corrections, people, others, two programs at once.

CAMPAIGN=full plays 5,000 on each ledger; CAMPAIGN_FROM and CAMPAIGN_SECONDS play a part of them. One that breaks a
promise is printed as a test to keep, with the few steps that matter.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from campaigns.scale import SEED, numbers, report
from histories.drawing import as_test, draw_history, shrunk
from histories.playing import History, Play, Step, World, new_workspace
from histories.service import Habits, Service
from support.postgres import new_database, postgres_server

from logistics_batch.api.answers import ReplyVerdict
from logistics_batch.api.client import Reply

HISTORIES = {"sqlite": {"sample": 25, "full": 5_000}, "postgresql": {"sample": 4, "full": 5_000}}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace to begin with."""
    folder = tmp_path_factory.mktemp("histories") / "first"
    new_workspace(folder)
    return folder


def in_a_copy(template: Path, work: Callable[[Path], Play]) -> Play:
    """Work in a copy of the workspace: in memory where that can be, for a kill is no power cut."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        return work(shutil.copytree(template, Path(folder) / "workspace"))


def played(template: Path, history: History) -> Play:
    """Play a history in a new workspace."""
    return in_a_copy(template, history.play)


@pytest.mark.slow
def test_histories_by_chance(template: Path) -> None:
    by_chance("sqlite", lambda history: played(template, history))


@pytest.mark.slow
@pytest.mark.real
def test_histories_by_chance_on_postgresql(tmp_path: Path) -> None:
    with postgres_server(tmp_path / "pg") as server:
        first = tmp_path / "first"
        model = new_database(server)
        new_workspace(first, model)

        def play(history: History) -> Play:
            url = new_database(server, like=model)
            return in_a_copy(first, lambda root: history.play(root, url))

        by_chance("postgresql", play)


def by_chance(ledger: str, play: Callable[[History], Play]) -> None:
    """Play histories by number; those that break a promise are shrunk and told."""
    began, steps, calls, found = time.monotonic(), 0, 0, []
    histories = 0
    for number in numbers(**HISTORIES[ledger]):
        history = draw_history(SEED, number)
        done = play(history)
        histories, steps, calls = histories + 1, steps + len(history.steps), calls + done.judge.judged
        if done.broken:
            few = shrunk(history, lambda fewer: play(fewer).broken, done.broken)
            found.append(f"history {number}: {done.broken}\n{as_test(few, done.broken)}")
    seconds = round(time.monotonic() - began)
    report("histories", ledger=ledger, played=histories, steps=steps, creates=calls, broken=len(found), seconds=seconds)
    assert not found, "\n\n".join(found)


LOST_ORDER: tuple[Step, ...] = (
    ("fault", "order.create", "lose_answer", 1),
    ("drop", "order", "a.csv", (("R-1", "A"),)),
    ("run", "order"),
    ("wait", 61.0),
    ("settle",),
)
TAKEN_ORDER: tuple[Step, ...] = (
    ("foreign", "R-1", "X"),
    ("fault", "order.create", "lose_request", 1),
    *LOST_ORDER[1:],
)
LOST_ASN: tuple[Step, ...] = (
    ("fault", "asn.create", "lose_answer", 1),
    ("drop", "asn", "a.csv", (("R-1", "A"),)),
    ("run", "asn"),
)
REPLACED: tuple[Step, ...] = (
    ("drop", "asn", "a.csv", (("R-1", "A"),)),
    ("meanwhile", ("drop", "asn", "a.csv", (("R-2", "A"),))),
    ("run", "asn"),
)
CORRECTED: tuple[Step, ...] = (
    *(("drop", "order", "first.csv", (("R-0", "A"),)), ("run", "order")),
    ("fault", "order.create", "lose_request", 1),
    *(("drop", "order", "a.csv", (("R-1", "A"),)), ("run", "order")),
    *(("drop", "order", "a.csv", (("R-1", "B"),)), ("run", "order")),
    *(("wait", 61.0), ("settle",), ("run", "order")),
)
_STATES = "logistics_batch.flows.push.outcomes._STATES"
_ACCEPTED = {ReplyVerdict.ACCEPTED: "accepted"}
MISTAKES: dict[str, tuple[str, object, tuple[Step, ...], str]] = {
    "a doubt is sent again": (
        _STATES,
        dict.fromkeys(ReplyVerdict, "planned") | _ACCEPTED,
        LOST_ASN,
        "asn_created_once",
    ),
    "an error is a refusal": (
        _STATES,
        dict.fromkeys(ReplyVerdict, "refused") | _ACCEPTED,
        LOST_ORDER,
        "refused_is_true",
    ),
    "a file is put away unread": (
        "logistics_batch.intake.stores.store.FileStore._check_moved",
        lambda *_: None,
        REPLACED,
        "no_file_is_lost",
    ),
    "anything under the reference is ours": (
        "logistics_batch.flows.orders.search.same_order",
        lambda *_: True,
        TAKEN_ORDER,
        "accepted_is_true",
    ),
    "a correction that waits is not looked at": (
        "logistics_batch.ledger.documents.planning.Planning.decide_anew",
        lambda *_, **_values: False,
        CORRECTED,
        "no_known_wrong_version",
    ),
    "answers are not written again": (
        "logistics_batch.ledger.files.Files.stale",
        lambda _: [],
        LOST_ORDER,
        "every_row_is_answered",
    ),
}
"""Where each is made, what stands there instead, and a history that then breaks a promise."""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str, template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, instead, steps, promise = MISTAKES[mistake]
    assert played(template, History(steps)).broken is None
    monkeypatch.setattr(place, instead)
    broken = played(template, History(steps)).broken
    assert broken is not None
    assert broken.promise == promise


def test_orders_about_which_the_service_fails_keep_no_others_back(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Service._shown

    def fails_for_some(service: Service, asked: str) -> Reply:
        failed = Reply("order.fetch", status=500, body=b'{"status": "FAIL", "message": "Unexpected error"}')
        return failed if asked in ("R-1", "R-2", "R-3") else shown(service, asked)

    monkeypatch.setattr(Service, "_shown", fails_for_some)
    references = ("R-1", "R-2", "R-3", "R-4", "R-5")
    steps: tuple[Step, ...] = (
        ("fault", "order.create", "lose_answer", len(references)),
        *(("drop", "order", f"{each}.csv", ((each, "A"),)) for each in references),
        *(("run", "order"), ("wait", 61.0), ("settle",), ("wait", 61.0), ("settle",)),
    )
    done = played(
        template,
        History(
            steps,
            World(Habits(duplicate="error")),
        ),
    )
    assert {each.reference for each in done.ended if each.state == "accepted"} >= {"R-4", "R-5"}


def test_an_order_whose_answer_was_lost_behind_many_429_is_settled(template: Path) -> None:
    """History 90 of the first drawing: it stayed in doubt for more than an hour of `settle --wait`."""
    steps: tuple[Step, ...] = (
        *(("drop", "order", "first.csv", (("R-0", "A"),)), ("run", "order")),
        *(("fault", "order.create", "lose_request", 1), ("fault", "order.create", "slow_down_429", 12)),
        *(("drop", "order", "a.csv", (("R-1", "A"),)), ("run", "order"), ("wait", 61.0), ("settle",)),
    )
    done = played(template, History(steps, World(Habits(duplicate="replay"))))
    assert done.broken is None
    assert [each.state for each in done.ended] == ["accepted"] * 2


def test_after_a_week_nobody_is_asked_any_more_about_what_a_person_was_told_of(template: Path) -> None:
    asked: list[str] = []

    def notes(endpoint: str) -> str:
        asked.append(endpoint)
        return ""

    def play(root: Path) -> Play:
        here = World().on(root)
        here.stage.service.down = notes
        with here.stage.set_up():
            for step in (("fault", "asn.create", "lose_request", 1), *LOST_ASN[1:], ("wait", 61.0)):
                here.step(step)
            for _ in range(4):
                here.step(("settle",))
                here.step(("wait", 1000.0))
            for days in (1.0, 7.0, 1.0):
                asked.clear()
                here.step(("settle",))
                here.told.append("asked" if "asn.fetch" in asked else "not asked")
                here.step(("wait", days * 86_400))
            here.ended = here.judge.documents()
        return here

    done = in_a_copy(template, play)
    assert [each.state for each in done.ended] == ["held"]
    assert [each for each in done.told if each in ("asked", "not asked")] == ["asked", "asked", "not asked"]


def test_a_history_is_shrunk_to_what_matters(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, instead, steps, _ = MISTAKES["a doubt is sent again"]
    monkeypatch.setattr(place, instead)
    long = History((("wait", 1.0), ("fault", "order.create", "late", 2), *steps, ("settle",), ("cure",)))
    broken = played(template, long).broken
    assert broken is not None
    few = shrunk(long, lambda fewer: played(template, fewer).broken, broken)
    assert tuple(few.steps) == steps
    assert "('run', 'asn')" in as_test(few, broken)


TWO_FILES: Step = ("drop", "order", "b.csv", (("R-1", "C"), ("R-2", "A")))
KEPT: dict[str, tuple[Step, ...]] = {
    "what lay unread when its like was dropped asks again": (
        ("meanwhile", ("drop", "order", "a.csv", (("R-1", "A"), ("R-3", "C")))),
        ("drop", "order", "a.csv", (("R-1", "C"), ("R-3", "A"))),
        *(("drop", "order", "b.csv", (("R-1", "A"), ("R-2", "A"))), ("run", "order")),
        *(("decide", "drop"), ("reopen",)),
    ),
    "of two files a person chose this one, and its sender died": (
        ("drop", "order", "a.csv", (("R-1", "A"), ("R-2", "A"))),
        *(TWO_FILES, ("run", "order")),
        ("kill", "intent.after_commit", 1),
        *(("decide", "send-again"), ("run", "order"), ("retry", "order")),
    ),
    "of two files a person chose this one, a third one came, and its request was lost": (
        ("drop", "order", "a.csv", (("R-1", "A"), ("R-2", "C"))),
        ("fault", "order.create", "lose_request", 2),
        ("drop", "order", "b.csv", (("R-1", "B"), ("R-2", "B"))),
        ("run", "order"),
        ("drop", "order", "a.csv", (("R-3", "A"), ("R-2", "A"))),
        *(("decide", "send-again"), ("run", "order"), ("wait", 61.0), ("settle",)),
    ),
}
"""Histories that once were called broken and were not: what people asked for went out."""


@pytest.mark.parametrize("kept", KEPT)
def test_what_people_ask_for_breaks_no_promise(kept: str, template: Path) -> None:
    done = played(template, History(KEPT[kept]))
    assert done.broken is None
    assert all(done.stage.service.alive("order", reference) for reference in ("R-1", "R-2"))
