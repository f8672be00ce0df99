"""The man page, written from the help of the command line and the exit codes of the README.

`PYTHONPATH=.:tests python tests/docs/man_page.py` writes it anew.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Final

import click
from docs.pages import ROOT
from docs.test_pages import table

from logistics_batch import __version__
from logistics_batch.cli.front import front

PAGE: Final = ROOT / "docs/man/logistics-batch.1"
NAME: Final = "logistics-batch"
_REST: Final = """\
.SH ENVIRONMENT
.TP
.B LOGISTICS_BATCH_\\fISECTION\\fB__\\fIKEY
A key of the settings; it wins over the file. The name is the path of the key, its parts joined by two underscores.
.SH FILES
.TP
.I logistics-batch.toml
The settings of a workspace.
.TP
.IR mappings/ ", " jobs/
How spreadsheets are read, and what runs when.
.TP
.I var/
The ledger and what else the program remembers; back it up.
"""


def man_page() -> str:
    """The whole page in the man macros of troff."""
    about, commands = front.help or "", list(_below(front, NAME, None))
    lines = [
        f'.TH {NAME.upper()} 1 "" "{NAME} {__version__}" "User Commands"',
        ".SH NAME",
        f"{_text(NAME)} \\- {_text(about.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_text(NAME)}",
        _text(" ".join(front.collect_usage_pieces(click.Context(front)))),
        ".SH OPTIONS",
        *_options(front, _context(front, NAME, None)),
        ".SH COMMANDS",
        *(line for command, context in commands for line in _command(command, context)),
        ".SH EXIT STATUS",
    ]
    for code, [meaning, _] in table(ROOT / "docs/how-to/operator.md", "Exit codes").items():
        lines += [".TP", f".B {code}", _text(meaning)] if code.isdigit() else []
    return "\n".join(lines) + "\n" + _REST


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _below(
    group: click.Group, name: str, parent: click.Context | None
) -> Iterator[tuple[click.Command, click.Context]]:
    """Every command below a group, in the order of its help."""
    context = _context(group, name, parent)
    for each in group.list_commands(context):
        command = group.get_command(context, each)
        assert command is not None
        yield command, _context(command, each, context)
        if isinstance(command, click.Group):
            yield from _below(command, each, context)


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = [context.command_path.removeprefix(f"{NAME} "), *command.collect_usage_pieces(context)]
    yield f".SS {_text(' '.join(usage))}"
    for number, paragraph in enumerate(re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))):
        yield from ([".PP"] if number else [])
        yield _text(" ".join(paragraph.split()))
    yield from _options(command, context)
    example = (command.epilog or "").removeprefix("Example: ")
    yield from (".PP", "Example:", ".PP", ".RS 4", ".nf", _text(example), ".fi", ".RE")


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        is_told = isinstance(parameter, click.Option) and "--help" not in parameter.opts
        if is_told and (record := parameter.get_help_record(context)):
            names, meaning = record
            yield from (".TP", f".B {_text(names)}", _text(meaning))


def _text(plain: str) -> str:
    """A line in which troff takes nothing for its own, and whose hyphens can be copied."""
    escaped = plain.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(each if each.isascii() else f"\\[u{ord(each):04X}]" for each in escaped)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    PAGE.write_text(man_page(), encoding="utf-8")
