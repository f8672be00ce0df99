"""The pages are killed in the middle of a decision: it is made once or not at all, and the audit says so."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from support.pages_process import PASSWORD, RunningPages, hidden_fields
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import APPROVED_JOB, Workspace, order_lines


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("service"))


@pytest.fixture
def waiting(tmp_path: Path, service: RunningSandbox, request: pytest.FixtureRequest) -> Workspace:
    """A workspace in which a file of two orders waits for approval."""
    workspace = Workspace(tmp_path / "workspace", url=service.url)
    workspace.job("approved", APPROVED_JOB)
    name = request.node.callspec.id.replace(".", "-")
    workspace.drop("new.csv", order_lines([f"K-{name}-1", f"K-{name}-2"]))
    assert workspace.run("run", "approved").code == 4
    return workspace


@pytest.mark.parametrize(("point", "decided"), [("settle.before_commit", False), ("settle.after_commit", True)])
def test_a_decision_is_made_once_or_not_at_all(waiting: Workspace, point: str, decided: bool) -> None:
    pages = RunningPages(waiting, LOGISTICS_BATCH_CRASH_AT=f"{point}:1")
    operator = pages.person("operator")
    ((preview,),) = [json.loads(waiting.run("held", "list", "--json").out)["previews"]]
    look = operator.post("/decisions/look", {"id": [preview["id"]], "decision": "approve", "reason": "as ordered"})
    form = hidden_fields(look.text)
    with pytest.raises(httpx.TransportError):
        operator.post("/decisions/decide", form)
    assert pages.process.wait(timeout=20) == -signal.SIGKILL
    again = RunningPages(waiting)
    try:
        operator = again.stranger()
        operator.client.post("/sign-in", data={"name": "operator of tests", "password": PASSWORD})
        (entry,) = [each for each in again.person("admin").get("/admin/audit.json").json()["entries"]
                    if each["what"] == "decided: approve"]  # fmt: skip
        assert (entry["who"], entry["outcome"]) == ("operator of tests", "")
        left = json.loads(waiting.run("held", "list", "--json").out)["previews"]
        assert (left == []) is decided
        repeated = operator.post("/decisions/decide", form)
        assert repeated.status_code == (404 if decided else 303)
    finally:
        again.close()
    assert waiting.run("run", "approved").code == 0
    ((run,),) = [[each for each in json.loads(waiting.run("runs", "--json").out)["runs"] if each["exit_code"] == 0][:1]]
    assert run["summary"]["accepted"] == 2
