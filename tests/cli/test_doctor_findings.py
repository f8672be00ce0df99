"""Every finding of `doctor` is provoked once; what it says to do is done; then it is gone."""

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from cli.conftest import Run
from support.canary import key_of_tests
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace, order_lines

from logistics_batch.ledger import Ledger, NewNotice, open_ledger
from logistics_batch.operate.heartbeat import HEARTBEAT, beat

PUSH = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound}
results: {folder: results}
"""
NIGHTLY = 'schedule: {cron: "15 21 * * *"}\n'


@dataclass(frozen=True)
class Finding:
    """check: its name. remedy: words of what to do. provoke, follow: what brings it, and what the remedy says."""

    check: str
    remedy: str
    provoke: Callable[[Workspace], object]
    follow: Callable[[Workspace], object]


def ledger_of(workspace: Workspace) -> Ledger:
    url = json.loads((workspace.root / "url").read_text())
    return open_ledger(f"sqlite:///{workspace.root}/var/ledger.db", account=url)


def nowhere() -> str:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def set_url(workspace: Workspace, url: str) -> None:
    workspace.settings = [f'base_url = "{url}"' if "base_url" in each else each for each in workspace.settings]
    workspace._write_settings()


def right_url(workspace: Workspace) -> None:
    set_url(workspace, json.loads((workspace.root / "url").read_text()))


def set_settle_after(workspace: Workspace, text: str) -> None:
    kept = [each for each in workspace.settings if "settle_after" not in each]
    workspace.settings = [*kept[:5], f'settle_after = "{text}"', *kept[5:]]
    workspace._write_settings()


def calendar(workspace: Workspace, year: int) -> None:
    (workspace.root / "calendars").mkdir(exist_ok=True)
    (workspace.root / "calendars" / "in.yaml").write_text(f"holidays: {{{year}-11-09: Diwali}}\n")


def owed(workspace: Workspace) -> None:
    ledger = ledger_of(workspace)
    ledger.notice(NewNotice("k", "on_failure", "orders", "orders failed", "x"), now="2026-11-03T21:15:00+05:30")
    (notice,) = ledger.owed_notices()
    ledger.note_telling(notice.id, told={}, over=False, next_try_at="2026-11-03T21:16:00+05:30")
    ledger.close()


def told(workspace: Workspace) -> None:
    ledger = ledger_of(workspace)
    (notice,) = ledger.owed_notices()
    ledger.note_telling(notice.id, told={"a": "2026-11-03"}, over=False, next_try_at="")
    ledger.close()


def ahead(workspace: Workspace) -> None:
    ledger = ledger_of(workspace)
    at = (datetime.now().astimezone() + timedelta(hours=5)).isoformat()
    ledger.start_run("R1", job="x", kind="settle", business_date="2026-11-03", now=at)
    ledger.close()


def sign(workspace: Workspace) -> None:
    now = datetime.now().astimezone()
    (workspace.root / "var").mkdir(exist_ok=True)
    beat(workspace.root / HEARTBEAT, now=now, started_at=now, jobs=1, running=(), next_run="")


NOTHING = lambda _workspace: None  # noqa: E731
FINDINGS = {
    "a key that does not exist": Finding(
        "settings", "", lambda w: w.configure("[servise]"), lambda w: (w.settings.pop(), w._write_settings())
    ),
    "a secret that others can read": Finding(
        "secrets",
        "",
        lambda w: (
            w.configure("[receive]", 'secret = "0123456789abcdef0123456789abcdef"'),
            (w.root / "logistics-batch.toml").chmod(0o644),
        ),
        lambda w: (w.root / "logistics-batch.toml").chmod(0o600),
    ),
    "too little patience": Finding(
        "settle_after", 'Write "180s"', lambda w: set_settle_after(w, "60s"), lambda w: set_settle_after(w, "180s")
    ),
    "a mapping with a mistake": Finding(
        "mapping broken",
        "",
        lambda w: w.mapping("broken", "operation: order.creat\n"),
        lambda w: (w.root / "mappings/broken.yaml").unlink(),
    ),
    "a job with a mistake": Finding(
        "job nightly", "", lambda w: w.job("nightly", "kind: push\n"), lambda w: w.job("nightly", PUSH)
    ),
    "a job after one that is not there": Finding(
        "job then",
        "Did you mean",
        lambda w: (w.job("orders", PUSH), w.job("then", "kind: settle\nafter: [order]\n")),
        lambda w: w.job("then", "kind: settle\nafter: [orders]\n"),
    ),
    "a calendar that is not there": Finding(
        "job nightly",
        "Write calendars/in.yaml",
        lambda w: w.job("nightly", 'kind: settle\nschedule: {cron: "0 1 * * *", calendar: in}\n'),
        lambda w: calendar(w, 2099),
    ),
    "a calendar of an earlier year": Finding(
        "calendar", "Add the holidays", lambda w: calendar(w, 2020), lambda w: calendar(w, 2099)
    ),
    "nobody is told": Finding(
        "notify",
        "notify.urls_file",
        lambda w: w.job("nightly", "kind: settle\n" + NIGHTLY),
        lambda w: (w.secret("alerts", "json://127.0.0.1/"), w.configure("[notify]", 'urls_file = "secrets/alerts"')),
    ),
    "an address that nobody knows": Finding(
        "notify",
        "documentation",
        lambda w: (w.secret("alerts", "pigeon://x"), w.configure("[notify]", 'urls_file = "secrets/alerts"')),
        lambda w: w.secret("alerts", "json://127.0.0.1/"),
    ),
    "no scheduler": Finding(
        "scheduler",
        "`logistics-batch schedule`",
        lambda w: w.job("nightly", "kind: settle\n" + NIGHTLY),
        sign,
    ),
    "metrics that cannot be written": Finding(
        "metrics",
        "writable",
        lambda w: (w.drop("taken", "x", folder="."), w.configure("[metrics]", 'textfile = "taken/lb.prom"')),
        lambda w: (w.root / "taken").unlink(),
    ),
    "a log that cannot be written": Finding(
        "log",
        "writable",
        lambda w: (w.drop("taken", "x", folder="."), w.configure("[log]", 'file = "taken/lb.log"')),
        lambda w: (w.settings.pop(), w.settings.append('file = "log/lb.log"'), w._write_settings()),
    ),
    "a job file that is not read": Finding(
        "jobs",
        "ends in .yaml",
        lambda w: (w.root / "jobs/nightly.yml").write_text(PUSH),
        lambda w: (w.root / "jobs/nightly.yml").rename(w.root / "jobs/nightly.yaml"),
    ),
    "a job file that leads nowhere": Finding(
        "job nightly",
        "cannot be read",
        lambda w: (w.root / "jobs/nightly.yaml").symlink_to(w.root / "elsewhere.yaml"),
        lambda w: (w.root / "elsewhere.yaml").write_text(PUSH),
    ),
    "a service that is not there": Finding("service", "service.base_url", lambda w: set_url(w, nowhere()), right_url),
    "a key that is refused": Finding(
        "service", "api_key_file", lambda w: w.secret("api-key", "wrong"), lambda w: w.secret("api-key", key_of_tests())
    ),
    "a path of ASNs that the service does not know": Finding(
        "service, ASNs",
        "service.paths",
        lambda w: w.configure("[service.paths]", '"asn.fetch" = "/asns/somewhere-else"'),
        lambda w: (w.settings.pop(), w._write_settings()),
    ),
    "no key": Finding(
        "service and ledger",
        "",
        lambda w: (w.root / "secrets/api-key").unlink(),
        lambda w: w.secret("api-key", key_of_tests()),
    ),
    "a folder that is not there": Finding(
        "folder .:/inbound", "", lambda w: w.job("orders", PUSH), lambda w: (w.root / "inbound").mkdir()
    ),
    "alerts that wait": Finding("alerts", "[notify]", owed, told),
    "a clock that is behind": Finding("clock", "Set the clock right", ahead, NOTHING),
}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path_factory.mktemp("sandbox"))
    yield running
    running.stop()


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_is_gone_once_its_remedy_was_followed(
    name: str, run: Run, tmp_path: Path, sandbox: RunningSandbox
) -> None:
    finding = FINDINGS[name]
    workspace = Workspace(tmp_path, url=sandbox.url, settle_after="180s")
    (tmp_path / "url").write_text(json.dumps(sandbox.url))
    (tmp_path / "results").mkdir()

    def found() -> list[dict[str, str]]:
        checks = run("doctor", "--json").json["checks"]
        return [each for each in checks if each["name"] == finding.check and each["state"] != "ok"]

    run("ledger", "verify")
    finding.provoke(workspace)
    (told_of, *_) = found()
    assert finding.remedy in f"{told_of['remedy']} {told_of['text']}"
    finding.follow(workspace)
    if finding.check == "clock":
        with time_machine.travel(datetime.now().astimezone() + timedelta(hours=6), tick=True):
            assert found() == []
    else:
        assert found() == []


def problems(run: Run, name: str, **environment: str) -> list[dict[str, str]]:
    checks = run("doctor", "--json", **environment).json["checks"]
    return [each for each in checks if each["name"] == name and each["state"] != "ok"]


def test_asns_that_cannot_be_read_for_a_while(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    Workspace(tmp_path, url=sandbox.url, settle_after="180s")
    sandbox.set_faults([{"endpoint": "asn.fetch", "kind": "status_503"}])
    try:
        (finding,) = problems(run, "service, ASNs")
        assert finding["state"] == "warning", "not everybody has ASNs"
        assert "Try again" in finding["remedy"]
    finally:
        sandbox.set_faults([])
    assert problems(run, "service, ASNs") == []


def test_a_doubt_and_a_held_document(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    """What is in doubt is gone once it was settled, what is held once a person decided."""
    workspace = Workspace(tmp_path, url=sandbox.url, settle_after="180s")
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
    try:
        assert run("push", workspace.drop("lost.csv", order_lines(["DOUBT-1"])), "--mapping", "orders").code == 4
    finally:
        sandbox.set_faults([])
    changed = order_lines(["DOUBT-2"])
    assert run("push", workspace.drop("a.csv", changed), "--mapping", "orders").code == 0
    again = workspace.drop("b.csv", changed.replace("Market Road", "Station Road"))
    assert run("push", again, "--mapping", "orders").code == 4

    (finding,) = problems(run, "ledger")
    assert finding["text"] == "sound; 1 in doubt, 1 held"
    assert "`logistics-batch settle`" in finding["remedy"]
    assert run("settle", LOGISTICS_BATCH_SERVICE__SETTLE_AFTER="0s").code == 0
    assert problems(run, "ledger")[0]["text"] == "sound; 0 in doubt, 1 held"
    assert "`logistics-batch held list`" in finding["remedy"]
    (held,) = run("held", "list", "--json").json["held"]
    assert run("held", "decide", str(held["id"]), "drop", "--reason", "the old address is right").code == 0
    assert problems(run, "ledger") == []


SMALL_DISK = """
mount -t tmpfs -o size="$2" none "$1/var" || exit 77
"$3" -m logistics_batch --workspace "$1" doctor --json > "$1/small.json"
mount -o remount,size=3g "$1/var"
"$3" -m logistics_batch --workspace "$1" doctor --json > "$1/large.json"
exit 0
"""


@pytest.mark.slow
@pytest.mark.parametrize(("size", "state"), [("60m", "problem"), ("700m", "warning")])
def test_a_disk_with_little_space(size: str, state: str, tmp_path: Path, sandbox: RunningSandbox) -> None:
    """A real disk, seen by these processes alone: `var` lies on it, the rest of the workspace does not."""
    workspace = Workspace(tmp_path, url=sandbox.url, settle_after="180s")
    (tmp_path / "var").mkdir()
    python = workspace.command()[0]
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", SMALL_DISK, "sh", str(tmp_path), size, python]
    done = subprocess.run(command, env=workspace.environment({}), capture_output=True, text=True, timeout=120)
    if done.returncode:
        pytest.skip(f"this machine lets nobody mount a disk: {done.stderr}")

    def findings(name: str) -> list[dict[str, str]]:
        checks = json.loads((tmp_path / f"{name}.json").read_text())["checks"]
        return [each for each in checks if each["name"] == "disk" and each["state"] != "ok"]

    (finding,) = findings("small")
    assert finding["state"] == state
    assert str(tmp_path / "var") in finding["text"]
    assert "Free some space" in finding["remedy"]
    assert findings("large") == []
