"""What people get wrong: one clear message on standard error, the agreed exit code, no traceback, no secret."""

import os
import stat
from pathlib import Path

import pytest
from cli.conftest import Run
from support.workspace import Workspace, order_lines

CANARY = "kq7-canary-93jd"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pus"], 'There is no command "pus". Did you mean "push"?'),
        (["zzz"], "See --help for all commands."),
        ([], "Usage: logistics-batch"),
        (["push"], "Missing argument"),
        (["push", "a.csv"], "Missing option '--mapping'"),
        (["run", "a", "--business-date", "03.11.2026"], '"03.11.2026" is no date. Write the date as YYYY-MM-DD.'),
        (["reconcile", "--by", "created", "--from", "2026-02-30", "--to", "2026-03-01"], '"2026-02-30" is no date.'),
        (["held", "decide", "1", "maybe", "--reason", "x"], "'maybe' is not one of"),
        (["held", "decide", "1", "drop"], "Missing option '--reason'"),
        (["held", "decide", "reopen", "--rule", "dropped", "--reason", "x"], "give numbers, a range or --file"),
        (["held", "decide", "A-1", "drop", "--reason", "x"], '"A-1" is no whole number.'),
        (["webhook", "update", "--id", "first"], '"first" is no whole number.'),
        (["runs", "--limit", "0"], "0 is too small. Write 1 or more."),
        (["retry"], "Missing argument 'RUN'"),
        (["retry", "a", "--only", "held"], "'held' is not one of"),
        (["ledger", "verify", "--accept-restored"], "--accept-restored and --reason TEXT belong together"),
        (["ledger", "verify", "--reason", "moved"], "--accept-restored and --reason TEXT belong together"),
        (["lables"], 'Did you mean "labels"?'),
        (["labels", "--run", "a", "--orders", "b"], "one of --run, --date and --orders"),
        (["labels", "--date", "21.11.2026"], '"21.11.2026" is no date. Write it as 2026-11-21.'),
        (["labels", "--date", "2026-11-21", "--orders", "b"], "one of --run, --date and --orders"),
        (["labels", "--orders", ""], "--run, --date and --orders want a value"),
        (["labels", "--run", " "], "--run, --date and --orders want a value"),
        (["labels", "--reprint"], "--reprint and --reason TEXT belong together"),
        (["labels", "--reason", "torn"], "--reprint and --reason TEXT belong together"),
        (["labels", "--layout", "a5"], "'a5' is not one of"),
        (["asn", "fetch", "--from", "2026-11-01"], "--from and --to need --by"),
        (["mapping", "test", "--force"], "--force belongs to --generate"),
        (["sandbox", "--port", "99999"], "99999 is too large. Write at most 65535."),
    ],
)
def test_a_wrong_command_line_exits_2(run: Run, arguments: list[str], words: str) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert words in done.err
    assert done.out == ""


def test_a_missing_file_is_named_before_anything_is_sent(run: Run, workspace: Workspace) -> None:
    done = run("push", "orders.csv", "--mapping", "orders")
    assert done.code == 2
    assert "No such file: orders.csv." in done.err
    assert "What to do:" in done.err
    assert "No such file: jobs (a folder)." in run("push", "jobs", "--mapping", "orders").err


def test_a_missing_mapping_names_the_nearest_and_the_folder(run: Run, workspace: Workspace) -> None:
    workspace.drop("orders.csv", order_lines(["A-1"]), folder=".")
    done = run("push", "orders.csv", "--mapping", "order")
    assert done.code == 2
    assert f'There is no mapping "order" in {workspace.root / "mappings"}' in done.err
    assert "Did you mean `orders`?" in done.err


def test_a_mapping_may_be_given_as_a_path(run: Run, workspace: Workspace) -> None:
    file = workspace.drop("orders.csv", order_lines(["A-1"]), folder=".")
    assert run("push", file, "--mapping", "mappings/orders.yaml", "--dry-run").code == 0


def test_a_mapping_with_mistakes_shows_all_of_them(run: Run, workspace: Workspace) -> None:
    workspace.mapping("broken", "operation: order.create\nkey: [A]\nfeilds: {}\n")
    workspace.drop("a.csv", "A\n1\n", folder=".")
    done = run("push", "a.csv", "--mapping", "broken", "--dry-run")
    assert done.code == 2
    assert "mappings/broken.yaml:3:1: Unknown key `feilds`." in done.err


