"""NAME.* answers what came last under that name; what it answered before lies in `earlier`, whoever answers there."""

import csv
import json
from pathlib import Path

import pytest
from support.fix_files import corrected
from support.sandbox_process import RunningSandbox
from support.workspace import ASNS_MAPPING, Workspace, order_lines

JOB = """\
kind: push
mapping: {mapping}
source: {{folder: ., path: /{source}, pattern: "*.csv", ready: {{poll_every: 0.01s}}}}
results: {{folder: {folder}, path: {path}}}
"""
BOTH = (
    "Supplier,Site,Invoice,Order No,Phone,Address,PIN,SKU,Qty\n"
    "Acme,Pune,INV-1,O-1,9876500001,1 Market Road,560001,SKU-1,5\n"
)


@pytest.fixture
def office(tmp_path: Path, service: RunningSandbox) -> Workspace:
    return Workspace(tmp_path / "workspace", url=service.url)


def job(office: Workspace, name: str, *, mapping: str, folder: str = ".", path: str = "/outbound") -> None:
    office.job(name, JOB.format(mapping=mapping, source=name, folder=folder, path=path))


def answers(folder: Path, name: str) -> dict[str, str]:
    """The fate of each row, by its document."""
    text = (folder / name).read_text("utf-8-sig")
    return {line["document"]: line["fate"] for line in csv.DictReader(text.splitlines())}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("[!.]*") if not path.name.startswith("run-")}


def test_the_same_bytes_by_two_mappings_are_answered_beside_each_other(office: Workspace) -> None:
    """One combined sheet, dropped for ASNs and for orders under one name."""
    for name, mapping in (("asn", "asns"), ("sales", "orders")):
        job(office, name, mapping=mapping)
        office.drop("FILE.csv", BOTH, folder=name)
    assert office.run("run", "asn").code == 0
    done = office.run("run", "sales", "--json").json
    for folder in (office.root / "outbound", office.root / "reports"):
        assert answers(folder, "FILE.result.csv") == {"Acme | Pune | INV-1": "accepted"}
        assert answers(folder, "FILE.orders.result.csv") == {"O-1": "accepted"}
        assert json.loads((folder / "FILE.orders.ack.json").read_text())["mapping"] == "orders"
    (told,) = [note for note in done["notes"] if "outbound" in note]
    assert "FILE.orders.*" in told and "the same bytes" in told
    assert "outbound/FILE.orders.*" in office.run("runs", "show", done["run"]).out
    office.run("runs", "report", "asn")
    office.run("runs", "report", "sales")
    assert names(office.root / "outbound") == {
        f"FILE.{ending}"
        for each in ("", "orders.")
        for ending in (f"{each}ack.json", f"{each}result.csv", f"{each}result.xlsx")
    }


def test_a_corrected_answer_with_a_mapping_in_its_name_keeps_it(office: Workspace) -> None:
    """NAME of an invoice is that of the first file, also where its answers carry the mapping's name."""
    wrong = BOTH.replace("9876500001", "12").replace("O-1", "O-2").replace("INV-1", "INV-2")
    for name, mapping in (("asn", "asns"), ("sales", "orders")):
        job(office, name, mapping=mapping)
        office.drop("FILE.csv", wrong, folder=name)
        office.run("run", name)
        (office.root / name / "FILE.csv").unlink()
    fix = corrected(office.root / "outbound/FILE.orders.fix.xlsx", {"12": "9876500001"})
    office.drop("FILE.orders.fix.xlsx", fix, folder="sales")
    assert office.run("run", "sales").code == 0
    assert answers(office.root / "outbound", "FILE.orders.result.csv") == {"O-2": "accepted"}
    assert answers(office.root / "outbound", "FILE.result.csv") == {"Acme | Pune | INV-2": "accepted"}


def test_a_folder_that_another_job_writes_otherwise_is_the_same(office: Workspace) -> None:
    job(office, "north", mapping="orders")
    job(office, "south", mapping="orders", folder="outbound", path="/")
    office.drop("FILE.csv", order_lines(["N-1"]), folder="north")
    office.drop("FILE.csv", order_lines(["S-1"]), folder="south")
    office.run("run", "north")
    done = office.run("run", "south", "--json").json
    outbound = office.root / "outbound"
    assert answers(outbound, "FILE.result.csv") == {"S-1": "accepted"}
    (north,) = (outbound / "earlier").glob("*.csv")
    assert answers(north.parent, north.name) == {"N-1": "accepted"}
    assert any(f"called earlier/{north.name.removesuffix('.result.csv')}.* now" in note for note in done["notes"])
    before = north.read_bytes()
    north.unlink()
    office.run("runs", "report", "north")
    assert answers(outbound, "FILE.result.csv") == {"S-1": "accepted"}
    assert north.read_bytes() == before


def test_two_workspaces_that_answer_into_one_folder_do_not_overwrite_each_other(
    tmp_path: Path, service: RunningSandbox
) -> None:
    """Neither ledger knows the other's names; whose the answers are stands in the acknowledgement."""
    shared = tmp_path / "shared"
    offices = [Workspace(tmp_path / name, url=service.url) for name in ("first", "second")]
    for number, each in enumerate(offices):
        file = each.drop("FILE.csv", order_lines([f"W-{number}"]))
        assert each.run("push", file, "--mapping", "orders", "--results", shared).code == 0
    for _ in range(2):
        assert answers(shared, "FILE.result.csv") == {"W-1": "accepted"}
        (first,) = (shared / "earlier").glob("*.csv")
        assert answers(first.parent, first.name) == {"W-0": "accepted"}
        assert len(names(shared)) == 4
        assert offices[0].run("runs", "report", "push").code == 0
    spoilt = tmp_path / "spoilt"
    spoilt.mkdir()
    (spoilt / "FILE.ack.json").write_text("[]")
    offices[0].run("push", file, "--mapping", "orders", "--results", spoilt)
    (kept,) = (spoilt / "earlier").iterdir()
    assert kept.read_text() == "[]", "whose that is nobody knows"


def test_a_new_ledger_knows_the_answers_to_the_very_same_file(tmp_path: Path, service: RunningSandbox) -> None:
    shared = tmp_path / "shared"
    for name in ("before", "after"):
        office = Workspace(tmp_path / name, url=service.url)
        file = office.drop("FILE.csv", order_lines(["AGAIN-1"]))
        office.run("push", file, "--mapping", "orders", "--results", shared)
    answered = {"FILE.ack.json", "FILE.result.csv", "FILE.result.xlsx"}
    assert names(shared) == {*answered, "FILE.fix.xlsx"}, "the service refuses what it has"


def test_the_same_file_again_is_answered_under_its_own_name(office: Workspace) -> None:
    """Also from another job, as long as the same mapping reads it; and by another mapping elsewhere."""
    office.mapping("asns_too", ASNS_MAPPING)
    job(office, "north", mapping="orders")
    job(office, "south", mapping="orders")
    job(office, "east", mapping="asns_too", path="/elsewhere")
    for name in ("north", "south", "east"):
        office.drop("FILE.csv", BOTH.replace("O-1", "O-7").replace("INV-1", "INV-7"), folder=name)
        office.run("run", name)
    assert names(office.root / "outbound") == {"FILE.ack.json", "FILE.result.csv", "FILE.result.xlsx"}
    assert answers(office.root / "outbound", "FILE.result.csv") == {"O-7": "unchanged"}
    assert "FILE.result.csv" in names(office.root / "elsewhere")
