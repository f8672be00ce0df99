"""A new workspace, mapping files, and the sandbox as a command: what needs no service."""

import json
import stat
from pathlib import Path

import pytest
from cli.conftest import Run
from mapping.sheets import SHIPPED
from support.workspace import ORDER_COLUMNS, Workspace, order_lines

EXAMPLE = """\
Order No,Phone,Address,PIN,SKU,Qty
A-1,9876543210,1 Market Road,560001,SKU-1,2
A-2,98765,2 Market Road,560001,X,1
"""


def test_a_new_workspace_is_sound_as_it_is(run: Run, tmp_path: Path) -> None:
    made = run("init", "night")
    assert made.code == 0
    folder = tmp_path / "night"
    assert "logistics-batch.toml" in made.out
    assert run("--workspace", "night", "mapping", "lint").code == 0
    assert run("--workspace", "night", "mapping", "test").code == 0
    jobs = run("--workspace", "night", "schedule", "list", "--json").json["jobs"]
    assert {each["kind"] for each in jobs} >= {"push", "reconcile", "labels"}
    assert stat.S_IMODE((folder / "secrets").stat().st_mode) == 0o700
    assert list((folder / "sample_data").iterdir())
    assert not list(folder.rglob("*.py"))
    states = {each["name"]: each["state"] for each in run("doctor", "--workspace", "night", "--json").json["checks"]}
    assert states["settings"] == "ok"  # every key that it shows is one that is known
    assert [name for name, state in states.items() if state == "problem"] == ["service and ledger"]  # no key yet


def test_a_workspace_is_not_made_over_another(run: Run, tmp_path: Path) -> None:
    run("init", "night")
    settings = tmp_path / "night/logistics-batch.toml"
    settings.write_text("# mine\n")
    done = run("init", "night")
    assert done.code == 2
    assert "is a workspace already" in done.err
    assert settings.read_text() == "# mine\n"


def test_a_file_that_is_there_stays_as_it_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "night/mappings").mkdir(parents=True)
    (tmp_path / "night/mappings/orders_standard.yaml").write_text("# mine\n")
    assert run("init", "night").code == 0
    assert (tmp_path / "night/mappings/orders_standard.yaml").read_text() == "# mine\n"


def test_lint_names_every_mistake_with_its_place_and_exits_2(run: Run, workspace: Workspace) -> None:
    assert run("mapping", "lint").code == 0
    workspace.mapping("broken", "operation: order.creat\nkey: [A]\n")
    done = run("mapping", "lint", "--json")
    assert done.code == 2
    found = {each["name"]: each["findings"] for each in done.json["mappings"]}
    assert found["orders"] == []
    assert found["broken"][0]["line"] == 1
    told = run("mapping", "lint", "broken")
    assert told.code == 2
    assert "mappings/broken.yaml:1:" in told.out
    assert run("mapping", "lint", "brokn").code == 2


def test_what_restates_a_default_is_a_hint_and_stops_nothing(run: Run, workspace: Workspace) -> None:
    done = run("mapping", "lint", "orders", "--json")
    assert done.code == 0
    (linted,) = done.json["mappings"]
    assert linted["findings"] == []
    assert "`read: mobile` restates the default: `customer_mobile` is read so." in {
        each["message"] for each in linted["hints"]
    }
    told = run("mapping", "lint", "orders")
    assert told.code == 0
    assert "orders: ok, order.create\n  hint: mappings/orders.yaml:" in told.out


def test_a_preview_needs_neither_service_nor_key(run: Run, workspace: Workspace) -> None:
    (workspace.root / "logistics-batch.toml").unlink()
    file = workspace.drop("a.csv", EXAMPLE, folder=".")
    before = sorted(workspace.root.rglob("*"))
    done = run("mapping", "preview", file, "--mapping", "orders", "--json")
    assert done.code == 3
    assert [each["fate"] for each in done.json["files"][0]["rows"]] == ["pending", "invalid"]
    assert '"reference_number":"A-1"' in done.json["files"][0]["documents"][0]["body"]
    told = run("mapping", "preview", file, "--mapping", "orders")
    assert 'POST /orders/shipment\n  {"reference_number":"A-1"' in told.out
    assert "would go out" in told.out
    assert sorted(workspace.root.rglob("*")) == before


def test_a_preview_says_why_documents_are_blocked_also_beside_invalid_rows(run: Run, workspace: Workspace) -> None:
    wrong, first = "A-1,98765,x,560001,s,1", "A-2,9876543210,x,560001,s,1"
    path = workspace.drop("a.csv", "\n".join([ORDER_COLUMNS, wrong, first, first.replace(",x,", ",y,"), ""]))
    said = run("mapping", "preview", path, "--mapping", "orders").out
    assert "Row 2, cell B2 (Phone)" in said
    assert 'Row 3 and 1 more: "Address" differs between the rows 3-4 of one document.' in said


