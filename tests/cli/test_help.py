"""Help: every command has it, with an example, and it comes without loading anything heavy."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from logistics_batch import cli
from logistics_batch.cli.commands import COMMANDS
from logistics_batch.cli.pages import FOLDER, page_for
from logistics_batch.cli.write_pages import rendered

PAGES = rendered()
HEAVY = ("polars", "pydantic", "sqlalchemy", "httpx", "paramiko", "rich", "openpyxl", "apscheduler", "yaml")


def words_of(page: str) -> list[str]:
    return page.removesuffix(".txt").split(".")[1:]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_the_page_that_is_shown_is_the_one_that_fits(page: str) -> None:
    shown = page_for([*words_of(page), "--help"])
    assert shown == PAGES[page], "render the pages again: python -m logistics_batch.cli.write_pages"


def test_there_is_no_page_of_a_command_that_is_gone() -> None:
    assert {path.name for path in Path(FOLDER).iterdir()} == set(PAGES)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_shows_an_example(page: str) -> None:
    example = PAGES[page].partition("Example: ")[2].strip()
    assert example.startswith(" ".join(["logistics-batch", *words_of(page)]).partition(" COMMAND")[0])


def test_the_tool_lists_every_command() -> None:
    page = PAGES["logistics-batch.txt"]
    assert all(f"  {name} " in page and entry.line in page for name, entry in COMMANDS.items())


def test_no_command_takes_a_secret_of_ours_as_an_argument() -> None:
    """Others could read it in the list of processes; the sandbox's key opens nothing but the sandbox."""
    options = {
        (page, option)
        for page, text in PAGES.items()
        for option in re.findall(r"--[a-z-]*(?:key|secret|pass|token|header|credential)[a-z-]*", text)
        if not option.endswith("-file")
    }
    assert options == {("logistics-batch.sandbox.txt", "--api-key")}


@pytest.mark.parametrize(
    "arguments", [["run", "nightly"], ["../secrets", "--help"], ["--workspace", "x", "--help"], []]
)
def test_other_arguments_have_no_page(arguments: list[str]) -> None:
    assert page_for(arguments) is None


def test_help_of_a_command_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["logistics-batch", "schedule", "list", "-h"])
    assert cli.main() == 0
    assert capsys.readouterr().out.startswith("Usage: logistics-batch schedule list [OPTIONS]")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["push", "--help"], ["--workspace", "x", "push", "--help"], ["--version"]]
)
def test_nothing_heavy_is_loaded_for_help(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        "from logistics_batch.cli import main\n"
        f"sys.argv = ['logistics-batch', *{arguments!r}]\n"
        "code = main()\n"
        f"print(code, sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "0 []"
    assert done.stdout
