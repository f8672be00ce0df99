"""Job files: what they may say, and how plainly they are refused."""

import os
import time
from datetime import date
from pathlib import Path

import pytest

from logistics_batch.errors import SpecificationError, UsageError
from logistics_batch.jobs import fingerprint, job_names, load_job, load_jobs, parse_job, read_jobs
from logistics_batch.model.jobs.job import JobPlace, LabelsJob, PushJob, ReconcileJob, SettleJob
from logistics_batch.model.jobs.job_fields import dated_path

PUSH = """\
kind: push
mapping: orders_standard
source:
  sftp: bhiwandi
  path: /inbound/orders
  pattern: ["*.xlsx", "*.csv"]
  ready: {unchanged_for: 2}
  archive: /archive/{date}
  quarantine: /rejected
results: {path: /outbound/results, formats: [xlsx, csv]}
schedule: {cron: "15 21 * * mon-sat", timezone: Asia/Kolkata, missed: last, grace: 6h}
budget: {invalid_rows: 20%}
approve: never
on_change: hold
"""


def parse(text: str, name: str = "nightly") -> object:
    return parse_job(text, name=name, path=f"jobs/{name}.yaml")


def findings(text: str) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        parse(text)
    return [str(finding) for finding in caught.value.findings]


def test_a_push_job_says_where_files_come_from_and_go() -> None:
    job = parse(PUSH)
    assert isinstance(job, PushJob)
    assert job.name == "nightly"
    assert job.source.place == JobPlace(sftp="bhiwandi", path="/inbound/orders")
    assert job.source.pattern == ("*.xlsx", "*.csv")
    assert job.results_place == JobPlace(sftp="bhiwandi", path="/outbound/results")
    assert job.budget is not None
    assert job.budget.invalid_rows_percent == 20
    assert job.schedule is not None
    assert job.schedule.grace_seconds == 6 * 3600


def test_results_may_go_to_another_server_or_a_folder() -> None:
    source = "kind: push\nmapping: m\nsource: {folder: drop}\n"
    elsewhere = parse(source + "results: {sftp: other, path: /out}\n")
    here = parse(source + "results: {folder: answers}\n")
    nowhere = parse(source)
    assert isinstance(elsewhere, PushJob)
    assert isinstance(here, PushJob)
    assert isinstance(nowhere, PushJob)
    assert elsewhere.results_place == JobPlace(sftp="other", path="/out")
    assert here.results_place == JobPlace(folder="answers")
    assert nowhere.results_place is None


def test_a_path_takes_the_business_date() -> None:
    assert dated_path("/archive/{date}", date(2026, 11, 3)) == "/archive/2026-11-03"
    assert JobPlace(sftp="a", path="/out/{date}").on(date(2026, 11, 3)).path == "/out/2026-11-03"


def test_a_window_lies_around_the_business_date() -> None:
    job = parse("kind: reconcile\nwindow: {by: delivery, from: -3d, to: +7d}\n")
    assert isinstance(job, ReconcileJob)
    assert job.window.around(date(2026, 11, 3)) == (date(2026, 10, 31), date(2026, 11, 10))


def test_receipts_and_tolerances_of_a_reconciliation() -> None:
    job = parse(
        "kind: reconcile\n"
        "window: {by: delivery, from: -3d, to: +7d}\n"
        "receipts: {sftp: bhiwandi, path: /inbound/receipts, mapping: receipts}\n"
        'tolerance: {SHORT: {percent: 1, units: 2}, PRICE_VAR: {amount: "1.00"}}\n'
        "results: {path: /outbound/reports}\n"
    )
    assert isinstance(job, ReconcileJob)
    assert job.receipts is not None
    assert job.receipts.mapping == "receipts"
    assert job.tolerance["SHORT"].units == 2
    assert job.results_place == JobPlace(sftp="bhiwandi", path="/outbound/reports")


def test_labels_of_unprinted_orders_or_of_one_run() -> None:
    unprinted = parse("kind: labels\norders: unprinted\nlayout: 4x6\nsort: [hub, route, sku]\nmax_pages: 200\n")
    of_a_run = parse("kind: labels\nfrom_run: orders-nightly\n")
    assert isinstance(unprinted, LabelsJob)
    assert isinstance(of_a_run, LabelsJob)
    assert unprinted.from_run is None
    assert unprinted.sort == ("hub", "route", "sku")
    assert of_a_run.from_run == "orders-nightly"


