"""Job files: `jobs/NAME.yaml` of a workspace."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from logistics_batch.errors import Finding, SpecificationError, UsageError
from logistics_batch.model.job import JOB_KINDS, JobSpec
from logistics_batch.specification import load_specification, nearest

FOLDER = "jobs"


class _Kind(BaseModel):
    model_config = ConfigDict(extra="allow")

    kind: Literal["push", "reconcile", "labels", "order_status", "settle"]


def job_names(workspace: Path) -> list[str]:
    """The names of a workspace's jobs, sorted."""
    return sorted(path.stem for path in (workspace / FOLDER).glob("*.yaml") if path.is_file())


def load_job(workspace: Path, name: str) -> JobSpec:
    """The job of that name.

    Raises UsageError if there is none, SpecificationError with every finding if its file cannot be used.
    """
    known = job_names(workspace)
    if name not in known:
        raise UsageError(
            f'There is no job "{name}" in {workspace / FOLDER}.',
            remedy=nearest(name, known) or "Write one there, or see `logistics-batch init --help`.",
        )
    path = workspace / FOLDER / f"{name}.yaml"
    shown = f"{FOLDER}/{path.name}"
    try:
        return parse_job(path.read_text(encoding="utf-8"), name=name, path=shown)
    except (OSError, UnicodeDecodeError) as error:
        reason = "It is not UTF-8 text." if isinstance(error, UnicodeDecodeError) else f"{error.strerror}."
        raise SpecificationError([Finding(shown, 0, 0, f"The job file cannot be read. {reason}")]) from error


def load_jobs(workspace: Path) -> list[JobSpec]:
    """Every job of a workspace, by name.

    Raises SpecificationError with the findings of all files.
    """
    loaded: list[JobSpec] = []
    findings: list[Finding] = []
    for name in job_names(workspace):
        try:
            loaded.append(load_job(workspace, name))
        except SpecificationError as error:
            findings += error.findings
    if findings:
        raise SpecificationError(findings)
    return loaded


def parse_job(text: str, *, name: str, path: str) -> JobSpec:
    """A job from the text of its file; `path` names the file in findings.

    Raises SpecificationError with every finding.
    """
    kind = load_specification(text, path=path, model=_Kind).kind
    spec: JobSpec = load_specification(text, path=path, model=JOB_KINDS[kind])
    if spec.name not in ("", name):
        raise SpecificationError(
            [
                Finding(
                    path, 0, 0, f'The file calls its job "{spec.name}".', "A job has the name of its file; remove it."
                )
            ]
        )
    return spec.model_copy(update={"name": name})
