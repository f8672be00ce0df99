"""A run over thousands of files does not hold every row of all of them."""

import pytest
from support.issues import said
from support.result_samples import fates_frame, row_result

from logistics_batch.flows.files.deliver import FileReports
from logistics_batch.model.report import Fate, FileReport, RunReport, tally_of


class Ledger:
    """Counts how often a file's report is asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def file_report(self, number: int) -> FileReport:
        self.asked.append(number)
        rows = fates_frame([row_result(2, Fate.ACCEPTED if number % 2 else Fate.HELD)])
        return FileReport(
            f"{number}.csv", "", 0, "run", "orders", "", rows=rows, held=said("" if number % 2 else "No.")
        )


def test_of_a_few_files_each_is_read_once() -> None:
    ledger = Ledger()
    reports = FileReports(ledger.file_report, [7, 8, 9])
    assert [report.file for report in reports] == ["7.csv", "8.csv", "9.csv"]
    assert [report.file for report in reports[1:]] == ["8.csv", "9.csv"]
    assert (len(reports), reports[-1].file) == (3, "9.csv")
    assert ledger.asked == [7, 8, 9]
    with pytest.raises(IndexError):
        reports[3]


def test_of_many_files_none_is_held_and_what_they_come_to_is_counted_once() -> None:
    ledger = Ledger()
    reports = FileReports(ledger.file_report, range(1000))
    run = RunReport("run", "orders", reports, tally=tally_of(reports))
    assert (run.counts[Fate.ACCEPTED], run.counts[Fate.HELD], run.counts[Fate.REFUSED]) == (500, 500, 0)
    assert run.held_files == 500
    assert len(ledger.asked) == 1000
    assert reports[5] is not reports[5]
