"""What is released is made twice alike, installs only what was locked, and says what is in it; from real packages."""

import base64
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from release.container import may_mount
from support.makefile import ROOT, make
from test_supply_chain import INSTALLS, locked


def build(checkout: Path, dist: Path) -> dict[str, str]:
    """The wheel and the source of a checkout, built as the Makefile does; returns their digests by name."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(dist)]
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(command, cwd=checkout, env=environment, check=True, capture_output=True, timeout=120)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.iterdir()}


@pytest.mark.slow
def test_two_builds_are_the_same_to_the_byte(tmp_path: Path) -> None:
    """Whoever has the source, and wherever and whenever it is unpacked, can build what was released and compare it."""
    released = build(ROOT, tmp_path / "dist")
    assert {Path(name).suffix for name in released} == {".whl", ".gz"}
    [source] = (tmp_path / "dist").glob("*.tar.gz")
    shutil.unpack_archive(source, tmp_path)
    checkout = tmp_path / source.name.removesuffix(".tar.gz")
    (checkout / "PKG-INFO").unlink()  # was added to the source
    for path in checkout.rglob("*"):  # a umask of its own, another day
        path.chmod(0o700 if path.is_dir() or path.stat().st_mode & 0o100 else 0o600)
        os.utime(path, (1_800_000_000, 1_800_000_000))
    assert build(checkout, tmp_path / "again") == released


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
    venv.create(place)
    return [sys.executable, "-m", "pip", "--python", str(place / "bin/python"), "install", "--no-index", *flags]


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


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The wheel and the bill of materials of this checkout; returns the variables that name their places."""
    folder = tmp_path_factory.mktemp("release")
    places = (f"TOOLS={folder / 'tools'}", f"DIST={folder / 'dist'}")
    done = make("wheel", "sbom", *places, PIP_NO_COMPILE="1")
    assert done.returncode == 0, done.stderr
    return places


def dist_of(places: tuple[str, str]) -> Path:
    """Where a release was put."""
    return Path(places[1].partition("=")[2])


@pytest.mark.slow
@pytest.mark.real
def test_the_bill_of_materials_names_what_a_server_installs(release: tuple[str, str]) -> None:
    path = dist_of(release) / "sbom.cdx.json"  # was held against the schema as it was written
    written = path.read_bytes()
    bill: dict[str, Any] = json.loads(written)
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "logistics-batch")
    named = {
        each["name"]: (
            each["version"],
            frozenset(entry["content"] for link in each["externalReferences"] for entry in link["hashes"]),
        )
        for each in bill["components"]
    }
    assert named == locked("-runtime")
    path.unlink()
    assert make("sbom", *release, HTTPS_PROXY="http://127.0.0.1:9", PIP_NO_INDEX="1").returncode == 0
    assert path.read_bytes() == written


@pytest.fixture
def advisories(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a service that knows a weakness of one package, or of none (request.param: its name, or "")."""

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["package"]["name"]
            fixed = {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "999"}]}
            affected = [{"package": {"name": asked, "ecosystem": "PyPI"}, "ranges": [fixed]}]
            found = {"vulns": [{"id": "PYSEC-0000-1", "summary": "", "details": "", "affected": affected}]}
            body = json.dumps(found if asked == request.param else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
        server.shutdown()


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("advisories", ["", "mako"], indirect=True)
def test_known_weaknesses_are_named(release: tuple[str, str], advisories: str, request: pytest.FixtureRequest) -> None:
    asked = make("advisories", *release, f"ADVISORIES=-s osv --osv-url {advisories}", NO_PROXY="127.0.0.1")
    weak = bool(request.node.callspec.params["advisories"])
    assert ("PYSEC-0000-1" in asked.stdout, asked.returncode != 0) == (weak, weak), asked.stdout + asked.stderr
    assert ("No known vulnerabilities found" in asked.stdout) != weak
    assert "could not be asked" not in asked.stdout


@pytest.mark.slow
@pytest.mark.real
def test_a_silent_advisory_service_is_not_taken_for_a_clean_bill(release: tuple[str, str]) -> None:
    asked = make("advisories", *release, HTTPS_PROXY="http://127.0.0.1:9")
    assert asked.returncode != 0
    assert "The advisory service could not be asked, so nothing is known about weaknesses." in asked.stdout
    assert "No known" not in asked.stdout


@pytest.mark.slow
@pytest.mark.skipif(may_mount(), reason="the container, whose steps are taken here, shows it")
def test_the_runtime_alone_works(release: tuple[str, str], tmp_path: Path) -> None:
    """As the page about servers and the Containerfile install it."""
    server = tmp_path / "server"
    venv.create(server, with_pip=False)
    [wheel_file] = dist_of(release).glob("*.whl")
    pip = [str(Path(release[0].partition("=")[2]) / "bin/pip"), "--python", str(server / "bin/python"), "install"]
    for what in (
        ["--require-hashes", "--only-binary", ":all:", "-r", str(ROOT / "requirements-runtime.lock")],
        ["--no-deps", "--no-index", str(wheel_file)],
    ):
        subprocess.run([*pip, "--quiet", "--no-compile", *what], check=True, timeout=600)

    def answer(*arguments: str) -> str:
        command = [str(server / "bin/logistics-batch"), *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert (server / "share/man/man1/logistics-batch.1").is_file()
    assert answer("--version").startswith("logistics-batch, version ")
    answer("init", "night-shift")
    answer("--workspace", "night-shift", "mapping", "test")  # reads spreadsheets, in the child that does so, too
    for needed in ("receive", "schedule", "labels", "doctor"):
        answer(needed, "--help")
