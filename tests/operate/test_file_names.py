"""What alerts say of files whose names may be those of people."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.workspace import Workspace

from logistics_batch.flows.parts import Parts
from logistics_batch.jobs import parse_job
from logistics_batch.operate.file_watch import without_names
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

JOB = 'kind: push\nmapping: orders\nsource: {folder: ., path: /in, pattern: ["orders*.xlsx", "*.csv"]}\n'
NAMES = ["Asha Rao.csv", "orders Asha Rao.xlsx", "notes"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Asha Rao.csv could not be fetched: no.", "….csv could not be fetched: no."),
        ("1 file. orders Asha Rao.xlsx was not put away.", "1 file. orders….xlsx was not put away."),
        ("cannot put /out/Asha Rao.result.csv: full", "cannot put /out/….result.csv: full"),
        ("its done-file Asha Rao.csv.done is not there", "its done-file ….csv.done is not there"),
        ("2 files: 3 accepted, 1 invalid", "2 files: 3 accepted, 1 invalid"),
    ],
)
def test_of_a_name_only_what_the_jobs_patterns_say_is_told(tmp_path: Path, said: str, told: str) -> None:
    Workspace(tmp_path, url="https://service.invalid")
    job = parse_job(JOB, name="orders", path="jobs/orders.yaml")
    with Opened(tmp_path).parts(Need(calls=False)) as parts:
        assert without_names(parts, job, said, NAMES) == told
        assert without_names(_with_names(parts), job, said, NAMES) == said


def _with_names(parts: Parts) -> Parts:
    return replace(parts, policy=replace(parts.policy, names_in_alerts=True))


def test_whole_names_are_told_where_the_settings_want_them(tmp_path: Path) -> None:
    Workspace(tmp_path, url="https://service.invalid").configure("[notify]", "file_names = true")
    with Opened(tmp_path).parts(Need(calls=False)) as parts:
        assert parts.policy.names_in_alerts
