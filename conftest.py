"""`pytest --canary`: every test uses an API key that must stand nowhere when they have run.

Everything is logged, at DEBUG, and all that commands say is kept; afterwards every file that the tests left behind, all
logs and all output are searched for the key in each form in which it might be written.
"""

import gc
import logging
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from support.canary import CANARY, FOLDER, KEY, files_below, found_in, places
from support.forked_workers import fork_workers, keep_workers
from support.statements import share_statements

TALKATIVE = ("httpx", "httpcore", "sqlalchemy")  # what the last one says stands in the ledgers, which are searched
LOUD = Path(__file__).parent / "tests/support/loud"
BEGIN, END = "canary: the tests begin", "canary: the tests have ended"


fork_workers()
keep_workers()
share_statements()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--canary", action="store_true", help="search all that the tests leave for the API key")


class Canary:
    """What all tests of a run say and leave."""

    def __init__(self, folder: Path, *, is_kept: bool) -> None:
        self.folder, self.is_kept = folder, is_kept
        self.found: list[str] = []
        self.deaf: list[str] = []
        self.tests = self.files = self.bytes = self.logs = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        said = "\n".join([report.longreprtext, *(text for _, text in report.sections)])
        self.found += [f"output of {report.nodeid}: {form}" for form in found_in(said.encode(), CANARY)]
        self.tests += report.when == "call"

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        left = list(files_below(self.folder))
        self.files, self.bytes = len(left), sum(path.stat().st_size for path in left)
        self.found += places(self.folder, CANARY)
        self.deaf = [path.name for path in self._logs() if _has_gone_deaf(path.read_text("utf-8", "replace"))]
        self.logs = len(self._logs())
        if self.found or self.deaf or not self.logs:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif session.exitstatus == pytest.ExitCode.OK and not self.is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _logs(self) -> list[Path]:
        return list((self.folder / "logs").glob("*.log"))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("canary")
        terminalreporter.line(
            f"{self.tests} tests, {self.logs} processes logged, {self.files} files, {self.bytes / 1e6:.1f} MB "
            f"searched in {self.folder}: the key stands in {len(self.found)} places"
        )
        for place in self.found:
            terminalreporter.line(place)
        for name in self.deaf:
            terminalreporter.line(f"{name}: a test took away what writes this log; what came later was not searched")


def _has_gone_deaf(log: str) -> bool:
    """Whether a process that runs tests did not log until its end."""
    return BEGIN in log and END not in log


def _folder(basetemp: str | None) -> Path:
    """Where everything goes: what `--basetemp` names, emptied as pytest empties it, or a new folder."""
    if basetemp is None:
        return Path(tempfile.mkdtemp(prefix="canary-"))
    folder = Path(basetemp).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests whose own service repeats the key on purpose are left out, and counted as deselected."""
    if not config.getoption("--canary"):
        return
    repeating = [item for item in items if item.get_closest_marker("repeats_key")]
    items[:] = [item for item in items if item not in repeating]
    config.hook.pytest_deselected(items=repeating)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "repeats_key: its service repeats the key on purpose; not under --canary")
    if not config.getoption("--canary"):
        _work_in_memory(config)
        return
    if FOLDER not in os.environ:
        is_kept, folder = bool(config.option.basetemp), _folder(config.option.basetemp)
        for name in ("logs", "other"):
            (folder / name).mkdir()
        os.environ |= {KEY: CANARY, FOLDER: str(folder / "logs"), "TMPDIR": str(folder / "other")}
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(LOUD), os.environ.get("PYTHONPATH", "")]))
        tempfile.tempdir = None
        config.option.basetemp = str(folder / "tmp")
        config.pluginmanager.register(Canary(folder, is_kept=is_kept))
    handler = logging.FileHandler(Path(os.environ[FOLDER]) / f"{os.getpid()}.log")
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    for name in TALKATIVE:  # what tests themselves send carries the key in URLs (API §4.4)
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("tests").debug(BEGIN)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()  # what was imported and collected is no garbage: nobody need look for any in it while tests run


MEMORY, MEMORY_BYTES = Path("/dev/shm"), 4 << 30  # noqa: S108 - a folder of its own is made in it
IN_MEMORY = pytest.StashKey[Path]()


def _work_in_memory(config: pytest.Config) -> None:
    """Put the files of all tests where nothing waits for a disk, if there is room; what failed tests left stays."""
    if config.option.basetemp or hasattr(config, "workerinput") or not os.access(MEMORY, os.W_OK):
        return
    if shutil.disk_usage(MEMORY).free < MEMORY_BYTES:
        return
    folder = Path(tempfile.mkdtemp(prefix="tests-", dir=MEMORY))
    (folder / "other").mkdir()
    config.option.basetemp = str(folder / "tmp")
    os.environ["TMPDIR"], tempfile.tempdir = str(folder / "other"), None
    config.stash[IN_MEMORY] = folder


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.OK and IN_MEMORY in session.config.stash:
        shutil.rmtree(session.config.stash[IN_MEMORY], ignore_errors=True)
    if session.config.getoption("--canary"):
        logging.getLogger("tests").debug(END)