def test_a_lookup_file_outside_the_mappings_is_not_read(run: Run, workspace: Workspace) -> None:
    (workspace.root / "secret.csv").write_text(f"code,name\na,{CANARY}\n")
    text = (workspace.root / "mappings/orders.yaml").read_text()
    lookup = "{from: SKU, read: {lookup: {file: ../secret.csv, from: code, to: name}}, required: true}"
    workspace.mapping("spy", text.replace("{from: SKU, required: true}", lookup))
    file = workspace.drop("a.csv", order_lines(["A-1"]), folder=".")
    done = run("push", file, "--mapping", "spy", "--dry-run")
    assert done.code == 2
    assert "outside the mapping's folder" in done.err
    assert CANARY not in done.out + done.err


def test_a_missing_job_names_the_nearest(run: Run, workspace: Workspace) -> None:
    workspace.job("orders-nightly", "kind: settle\n")
    done = run("run", "order-nightly")
    assert done.code == 2
    assert "Did you mean `orders-nightly`?" in done.err


def test_a_job_on_an_unknown_server_names_the_nearest(run: Run, workspace: Workspace) -> None:
    workspace.configure("[sftp.bhiwandi]", 'host = "h"', 'username = "u"', 'key_file = "k"')
    workspace.job("nightly", "kind: push\nmapping: orders\nsource: {sftp: bhivandi, path: /in}\n")
    done = run("run", "nightly")
    assert done.code == 2
    assert 'no SFTP server "bhivandi"' in done.err
    assert "Did you mean `bhiwandi`?" in done.err


def test_a_job_that_sends_nothing_has_no_dry_run(run: Run, workspace: Workspace) -> None:
    workspace.job("settle", "kind: settle\n")
    done = run("run", "settle", "--dry-run")
    assert done.code == 2
    assert "no dry run" in done.err


def test_a_workspace_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    for arguments in (["--workspace", "nowhere", "runs"], ["runs", "--workspace", "nowhere"]):
        done = run(*arguments)
        assert done.code == 2
        assert f"The workspace {tmp_path / 'nowhere'} is no folder." in done.err


def test_a_folder_without_settings_says_how_to_get_some(run: Run) -> None:
    done = run("runs")
    assert done.code == 2
    assert f"There is no logistics-batch.toml in {Path.cwd()}." in done.err
    assert "--workspace" in done.err
    assert "logistics-batch init" in done.err


def test_settings_without_the_service_name_its_key(run: Run, tmp_path: Path) -> None:
    (tmp_path / "logistics-batch.toml").write_text("[service]\n")
    done = run("runs")
    assert done.code == 2
    assert "service.base_url" in done.err
    assert "LOGISTICS_BATCH_SERVICE__BASE_URL" in done.err


def test_a_key_that_others_can_read_is_refused(run: Run, workspace: Workspace) -> None:
    key = workspace.secret("api-key", CANARY)
    key.chmod(0o644)
    workspace.drop("orders.csv", order_lines(["A-1"]), folder=".")
    done = run("push", "orders.csv", "--mapping", "orders")
    assert done.code == 2
    assert f"chmod 600 {key}" in done.err
    assert CANARY not in done.out + done.err


def test_a_missing_key_is_asked_for_only_when_something_is_sent(run: Run, workspace: Workspace) -> None:
    (workspace.root / "secrets/api-key").unlink()
    workspace.drop("orders.csv", order_lines(["A-1"]), folder=".")
    assert run("push", "orders.csv", "--mapping", "orders", "--dry-run").code == 0
    assert run("runs").code == 0
    done = run("push", "orders.csv", "--mapping", "orders")
    assert done.code == 2
    assert "service.api_key_file" in done.err


def test_an_http_address_of_another_machine_is_refused(run: Run, workspace: Workspace) -> None:
    done = run("runs", LOGISTICS_BATCH_SERVICE__BASE_URL="http://api.example.com")
    assert done.code == 2
    assert "not encrypted" in done.err


@pytest.mark.parametrize("url", [f"mysql://u:{CANARY}@host/db", f"postgresql://u:{CANARY}@127.0.0.1:1/db"])
def test_a_ledger_that_cannot_be_used_does_not_show_its_password(run: Run, workspace: Workspace, url: str) -> None:
    done = run("runs", LOGISTICS_BATCH_LEDGER__URL=url)
    assert done.code == 2
    assert "ledger.url" in done.err
    assert "writable" not in done.err, "a database is no folder"
    assert CANARY not in done.out + done.err


def test_files_that_are_written_are_for_their_owner_only(run: Run, workspace: Workspace) -> None:
    run("schedule", "list")
    run("settle")
    found = [workspace.root / "var", *(workspace.root / "var").rglob("*")]
    assert len(found) >= 2
    assert not [path for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077]


