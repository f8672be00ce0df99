"""What is installed is what was locked: every package with its hash, no registry named, and a changed file refused.

A server installs a part of it, and what that is stands in a bill of materials.
"""

import re
import tomllib
from pathlib import Path

import notice
import pytest

ROOT = Path(__file__).parents[1]
LOCKS = {
    name: (ROOT / f"requirements{name}.lock").read_text(encoding="utf-8")
    for name in ("", "-runtime", "-release", "-site")
}
INSTALLS = [line.strip() for line in (ROOT / "Makefile").read_text().splitlines() if "-r requirements.lock" in line]


def requirements(lock: str = "") -> list[str]:
    """The entries of a lock, each with its hashes."""
    joined = re.sub(r"\\\n\s*", " ", LOCKS[lock])
    return [line for line in joined.splitlines() if re.match(r"[a-z0-9]", line, re.IGNORECASE)]


def locked(lock: str = "") -> dict[str, tuple[str, frozenset[str]]]:
    """Version and hashes of each package of a lock."""
    return {
        line.split("==")[0]: (line.split("==")[1].split()[0], frozenset(re.findall(r"sha256:([0-9a-f]{64})", line)))
        for line in requirements(lock)
    }


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_is_pinned_and_hashed(lock: str) -> None:
    loose = [line for line in requirements(lock) if not re.match(r"\S+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)]
    assert len(requirements(lock)) > 30
    assert loose == []


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_names_no_host_and_no_path(lock: str) -> None:
    assert re.findall(r"https?:|index-url|find-links|file:|[a-z]+\.(?:org|com)\b", LOCKS[lock]) == []


def test_the_licence_of_everything_that_a_server_installs_is_named() -> None:
    assert notice.NOTICE.read_text(encoding="utf-8") == notice.text(), "PYTHONPATH=tests python -m notice"
    assert [name for name in notice.packages() if not notice.licence_of(name)] == []


def test_a_server_gets_what_was_tested_and_no_more() -> None:
    assert locked("-runtime").items() <= locked().items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    [chosen] = re.findall(r"^EXTRAS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for_servers = [*project["dependencies"], *(line for extra in chosen.split() for line in extras[extra])]
    wanted = {name_of(line) for line in for_servers}
    assert wanted <= locked("-runtime").keys()
    others = {name_of(line) for extra in extras.values() for line in extra} - wanted
    assert {"pytest", "mypy", "hatchling", "fastapi", "schemathesis", "playwright"} <= others
    assert not others & locked("-runtime").keys()


@pytest.mark.parametrize(
    ("group", "named"),
    [("release", {"hatchling", "cyclonedx-bom", "pip-audit"}), ("site", {"sphinx", "myst-parser", "furo"})],
)
def test_what_makes_a_release_or_the_site_is_locked_and_not_installed(group: str, named: set[str]) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"][group]
    tools, lock = {name_of(line) for line in declared}, f"-{group}"
    assert tools == named
    assert tools <= locked(lock).keys()
    assert not tools & locked("-runtime").keys()
    both = locked().keys() & locked(lock).keys()
    assert {name: locked()[name] for name in both} == {name: locked(lock)[name] for name in both}


def name_of(requirement: str) -> str:
    """The package that a requirement is about."""
    return re.split(r"[\[=<>~]", requirement)[0].lower()


def test_every_direct_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    declared = [*project["project"]["dependencies"], *(line for extra in extras for line in extra)]
    names = {name_of(line) for line in declared + project["build-system"]["requires"]}
    extras_left_out = {re.split(r"[=\[]", line)[0].lower() for line in requirements()}
    assert names - extras_left_out == {"logistics-batch"}


def test_both_ways_to_install_enforce_hashes_and_build_nothing() -> None:
    assert len(INSTALLS) == 2  # with uv and with pip
    for line in INSTALLS:
        assert "--require-hashes" in line
        assert "--only-binary :all:" in line
