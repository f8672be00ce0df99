"""The clerk's loop: drop, answer, fix file, drop that, accepted, nothing left; and what lies where meanwhile."""

import csv
import re
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from support.commands import Forker
from support.fix_files import corrected, lines_of
from support.sandbox_process import RunningSandbox
from support.sftp_servers import RunningSshd, openssh_server
from support.workspace import Workspace, order_lines

from logistics_batch.model.answers import result_stem

__all__ = ["openssh_server"]

JOB = """\
kind: push
mapping: orders
source: {{{place}, path: {root}/inbound, pattern: "orders*", ready: {{poll_every: 10ms}}, archive: {root}/archive}}
results: {{path: {root}/results}}
"""
GOOD, WRONG = "9876500001", "12345"
ALL = {"orders.ack.json", "orders.result.csv", "orders.result.xlsx"}


def sheet(mark: str, phone: str = WRONG) -> str:
    """Three orders; the second has a wrong phone number."""
    return order_lines([f"{mark}-1", f"{mark}-2", f"{mark}-3"]).replace("9876500002", phone)


def answers(folder: Path, name: str = "orders.result.csv") -> dict[str, tuple[str, str, str]]:
    """Fate, reason and number of each row, by its document."""
    lines = csv.DictReader((folder / name).read_text("utf-8-sig").splitlines())
    return {line["document"]: (line["fate"], line["reason"], line["awb_number"]) for line in lines}


def fates(folder: Path, name: str = "orders.result.csv") -> list[str]:
    return [fate for fate, *_ in answers(folder, name).values()]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_file() and path.name.startswith("orders")}


@pytest.fixture(params=["folder", pytest.param("sftp", marks=pytest.mark.real)])
def office(request: pytest.FixtureRequest, tmp_path: Path, service: RunningSandbox) -> Workspace:
    service.set_faults([])
    workspace = Workspace(tmp_path / "workspace", url=service.url)
    if request.param == "sftp":
        server: RunningSshd = request.getfixturevalue("openssh_server")
        place, root = "sftp: bhiwandi", server.root
        workspace.sftp("bhiwandi", server)
    else:
        place, root = "folder: .", Path()
    workspace.job("orders", JOB.format(place=place, root="" if root == Path() else root))
    (workspace.root / root / "inbound").mkdir()
    workspace.outside = workspace.root / root  # type: ignore[attr-defined]
    return workspace


def save_as_workbook(text: str, path: Path) -> None:
    """The same cells as another program keeps them: what looks like a number is one."""
    workbook = Workbook()
    for line in csv.reader(text.splitlines()):
        workbook.worksheets[0].append([int(cell) if cell.isdigit() else cell for cell in line])
    workbook.save(path)


def outside(office: Workspace) -> Path:
    found: Path = office.outside  # type: ignore[attr-defined]
    return found


def test_the_whole_loop(office: Workspace, service: RunningSandbox, request: pytest.FixtureRequest) -> None:
    place = outside(office)
    inbound, results = place / "inbound", place / "results"
    mark = "LOOP" + request.node.callspec.id.upper()
    (inbound / "orders.csv").write_text(sheet(mark))
    assert office.run("run", "orders").code == 3
    assert names(results) == {*ALL, "orders.fix.xlsx"}
    assert fates(results) == ["accepted", "invalid", "accepted"]
    fix = corrected(results / "orders.fix.xlsx", {WRONG: GOOD})
    (inbound / "orders.fix.xlsx").write_bytes(fix)
    assert office.run("run", "orders").code == 0
    assert names(results) == ALL, "the fix file is gone: nothing is left to correct"
    assert fates(results) == ["accepted"]
    number = answers(results)[f"{mark}-2"][2]
    (run,) = {path.name.split(".")[1] for path in (results / "earlier").iterdir()}
    first = f"orders.{run}"
    assert names(results / "earlier") == {
        f"{first}.{each}" for each in ("ack.json", "result.csv", "result.xlsx", "fix.xlsx")
    }
    assert fates(results / "earlier", f"{first}.result.csv") == ["accepted", "invalid", "accepted"]
    (inbound / "orders.csv").write_text(sheet(mark))
    done = office.run("run", "orders", "--json")
    assert done.code == 0, "nothing is left to do"
    assert done.json["files"][0]["counts"]["unchanged"] == 3
    assert names(results) == ALL
    fate, reason, told = answers(results)[f"{mark}-2"]
    assert (fate, told) == ("unchanged", number)
    assert re.match(r"Accepted in the round of [0-9-]{10} [0-9:]{5}\+05:30, ", reason)
    assert "as corrected in orders.fix.xlsx" in reason
    assert len([line for line in service.committed("order.created") if str(line).find(f"{mark}-2") > 0]) == 1


