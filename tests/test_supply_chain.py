"""What is installed is what was locked: every package with its hash, no registry named, and a changed file refused."""

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text()
INSTALLS = [line.strip() for line in (ROOT / "Makefile").read_text().splitlines() if "-r requirements.lock" in line]


def requirements() -> list[str]:
    """The lock's entries, each with its hashes."""
    joined = re.sub(r"\\\n\s*", " ", LOCK)
    return [line for line in joined.splitlines() if re.match(r"[a-z0-9]", line, re.IGNORECASE)]


def test_every_package_is_pinned_and_hashed() -> None:
    loose = [line for line in requirements() if not re.match(r"\S+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)]
    assert len(requirements()) > 40
    assert loose == []


def test_the_lock_names_no_host_and_no_path() -> None:
    assert re.findall(r"https?:|index-url|find-links|file:|[a-z]+\.(?:org|com)\b", LOCK) == []


def test_every_direct_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    declared = [*project["project"]["dependencies"], *(line for extra in extras for line in extra)]
    names = {re.split(r"[\[=<>~]", line)[0].lower() for line in declared + project["build-system"]["requires"]}
    locked = {re.split(r"[=\[]", line)[0].lower() for line in requirements()}
    assert names - locked == {"logistics-batch"}


def test_both_ways_to_install_enforce_hashes_and_build_nothing() -> None:
    assert len(INSTALLS) == 2  # with uv and with pip
    for line in INSTALLS:
        assert "--require-hashes" in line
        assert "--only-binary :all:" in line


def wheel(folder: Path) -> Path:
    """A small wheel, as a registry would serve it."""
    path = folder / "parcel-1.0-py3-none-any.whl"
    info = "parcel-1.0.dist-info"
    files = {
        "parcel.py": b"weight = 1\n",
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: parcel\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n"
        for name, content in files.items()
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    return path


@pytest.fixture(params=["uv", "pip"])
def installer(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The Makefile's own install command, with a fresh environment and no registry."""
    line = INSTALLS[0 if request.param == "uv" else 1]
    flags = (
        line.split("--quiet", 1)[1].replace("--python $(BIN)/python", "").replace("-r requirements.lock", "").split()
    )
    place = tmp_path / "environment"
    if request.param == "uv":
        uv = shutil.which("uv")
        if uv is None:
            pytest.skip("uv is not on this machine; the Makefile then uses pip, which the other case shows")
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(place)], check=True)
        return [uv, "pip", "install", "--python", str(place / "bin/python"), "--no-index", *flags]
    venv.create(place, with_pip=True)
    return [str(place / "bin/python"), "-m", "pip", "install", "--no-index", *flags]


@pytest.mark.slow
def test_a_changed_file_is_not_installed(installer: list[str], tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    built = wheel(packages)
    right = hashlib.sha256(built.read_bytes()).hexdigest()
    command = [*installer, "--find-links", str(packages), "-r", str(tmp_path / "lock.txt")]
    for line in (f" --hash=sha256:{'0' * 64}", "", f" --hash=sha256:{right}"):
        (tmp_path / "lock.txt").write_text(f"parcel==1.0{line}\n")
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode == 0) == (right in line), done.stderr