def test_a_preview_names_no_answers_that_nobody_wrote_and_says_what_the_mapping_may_allow(
    run: Run, workspace: Workspace
) -> None:
    wrong = [f"A-{number},98765,x,560001,s,1" for number in range(6)]
    twice = "B-1,9876543210,x,560001,s,1"
    path = workspace.drop("a.csv", "\n".join([ORDER_COLUMNS, *wrong, twice, twice, ""]))
    said = run("mapping", "preview", path, "--mapping", "orders").out
    assert "more; type the same with --json to see each.\n" in said
    assert said.count("In the mapping: If equal rows are right in all files, write `checks: {equal_rows: allow}`.") == 1
    assert len(run("mapping", "preview", path, "--mapping", "orders", "--json").json["files"][0]["rows"]) == 8


def test_a_preview_can_be_kept_as_files(run: Run, workspace: Workspace) -> None:
    file = workspace.drop("a.csv", EXAMPLE, folder=".")
    done = run("mapping", "preview", file, "--mapping", "orders", "--output", "out", "--json")
    assert set(done.json["files"][0]) == {"file", "counts"}
    documents = [json.loads(line) for line in (workspace.root / "out/documents.ndjson").read_text().splitlines()]
    issues = [json.loads(line) for line in (workspace.root / "out/issues.ndjson").read_text().splitlines()]
    assert [each["key"] for each in documents] == ["A-1"]
    assert [each["cell"] for each in issues] == ["B3"]
    assert run("mapping", "preview", "nowhere.csv", "--mapping", "orders").code == 2


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("receipts", "It would be reconciled."),
        ("label_requests", "Its label would be asked for."),
    ],
)
def test_mappings_that_no_push_takes_can_be_previewed(run: Run, tmp_path: Path, name: str, reason: str) -> None:
    assert run("init", "night").code == 0
    (example,) = (SHIPPED / "examples" / name).glob("input.*")
    (tmp_path / "night/mappings" / f"{name}.yaml").write_text((SHIPPED / f"{name}.yaml").read_text(encoding="utf-8"))
    done = run("--workspace", "night", "mapping", "preview", str(example), "--mapping", name, "--json")
    rows = done.json["files"][0]["rows"]
    assert {each["reason"] for each in rows if each["fate"] == "pending"} == {reason}
    assert run("--workspace", "night", "mapping", "preview", str(example), "--mapping", name).code == done.code


def test_golden_examples_are_written_once_and_compared_ever_after(run: Run, workspace: Workspace) -> None:
    folder = workspace.root / "mappings/examples/orders"
    folder.mkdir(parents=True)
    assert "put a file input" in run("mapping", "test").out
    (folder / "input.csv").write_text(EXAMPLE)
    (folder / "business_date.txt").write_text("2026-11-03\n")
    missing = run("mapping", "test")
    assert missing.code == 2
    assert "documents.ndjson is missing" in missing.out
    assert run("mapping", "test", "--generate").code == 0
    assert run("mapping", "test", "orders").code == 0
    (folder / "input.csv").write_text(EXAMPLE.replace("SKU-1,2", "SKU-1,3"))
    changed = run("mapping", "test", "--json")
    assert changed.code == 2
    assert "documents.ndjson, line 1: must be" in changed.json["examples"][0]["problems"][0]
    assert run("mapping", "test", "--generate").code == 2  # what is there is not overwritten
    assert run("mapping", "test", "--generate", "--force").code == 0
    (folder / "input.xlsx").write_bytes(b"another")
    both = run("mapping", "test", "orders")
    assert both.code == 2 and "holds several inputs: input.csv, input.xlsx. Keep one" in both.out
    (folder / "input.xlsx").unlink()
    assert run("mapping", "test").code == 0


def test_the_schema_describes_mapping_files(run: Run) -> None:
    schema = run("mapping", "schema").json
    assert {"operation", "key", "fields", "lines", "keep", "ignore"} <= set(schema["properties"])


def test_the_vocabulary_is_listed_with_examples(run: Run) -> None:
    verbs = {each["name"]: each for each in run("mapping", "verbs", "--json").json["verbs"]}
    assert {"text", "integer", "money", "mobile", "pincode", "date", "unit", "lookup"} <= set(verbs)
    assert all(each["doc"] and each["example"] for each in verbs.values())
    assert "mobile" in run("mapping", "verbs").out


def test_order_numbers_may_be_a_list_or_a_file(run: Run, workspace: Workspace) -> None:
    workspace.drop("a.csv", order_lines(["A-1"]), folder=".")
    done = run("labels", "--orders", "a.csv", "--mapping", "orders")
    assert done.code == 2
    assert "is for order.create" in done.err