@pytest.mark.parametrize("office", ["folder"], indirect=True)
class TestRounds:
    def test_answers_that_are_known_better_later_are_written_where_they_lie(
        self, office: Workspace, service: RunningSandbox
    ) -> None:
        """A doubt of the first round is settled after the second one took the name."""
        inbound, results = outside(office) / "inbound", outside(office) / "results"
        service.set_faults([{"endpoint": "order.create", "reference": "DOUBT-1", "kind": "drop_after", "times": 1}])
        Workspace(office.root, url=service.url, settle_after="1h")
        (inbound / "orders.csv").write_text(sheet("DOUBT"))
        assert office.run("run", "orders").code == 4
        (inbound / "orders.csv").write_text(order_lines(["DOUBT-9"]))
        office.run("run", "orders")
        (earlier,) = (results / "earlier").glob("*.csv")
        assert fates(results / "earlier", earlier.name) == ["in_doubt", "invalid", "accepted"]
        Workspace(office.root, url=service.url)
        assert office.run("settle", "--wait").code == 0
        assert fates(results / "earlier", earlier.name) == ["accepted", "invalid", "accepted"]
        assert fates(results) == ["accepted"], "what came last keeps its name"

    @pytest.mark.parametrize("n", [1, 4])
    def test_a_kill_between_moves_loses_no_answer(
        self, office: Workspace, forker: Forker, service: RunningSandbox, n: int
    ) -> None:
        inbound, results = outside(office) / "inbound", outside(office) / "results"
        mark = f"KILL{n}"
        (inbound / "orders.csv").write_text(sheet(mark))
        office.run("run", "orders")
        before = {path.name: path.read_bytes() for path in results.iterdir() if path.is_file()}
        (inbound / "orders.csv").write_text(order_lines([f"{mark}-9"]))
        at = {"LOGISTICS_BATCH_CRASH_AT": f"answers.move:{n}"}
        assert forker.start(office, "run", "orders", environment=at).end().code == -9
        assert office.run("run", "orders").code == 0
        assert fates(results) == ["accepted"]
        moved = {f"orders.{path.name.split('.', 2)[2]}": path.read_bytes() for path in (results / "earlier").iterdir()}
        assert moved == before

    def test_several_files_of_one_name_in_one_run_are_all_answered(
        self, office: Workspace, service: RunningSandbox
    ) -> None:
        inbound, results = outside(office) / "inbound", outside(office) / "results"
        for ending, separator in (("csv", ","), ("tsv", "\t"), ("txt", "\t")):
            text = order_lines([f"SEVERAL-{ending}"]).replace(",", separator)
            (inbound / f"orders.{ending}").write_text(text)
        done = office.run("run", "orders", "--json")
        assert done.code == 0
        lying = [*results.glob("*.csv"), *(results / "earlier").glob("*.csv")]
        assert sorted(key for path in lying for key in answers(path.parent, path.name)) == [
            "SEVERAL-csv",
            "SEVERAL-tsv",
            "SEVERAL-txt",
        ]
        assert [note for note in done.json["notes"] if "answers a file that came later" in note]
        shown = office.run("runs", "show", done.json["run"]).out
        assert f"earlier/orders.{done.json['run']}-2.*" in shown

    def test_the_original_again_is_no_answer_to_what_was_never_accepted(
        self, office: Workspace, service: RunningSandbox
    ) -> None:
        inbound, results = outside(office) / "inbound", outside(office) / "results"
        for _ in range(2):
            (inbound / "orders.csv").write_text(sheet("NEVER"))
            assert office.run("run", "orders").code == 3
        assert fates(results) == ["unchanged", "invalid", "unchanged"]
        assert [line["Order No"] for line in lines_of(results / "orders.fix.xlsx")] == ["NEVER-2"]
        other = sheet("NEVER").replace("NEVER-3", "NEVER-4")
        (inbound / "orders.fix.xlsx").write_bytes(corrected(results / "orders.fix.xlsx", {WRONG: GOOD}))
        office.run("run", "orders")
        (inbound / "orders.csv").write_text(other)
        assert office.run("run", "orders").code == 3
        assert fates(results) == ["unchanged", "invalid", "accepted"], "another file is judged by what stands in it"

    def test_a_changed_original_says_of_a_row_that_is_still_wrong_that_the_order_was_accepted(
        self, office: Workspace, service: RunningSandbox
    ) -> None:
        """Else the clerk corrects it once more, and the operator has a second version of the order to decide about."""
        inbound, results = outside(office) / "inbound", outside(office) / "results"
        (inbound / "orders.csv").write_text(sheet("CHANGED"))
        office.run("run", "orders")
        assert "accepted before" not in answers(results)["CHANGED-2"][1]
        (inbound / "orders.fix.xlsx").write_bytes(corrected(results / "orders.fix.xlsx", {WRONG: GOOD}))
        assert office.run("run", "orders").code == 0
        number = answers(results)["CHANGED-2"][2]
        (inbound / "orders.csv").write_text(sheet("CHANGED").replace("CHANGED-3", "CHANGED-4"))
        assert office.run("run", "orders").code == 3
        fate, reason, _ = answers(results)["CHANGED-2"]
        assert fate == "invalid" and "mobile" in reason
        assert '"CHANGED-2" was accepted before, through orders.fix.xlsx on ' in reason and number in reason
        (left,) = lines_of(results / "orders.fix.xlsx")
        assert "was accepted before" in str(left["Reason"]) and "Leave the row out" in str(left["What to do"])

    def test_a_fix_file_names_its_own_rows(self, office: Workspace, service: RunningSandbox) -> None:
        inbound, results = outside(office) / "inbound", outside(office) / "results"
        text = order_lines(["ROWS-1", "ROWS-2", "ROWS-2"])
        (inbound / "orders.csv").write_text(text.replace("3 Market Road", "9 Hill Road"))
        assert office.run("run", "orders").code == 3
        assert "rows 3-4" in answers(results)["ROWS-2"][1]
        reasons = {line["Reason"] for line in lines_of(results / "orders.fix.xlsx")}
        assert reasons and all("rows 2-3" in reason for reason in reasons)

    def test_the_original_renamed_and_saved_by_another_program_shows_what_was_accepted(self, office: Workspace) -> None:
        """Cells that are the same ask for nothing else, whatever the file is called and whoever saved it."""
        inbound, results = outside(office) / "inbound", outside(office) / "results"
        mark, again = "SAVED", "another.xlsx"
        office.job("orders", (office.root / "jobs/orders.yaml").read_text().replace('"orders*"', '"*"'))
        (inbound / "orders.csv").write_text(sheet(mark))
        office.run("run", "orders")
        (inbound / "orders.fix.xlsx").write_bytes(corrected(results / "orders.fix.xlsx", {WRONG: GOOD}))
        assert office.run("run", "orders").code == 0
        number = answers(results)[f"{mark}-2"][2]
        save_as_workbook(sheet(mark), inbound / again)
        assert office.run("run", "orders").code == 0
        answered = answers(results, f"{result_stem(again)}.result.csv")
        fate, reason, told = answered[f"{mark}-2"]
        assert (fate, told) == ("unchanged", number) and "as corrected in orders.fix.xlsx" in reason
        assert [fate for fate, *_ in answered.values()] == ["unchanged"] * 3
        assert not (results / f"{result_stem(again)}.fix.xlsx").exists()

    def test_a_refused_row_that_was_accepted_as_corrected_is_no_question_when_the_original_comes_again(
        self, office: Workspace, service: RunningSandbox
    ) -> None:
        inbound, results = outside(office) / "inbound", outside(office) / "results"
        service.set_faults([{"endpoint": "order.create", "reference": "SAIDNO-2", "kind": "status_400", "times": 1}])
        (inbound / "orders.csv").write_text(sheet("SAIDNO", GOOD))
        assert office.run("run", "orders").code == 3
        fix = corrected(results / "orders.fix.xlsx", {"2 Market Road": "22 Market Road"})
        (inbound / "orders.fix.xlsx").write_bytes(fix)
        assert office.run("run", "orders").code == 0
        (inbound / "orders.csv").write_text(sheet("SAIDNO", GOOD))
        dry = office.run("run", "orders", "--dry-run", "--json")
        assert dry.json["files"][0]["counts"]["unchanged"] == 3
        assert office.run("run", "orders").code == 0
        assert fates(results) == ["unchanged"] * 3
        sheet_answered = load_workbook(results / "orders.result.xlsx").active
        assert sheet_answered is not None
        assert "as corrected in orders.fix.xlsx" in str([cell.value for cell in sheet_answered[3]])