def test_a_settle_job_needs_nothing_else() -> None:
    assert isinstance(parse("kind: settle\n"), SettleJob)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("aprove: never", "jobs/nightly.yaml:5:1: Unknown key `aprove`. Did you mean `approve`?"),
        ("on_change: overwrite", "`overwrite` is not known here"),
        ("expect: {by: '9 pm'}", 'Write it as "21:00"'),
        ("expect: {calendar: in-holidays}", "`by` is missing"),
        ("notify: [on_failur]", "Did you mean `on_failure`?"),
        ("schedule: {every: 90s}", "whole minutes"),
        ("schedule: {every: 8d}", "at most"),
        ("schedule: {every: 15m, cron: '0 * * * *'}", "either a cron line or an interval"),
        ("schedule: {timezone: Asia/Kolkata}", "either a cron line or an interval"),
        ("budget: {invalid_rows: 20}", 'Write it as "20%"'),
        ("budget: {invalid_rows: 120%}", 'Write it as "20%"'),
        ("schedule: {cron: '15 21 * * moon'}", '"moon" is no day of the week'),
        ("schedule: {cron: '15 21 * * *', timezone: Asia/Calcuta}", "IANA name"),
        ("schedule: {cron: '15 21 * * *', missed: every}", "`every` is not known here"),
        ("schedule: {cron: '15 21 * * *', grace: 6}", '"6" is no length of time'),
        ("results: {sftp: a, folder: b}", "either"),
        ("results: {path: '/out/{day}'}", '"{day}" is no placeholder'),
        ("name: another", "A job has the name of its file"),
    ],
)
def test_what_cannot_be_done_is_refused_and_not_ignored(line: str, complaint: str) -> None:
    text = f"kind: push\nmapping: m\nsource:\n  folder: drop\n{line}\n"
    assert any(complaint in each for each in findings(text)), findings(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("kind: psuh\n", "Did you mean `push`?"),
        ("mapping: m\n", "`kind` is missing"),
        ("kind: order_status\nfeed: {folder: out, path: '/status/{date}'}\n", "A feed goes to one place"),
        ("kind: order_status\nmax_calls: 0\n", "Write 1 or more"),
        ("kind: order_status\nsent_within: 30\n", '"30" is no length of time'),
        ("kind: push\nmapping: m\nsource: {path: /in}\n", 'either "sftp: NAME" or "folder: PATH"'),
        ("kind: push\nmapping: m\nsource: {folder: a, ready: {done_file: done}}\n", '"{name}.done"'),
        ("kind: push\nsource: {folder: a}\n", "`mapping` is missing"),
        ("kind: reconcile\nwindow: {by: delivery, from: 3d, to: -3d}\n", "ends before it begins"),
        ("kind: reconcile\nwindow: {by: due, from: -3d, to: 0d}\n", "`due` is not known here"),
        ("kind: reconcile\nwindow: {by: delivery, from: yesterday, to: 0d}\n", 'Write "-3d"'),
        ("kind: reconcile\nwindow: {by: created, from: -3d, to: 0d}\nprevious: results\n", "has no place to read from"),
        ("kind: labels\norders: unprinted\nfrom_run: a\n", 'either "orders: unprinted" or "from_run: JOB"'),
        ("kind: labels\nlayout: a4-4ups\n", "Did you mean `a4-4up`?"),
    ],
)
def test_a_mistake_is_named_with_what_to_write(text: str, complaint: str) -> None:
    assert any(complaint in each for each in findings(text)), findings(text)


def test_every_mistake_of_a_file_is_named_at_once() -> None:
    text = "kind: push\nmapping: m\nsource: {folder: a, patern: x}\napprove: maybe\nbudget: {invalid_rows: x}\n"
    assert len(findings(text)) == 3


def test_a_job_is_found_by_the_name_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "orders-nightly.yaml").write_text(PUSH)
    assert job_names(tmp_path) == ["orders-nightly"]
    assert load_job(tmp_path, "orders-nightly").name == "orders-nightly"
    with pytest.raises(UsageError) as caught:
        load_job(tmp_path, "order-nightly")
    assert "orders-nightly" in caught.value.remedy


def test_a_job_file_with_its_old_time_and_size_counts_as_changed(tmp_path: Path) -> None:
    """As rsync -a and tar leave it; and so does one that may be read now."""
    (tmp_path / "jobs").mkdir()
    file = tmp_path / "jobs/orders-nightly.yaml"
    file.write_text('kind: settle\nschedule: {cron: "15 21 * * *"}\n')
    os.utime(file, (1, 1))
    seen = [fingerprint(tmp_path)]
    time.sleep(0.02)  # the kernel's clock for files ticks
    file.write_text('kind: settle\nschedule: {cron: "45 21 * * *"}\n')
    os.utime(file, (1, 1))
    seen.append(fingerprint(tmp_path))
    time.sleep(0.02)
    file.chmod(0o600 if file.stat().st_mode & 0o077 else 0o644)
    seen.append(fingerprint(tmp_path))
    assert len(set(seen)) == 3


def test_a_job_name_leads_to_no_other_folder(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "settle.yaml").write_text("kind: settle\n")
    with pytest.raises(UsageError, match="no job"):
        load_job(tmp_path, "../settle")


def test_all_jobs_are_checked_together(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "a.yaml").write_text("kind: psuh\n")
    (tmp_path / "jobs" / "b.yaml").write_bytes(b"kind: \xff\n")
    (tmp_path / "jobs" / "c.yaml").write_text("kind: settle\n")
    with pytest.raises(SpecificationError) as caught:
        load_jobs(tmp_path)
    assert [finding.path for finding in caught.value.findings] == ["jobs/a.yaml", "jobs/b.yaml"]


def test_a_job_that_waits_for_one_whose_file_is_wrong_is_not_wrong_itself(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    jobs = {"odd": "kind: push", "behind": "kind: settle\nafter: [odd]", "lost": "kind: settle\nafter: [x]"}
    for name, text in jobs.items():
        (folder / f"{name}.yaml").write_text(f"{text}\n")
    found = read_jobs(tmp_path)
    assert ([job.name for job in found.usable], sorted(found.wrong)) == (["behind"], ["lost", "odd"])
