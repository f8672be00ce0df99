"""What docs/deploy holds: a service unit that systemd takes, a container that holds only what runs.

That a whole night fits into the unit is seen where the demo runs, in tests/demo.
"""

import configparser
import json
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from docs.test_pages import parse as parse_command
from support.service_unit import UNIT, analyze

from logistics_batch.cli.front import front
from logistics_batch.model.jobs.timing import Cron

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs/deploy"
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")


@pytest.mark.real
def test_the_unit_is_little_exposed() -> None:
    said = analyze("security", "--offline=true", "--no-pager", str(UNIT))
    [exposure] = re.findall(r"Overall exposure level for \S+: ([\d.]+)", said)
    assert float(exposure) <= 1.5


@pytest.mark.real
def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    here = UNIT.read_text().replace("/opt/logistics-batch/bin/logistics-batch", sys.executable)
    (tmp_path / UNIT.name).write_text(here)
    assert analyze("verify", "--man=no", str(tmp_path / UNIT.name)) == ""


def test_the_unit_starts_what_exists_and_waits_for_its_end() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)  # some keys add to what stands before them
    unit.optionxform = str  # type: ignore[assignment]
    unit.read(UNIT)
    parse_command(front, shlex.split(unit["Service"]["ExecStart"])[1:])
    assert int(unit["Service"]["TimeoutStopSec"]) > 10


def test_the_crontab_has_five_fields_and_commands_that_exist() -> None:
    lines = [line for line in (DEPLOY / "crontab").read_text().splitlines() if line and line[0] in "0123456789*"]
    assert len(lines) == 3
    for line in lines:
        fields = line.split(maxsplit=5)
        Cron.parse(" ".join(fields[:5]))
        command = fields[5].partition("&& ")[2]
        parse_command(front, shlex.split(command)[1:])


def test_what_the_sender_of_a_dead_process_needs_is_left() -> None:
    """boot_id and mountinfo tell a dead sender from a living one and a network share from a disk."""
    assert "ProcSubset=pid" not in UNIT.read_text()


def test_the_container_is_built_from_what_is_named() -> None:
    [base] = re.findall(r"^ARG BASE=(\S+)$", CONTAINER, re.MULTILINE)
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim@sha256:[0-9a-f]{64}", base)
    assert set(re.findall(r"^FROM (\S+)", CONTAINER, re.MULTILINE)) == {"${BASE}"}
    installs = re.findall(r"pip (?:(?!&&).)*install [^&]*", CONTAINER)
    assert len(installs) == 3
    for line in installs:  # what is locked, by its hash; then our own wheel, from nowhere else
        assert ("--require-hashes" in line and "--only-binary :all:" in line) or "--no-index" in line


def test_the_container_builds_the_whole_wheel() -> None:
    """A licence file that is not there would be left out of the wheel without a word."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*wheel["force-include"], *wheel["shared-data"], *project["project"]["license-files"], "src"}
    copied = re.findall(r"^COPY (?!--from)(.+) /src/\S*$", CONTAINER, re.MULTILINE)
    there = {name for names in copied for name in names.split()}
    assert {name for name in needed if not {name, str(Path(name).parent)} & there} == set()


def test_the_container_copies_what_is_there_and_runs_what_exists() -> None:
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINER, re.MULTILINE):
        assert all((ROOT / name).exists() for name in sources.split())
    commands = [json.loads(each) for each in re.findall(r"CMD (\[.+\])$", CONTAINER, re.MULTILINE)]
    assert len(commands) == 2
    for command in commands:
        parse_command(front, command[1:])


def test_the_container_runs_what_runs_and_not_as_root() -> None:
    last = CONTAINER.rpartition("FROM ")[2]
    assert "requirements" not in last
    assert "COPY --from=build /opt/logistics-batch " in last
    assert re.findall(r"^USER (\S+)$", last, re.MULTILINE) == ["logistics"]
    assert not re.search(r"^(?:COPY|ADD) \.", CONTAINER, re.MULTILINE)  # no history, no secrets of a checkout


def test_compose_starts_what_exists_and_lets_it_do_nothing_else() -> None:
    whole = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    programs = {name: each for name, each in whole["services"].items() if each["image"] == "logistics-batch"}
    assert set(programs) == {"night", "worker", "receive", "pages"}
    for each in programs.values():
        parse_command(front, each.get("command", ["logistics-batch", "schedule"])[1:])
        assert (each["read_only"], each["cap_drop"]) == (True, ["ALL"])
        assert "no-new-privileges:true" in each["security_opt"]
        assert each["depends_on"] == {"ledger": {"condition": "service_healthy"}}
    database = whole["services"]["ledger"]
    assert database["network_mode"] == "none"
    mounted = {each.partition(":")[0] for service in whole["services"].values() for each in service["volumes"]}
    assert mounted == {*whole["volumes"], "/srv/night-shift"}


def test_kubernetes_starts_what_exists_and_lets_it_do_nothing_else() -> None:
    volume, *programs = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    assert [each["spec"]["replicas"] for each in programs] == [2, 4]
    assert volume["spec"]["accessModes"] == ["ReadWriteMany"], "two schedulers share the workspace"
    for whole in programs:
        spec = whole["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        parse_command(front, container["args"][1:])
        if "livenessProbe" in container:
            parse_command(front, container["livenessProbe"]["exec"]["command"][1:])
        assert spec["securityContext"]["runAsNonRoot"]
        # A group with a name in the container may have members there, and a secret that it may read is refused.
        assert spec["securityContext"]["fsGroup"] not in (0, spec["securityContext"]["runAsGroup"])
        limits = container["securityContext"]
        assert limits["readOnlyRootFilesystem"]
        assert not limits["allowPrivilegeEscalation"]
        assert limits["capabilities"] == {"drop": ["ALL"]}
        assert {each["name"] for each in container["volumeMounts"]} == {each["name"] for each in spec["volumes"]}
        claims = [
            each["persistentVolumeClaim"]["claimName"] for each in spec["volumes"] if "persistentVolumeClaim" in each
        ]
        assert set(claims) <= {volume["metadata"]["name"]}
        assert not any("emptyDir" in each for each in spec["volumes"] if each["name"] != "tmp")  # everybody writes it


def test_airflow_starts_what_exists() -> None:
    example = (DEPLOY / "airflow_dag.py").read_text()
    compile(example, "airflow_dag.py", "exec")
    run, workspace = (re.search(rf'^{name} = "(.+)"$', example, re.MULTILINE) for name in ("RUN", "WORKSPACE"))
    assert run
    assert workspace
    jobs = re.findall(r"\{RUN\} (\S+) ", example)
    assert [job for job in jobs if not (ROOT / f"jobs/{job}.yaml").exists()] == []
    for job in jobs:
        parse_command(front, shlex.split(f"{run[1]} {job} {workspace[1]}".replace("{{ ds }}", "2026-11-30"))[1:])