def test_an_error_of_the_program_shows_its_place_and_not_its_data(workspace: Workspace) -> None:
    program = workspace.root / "sitecustomize.py"
    program.write_text(
        "import logistics_batch.jobs\n"
        f"def broken(workspace, name): raise KeyError('{CANARY}')\n"
        "logistics_batch.jobs.load_job = broken\n"
    )
    done = workspace.run("run", "nightly", PYTHONPATH=os.fspath(workspace.root))
    assert done.code == 1
    assert "the program itself failed (KeyError at" in done.err
    assert CANARY not in done.err
    assert "Traceback" not in done.err
    told = workspace.run("--traceback", "run", "nightly", PYTHONPATH=os.fspath(workspace.root))
    assert "Traceback" in told.err


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("skus.csv", None, "there is no such file in "),
        ("skus.csv", b"code,name\na,\xff\n", "it is not UTF-8 text"),
    ],
)
def test_a_lookup_file_that_cannot_be_read_is_named_once(
    run: Run, workspace: Workspace, name: str, content: bytes | None, problem: str
) -> None:
    if content is not None:
        (workspace.root / "mappings" / name).write_bytes(content)
    text = (workspace.root / "mappings/orders.yaml").read_text()
    lookup = f"{{from: SKU, read: {{lookup: {{file: {name}, from: code, to: name}}}}, required: true}}"
    workspace.mapping("spy", text.replace("{from: SKU, required: true}", lookup))
    done = run("mapping", "lint", "spy")
    assert done.code == 2
    said = done.out + done.err
    assert f"The lookup file `{name}` cannot be read: {problem}" in said
    assert said.count("cannot be read") == 1
    assert ".." not in said.replace("../", "")


@pytest.mark.parametrize("text", ["nope.csv", "lists/nope.TXT", "lists/nope", "./SO-1"])
def test_a_missing_list_of_orders_is_not_taken_for_a_reference(run: Run, workspace: Workspace, text: str) -> None:
    done = run("labels", "--orders", text, "--output", "bundle")
    assert done.code == 2
    assert f"There is no file {text}" in done.err
    assert not (workspace.root / "bundle").exists()


@pytest.mark.parametrize("text", [",", "empty.txt"])
def test_a_list_without_orders_does_not_print_every_label(run: Run, workspace: Workspace, text: str) -> None:
    workspace.drop("empty.txt", "\n \n", folder=".")
    done = run("labels", "--orders", text)
    assert done.code == 2
    assert f'"{text}" names no order.' in done.err


def test_a_misspelt_sort_key_is_refused_also_without_labels(run: Run, workspace: Workspace) -> None:
    done = run("labels", "--sort", "hub,rout")
    assert done.code == 2
    assert 'Labels cannot be sorted by "rout".' in done.err
    assert "Did you mean `route`?" in done.err
    assert not (workspace.root / "reports/labels").exists()


def test_labels_are_sorted_by_what_a_mapping_keeps_also_on_a_quiet_night(run: Run, workspace: Workspace) -> None:
    text = (workspace.root / "mappings/orders.yaml").read_text()
    workspace.mapping("orders", text + "keep:\n  aisle: {from: Aisle}\n")
    workspace.mapping("broken", "operation: nothing\n")
    assert run("labels", "--sort", "hub,aisle").code == 0
    assert run("labels", "--sort", "aisel").code == 2


def test_results_go_to_a_folder_or_nothing_is_sent(run: Run, workspace: Workspace) -> None:
    file = workspace.drop("orders.csv", order_lines(["A-1"]), folder=".")
    for nowhere in (file, file / "answers"):
        done = run("push", file, "--mapping", "orders", "--results", nowhere)
        assert (done.code, f"The answers cannot go to {nowhere}: {file} is no folder" in done.err) == (2, True)
    assert not run("runs", "--json").json["runs"]


def test_settling_a_run_that_never_was_does_not_say_that_nothing_is_in_doubt(run: Run, workspace: Workspace) -> None:
    done = run("settle", "--run", "nightyl")
    assert (done.code, 'There is no run "nightyl"' in done.err) == (2, True)


@pytest.mark.parametrize(
    "command",
    [
        ("order", "get", "SH-1"),
        ("order", "cancel", "SH-1"),
        ("webhook", "subscribe", "--url", "https://hooks.example.com"),
        ("asn", "fetch", "--invoice", "INV-1"),
    ],
)
def test_a_service_that_is_not_reached_is_looked_for_at_its_address(
    run: Run, workspace: Workspace, command: tuple[str, ...]
) -> None:
    done = run(*command)
    said = done.out + done.err
    assert done.code == 5
    assert "Check the network and service.base_url, then " in said
    assert ":  " not in said, "what happened is said"
