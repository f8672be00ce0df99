"""A ledger that is full, at every page: sending stops, no byte leaves without an intent, nothing is lost or doubled."""

from contextlib import closing
from pathlib import Path

import pytest
from campaigns.ledgers import OutsideLedger
from campaigns.nights import KINDS, Night, drain, judge, night, received, what_is_held_is_listed
from campaigns.scale import FULL, numbers, report, size
from support.commands import Forker
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace

from logistics_batch.ledger.failures import sqlite3

DOCUMENTS = size(sample=12, full=60)


def pages(workspace: Workspace) -> int:
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as connection:
        return int(connection.execute("PRAGMA page_count").fetchone()[0])


def a_night(root: Path, sandbox: RunningSandbox, kind: str, mark: str) -> Night:
    workspace = Workspace(root / mark, url=sandbox.url, settle_after="0s")
    return night(workspace, kind, documents=DOCUMENTS, in_each=DOCUMENTS // 2, mark=f"{mark}-")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_ledger(kind: str, forker: Forker, sandbox: RunningSandbox, tmp_path: Path) -> None:
    whole = a_night(tmp_path, sandbox, kind, "whole")
    forker.run(whole.workspace, "settle")
    empty = pages(whole.workspace)
    assert whole.run(forker).code == 0
    first, end = 1 if FULL else empty - 1, pages(whole.workspace)  # below `empty` not even its tables find room
    stopped = sent = 0
    limits: list[int] = []
    for limit in (first + number for number in numbers(end - first, end - first)):
        limits.append(limit)
        each = a_night(tmp_path, sandbox, kind, f"at-{limit}")
        ended = forker.start(each.workspace, "run", kind, most_pages=limit).end()
        stopped += ended.code not in (0, 3, 4)
        asked, written = received(sandbox, kind), OutsideLedger(each.workspace).attempts()
        sent += sum(asked[one] for one in each.references)
        assert all(asked[one] <= written[one] for one in each.references), f"{limit} pages: sent without an intent"
        drain(forker, [each])
        verdict = judge(each, sandbox)
        assert verdict.faults == {}, f"{limit} pages: {ended.err}"
        assert what_is_held_is_listed(forker, each), f"{limit} pages"
        assert set(verdict.fates) <= {"accepted", "unchanged", *(("held",) if kind == "asns" else ())}
    report(
        "full ledger",
        kind=kind,
        first=limits[0],
        limits=len(limits),
        all=end - first,
        stopped=stopped,
        sent_before_the_stop=sent,
        empty=empty,
    )
    if len(limits) == end - first:  # a part may not come as far as to where anything is sent
        assert stopped > len(limits) // 2
        assert sent > 0
