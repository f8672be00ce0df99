"""Each finding of `doctor` is provoked; what it says to do is done; then it is gone."""

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from cli.conftest import Run
from support.canary import key_of_tests
from support.event_receiver import Receiver, receiving
from support.raw_servers import answering, serving
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace, order_lines

from logistics_batch.ledger import Ledger, NewNotice, open_ledger
from logistics_batch.operate.heartbeat import beat, sign_of

PUSH = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound}
results: {folder: results}
"""
AUDIT = """\
kind: reconcile
window: {by: delivery, from: -1d, to: 0d}
receipts: {folder: ., path: /lists/received.csv, mapping: receipts}
"""
RECEIPTS = """\
operation: receipt.read
fields:
  invoice_number: {from: Invoice, required: true}
  sku_name: {from: SKU, required: true}
  qty: {from: Qty, required: true}
"""
NIGHTLY = 'schedule: {cron: "15 21 * * *"}\n'


@dataclass(frozen=True)
class Finding:
    """check: its name. remedy: words of what to do. provoke, follow: what brings it, and what the remedy says.

    options: of the command.
    """

    check: str
    remedy: str
    provoke: Callable[[Workspace], object]
    follow: Callable[[Workspace], object]
    options: tuple[str, ...] = ()


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


def sftp(workspace: Workspace, *, host_key: str = "") -> None:
    """A server for the job `nightly`; with the host key of another one unless one is given."""
    server = json.loads((workspace.root / "sftp").read_text())
    workspace.secret("sftp", server["password"])
    workspace.settings = workspace.settings[:5]
    other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPqp4PXZ9jC6Zb3o8dQm6qJ0h5m8m4VJ0m1m2n3o4p5q"
    said = {name: json.dumps(server[name]) for name in ("host", "port", "username")}
    said |= {"password_file": '"secrets/sftp"', "host_key": json.dumps(host_key or other)}
    workspace.configure("[sftp.bhiwandi]", *(f"{name} = {text}" for name, text in said.items()))
    workspace.job("nightly", "kind: push\nmapping: orders\nsource: {sftp: bhiwandi, path: /inbound}\n")


def pinned(workspace: Workspace) -> None:
    sftp(workspace, host_key=json.loads((workspace.root / "sftp").read_text())["host_key"])


def set_alerts(workspace: Workspace, address: str) -> None:
    workspace.secret("alerts", f"{address}\n")
    workspace.settings = [each for each in workspace.settings if each != "[notify]" and "urls_file" not in each]
    workspace.configure("[notify]", 'urls_file = "secrets/alerts"')


def set_settle_after(workspace: Workspace, text: str) -> None:
    kept = [each for each in workspace.settings if "settle_after" not in each]
    workspace.settings = [*kept[:5], f'settle_after = "{text}"', *kept[5:]]
    workspace._write_settings()


def calendar(workspace: Workspace, year: int) -> None:
    (workspace.root / "calendars").mkdir(exist_ok=True)
    (workspace.root / "calendars" / "in.yaml").write_text(f"holidays: {{{year}-11-09: Diwali}}\n")


def owed(workspace: Workspace) -> None:
    ledger = ledger_of(workspace)
    ledger.notices.note(NewNotice("k", "on_failure", "orders", "orders failed", "x"), now="2026-11-03T21:15:00+05:30")
    (notice,) = ledger.notices.owed()
    ledger.notices.note_telling(notice.id, told={}, over=False, next_try_at="2026-11-03T21:16:00+05:30")
    ledger.close()


def told(workspace: Workspace) -> None:
    ledger = ledger_of(workspace)
    (notice,) = ledger.notices.owed()
    ledger.notices.note_telling(notice.id, told={"a": "2026-11-03"}, over=False, next_try_at="")
    ledger.close()


def ahead(workspace: Workspace) -> None:
    ledger = ledger_of(workspace)
    at = (datetime.now().astimezone() + timedelta(hours=5)).isoformat()
    ledger.runs.start("R1", job="x", kind="settle", business_date="2026-11-03", now=at)
    ledger.close()


def sign(workspace: Workspace, *, after: timedelta = timedelta()) -> None:
    now = datetime.now().astimezone() + after
    (workspace.root / "var").mkdir(exist_ok=True)
    beat(sign_of(workspace.root), now=now, started_at=now, jobs=1, running=(), next_run="")


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
    "jobs that others can change": Finding(
        "workspace",
        "chmod o-w",
        lambda w: (w.root / "jobs").chmod(0o777),
        lambda w: (w.root / "jobs").chmod(0o755),
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
    "a mapping that sends nothing": Finding(
        "job lists",
        "receipt.read",
        lambda w: (w.mapping("receipts", RECEIPTS), w.job("lists", PUSH.replace("orders", "receipts"))),
        lambda w: w.job("lists", PUSH),
    ),
    "a list read by a mapping of orders": Finding(
        "job audit",
        "receipt.read",
        lambda w: (
            w.drop("received.csv", "x", folder="lists"),
            w.job("audit", AUDIT.replace(": receipts}", ": orders}")),
        ),
        lambda w: (w.mapping("receipts", RECEIPTS), w.job("audit", AUDIT)),
    ),
    "a tolerance that there is not": Finding(
        "job audit",
        "Did you mean `SHORT`?",
        lambda w: w.job("audit", AUDIT[: AUDIT.index("receipts:")] + "tolerance: {SHRT: {units: 1}}\n"),
        lambda w: w.job("audit", AUDIT[: AUDIT.index("receipts:")] + "tolerance: {SHORT: {units: 1}}\n"),
    ),
    "labels sorted by what nobody knows": Finding(
        "job labels",
        "Did you mean `hub`?",
        lambda w: w.job("labels", "kind: labels\nsort: [hubb]\n"),
        lambda w: w.job("labels", "kind: labels\nsort: [hub]\n"),
    ),
    "two jobs for the same files": Finding(
        "job two",
        "the job one takes with another mapping",
        lambda w: (
            w.drop("x.txt", "x", folder="inbound"),
            w.job("one", PUSH.replace("inbound}", 'inbound, pattern: "*.csv"}')),
            w.job("two", PUSH.replace("orders", "asns").replace("inbound}", 'inbound, pattern: "asn_*.csv"}')),
        ),
        lambda w: w.job("one", PUSH.replace("inbound}", 'inbound, pattern: "orders_*.csv"}')),
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
    "a calendar with a mistake": Finding(
        "calendar in",
        "Did you mean",
        lambda w: (calendar(w, 2099), (w.root / "calendars/in.yaml").write_text("holiday: {}\n")),
        lambda w: calendar(w, 2099),
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
    "addresses that cannot be read": Finding(
        "notify",
        "notify.urls_file",
        lambda w: w.configure("[notify]", 'urls_file = "secrets/alerts"'),
        lambda w: w.secret("alerts", "json://127.0.0.1/"),
    ),
    "an address that takes no message": Finding(
        "notify",
        "can be reached",
        lambda w: set_alerts(w, f"{nowhere().replace('http', 'json')}/?cto=1"),
        lambda w: set_alerts(w, json.loads((w.root / "people").read_text())),
        options=("--notify",),
    ),
    "a scheduler that stopped": Finding(
        "scheduler",
        "`logistics-batch schedule`",
        lambda w: (w.job("nightly", "kind: settle\n" + NIGHTLY), sign(w, after=-timedelta(hours=5))),
        sign,
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
    "an address that doubles the paths": Finding(
        "service", "order.cancel", lambda w: set_url(w, f"{json.loads((w.root / 'url').read_text())}/api"), right_url
    ),
    "a path that the service does not have": Finding(
        "service",
        "service.base_url and service.paths",
        lambda w: set_url(w, f"{json.loads((w.root / 'url').read_text())}/v2"),
        right_url,
    ),
    "a path of orders that the service does not have": Finding(
        "service",
        "service.base_url and service.paths",
        lambda w: w.configure("[service.paths]", '"order.fetch" = "/orders/elsewhere/{orderId}"'),
        lambda w: (w.settings.pop(), w._write_settings()),
    ),
    "a website": Finding(
        "service",
        "service.base_url and service.paths",
        lambda w: set_url(w, json.loads((w.root / "website").read_text())),
        right_url,
    ),
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
    "a host key that is not the pinned one": Finding("sftp.bhiwandi:/inbound", "SHA256:", sftp, pinned),
    "a list that is not there": Finding(
        "folder .:/lists/received.csv",
        "create the folder",
        lambda w: (w.mapping("receipts", RECEIPTS), w.job("audit", AUDIT)),
        lambda w: w.drop("received.csv", "x", folder="lists"),
    ),
    "alerts that wait": Finding("alerts", "[notify]", owed, told),
    "a clock that is behind": Finding("clock", "Set the clock right", ahead, NOTHING),
}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path_factory.mktemp("sandbox"), sftp=True)
    assert running.sftp is not None
    (running.sftp.root / "inbound").mkdir(exist_ok=True)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def people() -> Iterator[Receiver]:
    with receiving() as somebody:
        yield somebody


@pytest.fixture(scope="module")
def website() -> Iterator[str]:
    """Answers everything with 200 and a page."""
    with serving(answering(200, b"<!doctype html><title>Welcome</title>", content_type="text/html")) as site:
        yield site.url


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_is_gone_once_its_remedy_was_followed(
    name: str, run: Run, tmp_path: Path, sandbox: RunningSandbox, people: Receiver, website: str
) -> None:
    finding = FINDINGS[name]
    workspace = Workspace(tmp_path, url=sandbox.url, settle_after="180s")
    (tmp_path / "url").write_text(json.dumps(sandbox.url))
    server = {name: getattr(sandbox.sftp, name) for name in ("host", "port", "username", "password", "host_key")}
    (tmp_path / "sftp").write_text(json.dumps(server))
    (tmp_path / "people").write_text(json.dumps(people.url.replace("http", "json")))

    def found() -> list[dict[str, str]]:
        checks = run("doctor", *finding.options, "--json").json["checks"]
        return [each for each in checks if each["name"] == finding.check and each["state"] != "ok"]

    (tmp_path / "website").write_text(json.dumps(website))
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


def test_a_server_that_the_settings_do_not_know_is_told_once(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    """As after `init`, whose jobs use it in seven folders."""
    workspace = Workspace(tmp_path, url=sandbox.url)
    for name in ("orders", "asns", "receipts"):
        workspace.job(name, f"kind: push\nmapping: orders\nsource: {{sftp: bhiwandi, path: /{name}}}\n")
    checks = run("doctor", "--json").json["checks"]
    said = [each for each in checks if "know no SFTP server" in each["text"]]
    assert len(said) == 1


def test_the_way_that_calls_take(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    """That of the settings; one of the environment is named, without what it holds, and not used."""
    workspace = Workspace(tmp_path, url=sandbox.url)

    def way(**environment: str) -> tuple[str, str]:
        names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
        nothing = dict.fromkeys((*names, *map(str.lower, names)), "")
        checks = run("doctor", "--json", **(nothing | environment)).json["checks"]
        (check,) = [each for each in checks if each["name"] == "proxy"]
        assert check["state"] == "ok"
        return check["text"], check["remedy"]

    assert way() == ("none, calls go straight out", "")
    text, remedy = way(HTTPS_PROXY="http://user:password-of-it@proxy.example:3128", all_proxy="http://other")
    assert text == "none, calls go straight out; HTTPS_PROXY and all_proxy of the environment: not used"
    assert "service.proxy" in remedy
    workspace.settings.insert(2, f'proxy = "{nowhere()}"')
    workspace._write_settings()
    text, remedy = way(http_proxy="http://other")
    assert text.startswith("calls and label links go through http://127.0.0.1:")
    assert text.endswith("(service.proxy); http_proxy of the environment: not used")
    assert remedy == ""


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


def test_what_was_being_sent_when_its_run_was_killed(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    """Until the next run it has no sender and no end: the doctor counts it as `runs show` does."""
    workspace = Workspace(tmp_path, url=sandbox.url, settle_after="0s")
    file = workspace.drop("killed.csv", order_lines(["KILLED-1", "KILLED-2"]))
    workspace.run("push", file, "--mapping", "orders", LOGISTICS_BATCH_CRASH_AT="send.after:1")
    shown = run("runs", "show", "push", "--json").json["files"][0]["counts"]
    (finding,) = problems(run, "ledger")
    assert finding["text"].startswith(f"sound; {shown['in_doubt']} in doubt")
    assert "`logistics-batch settle`" in finding["remedy"]
    run("settle", "--wait")
    assert problems(run, "ledger") == []


@pytest.mark.parametrize("another", [False, True], ids=["an older copy", "another ledger"])
def test_a_ledger_that_push_refuses(another: bool, run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    """The doctor and a dry run say the same of it."""
    workspace = Workspace(tmp_path, url=sandbox.url, settle_after="180s")
    first = workspace.drop("a.csv", order_lines([f"OLDER-{another}-1"]))
    ledger = tmp_path / "var/ledger.db"
    assert run("push", first, "--mapping", "orders").code == 0
    shutil.copyfile(ledger, tmp_path / "older.db")
    assert run("push", workspace.drop("b.csv", order_lines([f"OLDER-{another}-2"])), "--mapping", "orders").code == 0
    shutil.copyfile(ledger, tmp_path / "newest.db")
    if another:
        ledger.unlink()
    else:
        shutil.copyfile(tmp_path / "older.db", ledger)
    (finding,) = problems(run, "ledger")
    refused = run("push", first, "--mapping", "orders")
    tried = run("push", first, "--mapping", "orders", "--dry-run")
    assert (finding["state"], refused.code, tried.code) == ("problem", 2, 2)
    assert refused.err == tried.err
    assert finding["text"] in refused.err
    shutil.copyfile(tmp_path / "newest.db", ledger)
    assert problems(run, "ledger") == []
    assert run("push", first, "--mapping", "orders", "--dry-run").code == 0


def test_what_a_run_that_stopped_left_unsent(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    """The run of another file ends well; what the first one left is told all the same until it went out."""
    workspace = Workspace(tmp_path, url=sandbox.url)
    sandbox.set_faults([{"endpoint": "order.create", "kind": "status_401"}])
    try:
        first = run("push", workspace.drop("a.csv", order_lines(["LEFT-1", "LEFT-2"])), "--mapping", "orders", "--json")
        assert first.code == 5
    finally:
        sandbox.set_faults([])
    left = first.json["run"]
    second = run("push", workspace.drop("b.csv", order_lines(["SENT-1"])), "--mapping", "orders", "--json")
    assert second.code == 0
    (note,) = [note for note in second.json["notes"] if "never sent" in note]
    assert note.startswith(f"2 documents of a.csv were never sent, for the run {left} (push) stopped early")
    assert f"`logistics-batch retry {left}`" in note
    assert "never sent" in run("settle").out
    (finding,) = problems(run, "unsent")
    assert finding["text"] == f"2 documents were never sent: {left} (push: a.csv)"
    with closing(open_ledger(f"sqlite:///{tmp_path}/var/ledger.db", account=sandbox.url)) as ledger:
        with ledger.sending("nightly"):
            assert problems(run, "unsent") == [], "they may be on their way"
        assert problems(run, "unsent")
    assert run("retry", left).code == 0
    assert problems(run, "unsent") == []


def test_a_service_that_is_too_busy_to_be_asked(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    Workspace(tmp_path, url=sandbox.url)
    sandbox.set_faults([{"endpoint": "order.fetch", "kind": "status_429"}])
    try:
        (finding,) = problems(run, "service")
    finally:
        sandbox.set_faults([])
    assert (finding["state"], finding["remedy"].partition(":")[0]) == ("warning", "Nothing has to be done")


def test_a_ledger_of_another_address(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    """The same service by another name: what was sent is hidden, and a run would create it again."""
    workspace = Workspace(tmp_path, url=sandbox.url, settle_after="180s")
    path = workspace.drop("a.csv", order_lines(["OTHER-1"]))
    assert run("push", path, "--mapping", "orders").code == 0
    assert problems(run, "ledger, other addresses") == []
    set_url(workspace, sandbox.url.replace("127.0.0.1", "localhost"))
    (finding,) = problems(run, "ledger, other addresses")
    assert f"It holds 1 document of {sandbox.url}" in finding["text"]
    (note,) = run("push", path, "--mapping", "orders", "--json").json["notes"]
    assert f"The ledger holds 1 document of {sandbox.url} and none of http://localhost" in note
    set_url(workspace, sandbox.url)
    assert problems(run, "ledger, other addresses") == []


def test_a_ledger_that_was_copied(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    """With its whole workspace, to where it sends as well: told until it has sent there, and at its old place never."""
    first = Workspace(tmp_path / "first", url=sandbox.url, settle_after="180s")
    first.run("push", first.drop("a.csv", order_lines(["COPIED-1"])), "--mapping", "orders")
    shutil.copytree(first.root, tmp_path / "second")
    second = Workspace(tmp_path / "second", url=sandbox.url, settle_after="180s")
    (finding,) = problems(second.run, "ledger, its place")
    assert f"used last as {first.root / 'var/ledger.db'} on {socket.gethostname()}" in finding["text"]
    assert problems(first.run, "ledger, its place") == []
    file = second.drop("b.csv", order_lines(["COPIED-2"]))
    (note,) = second.run("push", file, "--mapping", "orders", "--json").json["notes"]
    assert f"used last as {first.root / 'var/ledger.db'}" in note
    assert "used last as" not in second.run("push", file, "--mapping", "orders", "--json").out
    assert problems(second.run, "ledger, its place") == []


def test_a_ledger_on_a_network_share(
    run: Run, tmp_path: Path, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two machines' locks may not meet there: nothing is sent with it, but what it holds can still be read."""
    workspace = Workspace(tmp_path, url=sandbox.url, settle_after="180s")
    file = workspace.drop("a.csv", order_lines(["SHARED-1"]))
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr("logistics_batch.ledger.itself.opening._MOUNTS", mounts)
    mounts.write_text(f"36 35 0:50 / {tmp_path / 'var'} rw - nfs4 files:/export rw\n")
    refused = run("push", file, "--mapping", "orders")
    assert refused.code == 2
    assert "network file system (nfs4, mounted at" in refused.err
    assert not (tmp_path / "var/ledger.db").exists()
    (finding,) = problems(run, "ledger, its place")
    assert finding["state"] == "problem"
    assert "ledger.url" in finding["remedy"]
    mounts.write_text("36 35 8:1 / / rw - ext4 /dev/sda1 rw\n")
    assert run("push", file, "--mapping", "orders").code == 0
    mounts.write_text(f"36 35 0:50 / {tmp_path / 'var'} rw - cifs //files/export rw\n")
    assert run("runs", "show", "push").code == 0
    assert run("push", file, "--mapping", "orders").code == 2


def test_metrics_without_their_library(
    run: Run, tmp_path: Path, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    Workspace(tmp_path, url=sandbox.url, settle_after="180s").configure("[metrics]", 'textfile = "lb.prom"')
    with monkeypatch.context() as context:
        context.setitem(sys.modules, "prometheus_client", None)
        (finding,) = problems(run, "metrics")
    assert "pip install" in finding["remedy"]
    assert problems(run, "metrics") == []


def test_events_without_a_secret(run: Run, tmp_path: Path, sandbox: RunningSandbox) -> None:
    workspace = Workspace(tmp_path, url=sandbox.url, settle_after="180s")
    workspace.configure("[receive]", f'public_url = "{nowhere()}/events"')
    (finding,) = problems(run, "events")
    assert "secret_file" in finding["remedy"]
    workspace.secret("events", "0123456789abcdef0123456789abcdef")
    workspace.configure('secret_file = "secrets/events"')
    (finding,) = problems(run, "events")
    assert "cannot be reached" in finding["text"], "that is another one"


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
