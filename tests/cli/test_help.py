"""Help: every command has it, with an example, and it comes without loading anything heavy."""

import re
import subprocess
import sys

import click
import pytest

from logistics_batch import cli
from logistics_batch.cli.front import COMMANDS, front


def rendered(command: click.Command, ctx: click.Context, words: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """The page of a command and of all below it, by the words that name it."""
    pages = {words: command.get_help(ctx)}
    for name in command.list_commands(ctx) if isinstance(command, click.Group) else ():
        below = command.get_command(ctx, name)
        assert below is not None
        pages |= rendered(below, click.Context(below, info_name=name, parent=ctx), (*words, name))
    return pages


PAGES = rendered(front, click.Context(front, info_name="logistics-batch", **front.context_settings))
HEAVY = ("polars", "pydantic", "sqlalchemy", "httpx", "paramiko", "rich", "openpyxl", "apscheduler", "yaml")


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_shows_an_example(page: tuple[str, ...]) -> None:
    example = PAGES[page].partition("Example: ")[2].strip()
    assert example.startswith(" ".join(["logistics-batch", *page]).partition(" COMMAND")[0])


def test_the_tool_lists_every_command() -> None:
    page = PAGES[()]
    assert all(f"  {name} " in page and line in page for name, (_, line) in COMMANDS.items())


def test_no_command_takes_a_secret_of_ours_as_an_argument() -> None:
    """Others could read it in the list of processes; the sandbox's key opens nothing but the sandbox."""
    options = {
        (page, option)
        for page, text in PAGES.items()
        for option in re.findall(r"--[a-z-]*(?:key|secret|pass|token|header|credential)[a-z-]*", text)
        if not option.endswith("-file")
    }
    assert options == {(("sandbox",), "--api-key"), (("mapping", "suggest"), "--header")}  # the row of a sheet


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
