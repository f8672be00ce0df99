"""kill -9 at each named crash point, at each time that it is passed, for orders and ASNs: enumerated, not drawn."""

import re
import sqlite3
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from campaigns.commands import Forker
from campaigns.nights import KINDS, Night, drain, judge, night
from campaigns.scale import FULL, report
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src/logistics_batch"
NAMED = re.compile(r'crash_point\("([^"]+)"\)')
POINTS = sorted({name for path in SOURCE.rglob("*.py") for name in NAMED.findall(path.read_text("utf-8"))})
SENDING = ("intent.", "send.", "outcome.", "settle.", "resend.", "spill.")
CASES = [(point, kind) for point in POINTS for kind in KINDS if FULL or kind == "orders" or point.startswith(SENDING)]
DOCUMENTS = 6
BREAK = "CREATE TRIGGER broken BEFORE UPDATE OF status ON attempt BEGIN SELECT RAISE(ABORT, 'it takes no answer'); END"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path_factory.mktemp("service"))
    yield running
    running.stop()


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


def change_ledger(workspace: Workspace, *statements: str) -> None:
    path = workspace.root / "var/ledger.db"
    path.parent.mkdir(exist_ok=True)
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.executescript(statement)
    connection.close()


def prepare(forker: Forker, service: RunningSandbox, point: str, each: Night) -> None:
    """What has to be so that a run passes this point."""
    service.set_faults([])
    if point.startswith(("settle.", "resend.")):
        lose_answers(service, each.references)
    elif point.startswith("ledger.migration."):
        change_ledger(each.workspace, (TESTS / "ledger/version_1/sqlite.sql").read_text("utf-8"))
    elif point.startswith("spill."):
        forker.run(each.workspace, "settle")
        change_ledger(each.workspace, BREAK)
        if point == "spill.taken_back":
            assert each.run(forker).code not in (0, 3, 4)
            change_ledger(each.workspace, "DROP TRIGGER broken")


def mend(service: RunningSandbox, each: Night) -> None:
    """The disk has space again, and the network is well."""
    service.set_faults([])
    change_ledger(each.workspace, "DROP TRIGGER IF EXISTS broken")


def kill_once(forker: Forker, service: RunningSandbox, folder: Path, at: str, kind: str) -> bool:
    """A night with a kill at `name:n`, and the verdict on it; False if the point was passed less often."""
    workspace = Workspace(folder, url=service.url)
    workspace.configure("concurrency = 4", "[service.asn]", 'resend = "after_absent"')
    each = night(workspace, kind, documents=DOCUMENTS, in_each=DOCUMENTS // 2, mark=f"{folder.name}-")
    point = at.partition(":")[0]
    prepare(forker, service, point, each)
    asked = ("run", kind)
    if point.startswith("resend.") and kind == "asns":  # an ASN is sent again only after three searches
        each.run(forker)
        asked = ("settle", "--wait")
    ended = forker.start(workspace, *asked, environment={"LOGISTICS_BATCH_CRASH_AT": at}).end()
    mend(service, each)
    drain(forker, [each])
    verdict = judge(each, service)
    assert verdict.faults == {}, f"{at}: {ended.err}"
    assert set(verdict.fates) <= ({"accepted", "unchanged"} if kind == "orders" else {"accepted", "unchanged", "held"})
    assert not list((workspace.root / "inbound").rglob("*.csv"))
    assert sorted(path.stem for path in (workspace.root / "archive" / kind).iterdir()) == sorted(each.files)
    return ended.code == -9


def test_the_points_stand_where_they_should() -> None:
    for name in ("file", "intent", "send", "outcome", "settle", "resend", "report", "archive", "spill"):
        assert any(point.startswith(f"{name}.before") for point in POINTS), name
    assert len(POINTS) >= 22


@pytest.mark.slow
@pytest.mark.parametrize(("point", "kind"), CASES)
def test_a_kill_at_each_passing(point: str, kind: str, forker: Forker, service: RunningSandbox, tmp_path: Path) -> None:
    """The sample kills at the first passing, the campaign at each one there is."""
    kills = 0
    for n in count(1):
        if not kill_once(forker, service, tmp_path / f"{point}-{kind}-{n}", f"{point}:{n}", kind):
            break
        kills = n
        if not FULL:
            break
    report("crash points", point=point, kind=kind, kills=kills)
    assert kills >= 1, "it is never passed"
