"""The top of the command line: lazily loaded commands, and what becomes of an error.

Standard output and error that a run outlives: who reads them may end first, or their disk may be full.

What a run did is told by its exit code and its reports; that its words found no reader must not change it.
"""

import errno
import importlib
import io
import os
import resource
import signal
import sys
from contextlib import suppress
from types import TracebackType
from typing import Any

import click

from logistics_batch import __version__
from logistics_batch.errors import LogisticsBatchError, MachineFailed, ProgramFailed, is_of_machine

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "The whole nightly loop on embedded parts."),
    "init": ("workspace", "Make a new workspace: settings, mappings, jobs."),
    "push": ("sending", "Send one file by hand."),
    "run": ("sending", "Run one job now."),
    "schedule": ("services", "Run the jobs by their schedules, until stopped."),
    "worker": ("services", "Help the runs of other machines to send, until stopped."),
    "cluster": ("services", "Which programs send or keep the schedule with this ledger."),
    "settle": ("sending", "Find out what became of calls without an answer."),
    "held": ("held", "What waits for a person, and deciding it."),
    "retry": ("sending", "Send again what was refused or not sent yet."),
    "mapping": ("mapping", "Check mapping files and see what they make of a file."),
    "reconcile": ("reconcile", "Compare ASNs with the ledger and the receipts."),
    "labels": ("labels", "Make a bundle of labels for the printer."),
    "asn": ("by_hand", "Fetch ASNs."),
    "order": ("by_hand", "Look at one order, or cancel it."),
    "webhook": ("by_hand", "Subscribe to order events."),
    "receive": ("services", "Store events of orders as they come, until stopped."),
    "serve": ("pages", "The pages for people, until stopped."),
    "user": ("pages", "Who may use the pages."),
    "runs": ("memory", "What ran, with what outcome; its reports again."),
    "ledger": ("memory", "Check the memory, or write it out as records."),
    "doctor": ("workspace", "Check settings, servers, key, mappings, ledger, disk and clock."),
    "sandbox": ("services", "A local service and SFTP server to try things on."),
}
"""Every command: the module below `cli.commands` where it lives under its own name, and its line in `--help`."""
_NEAR = 0.7  # how alike a misspelt command must be; "retry" is not nearly "order"
_INTERRUPTED = 128 + signal.SIGINT


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, not when they are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All commands, in the order in which the work is done."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"logistics_batch.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with a suggestion for a misspelt command."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches  # only for who mistyped

            near = get_close_matches(name, COMMANDS, n=1, cutoff=_NEAR)
            hint = f'Did you mean "{near[0]}"?' if near else "See --help for all commands."
            raise click.UsageError(f'There is no command "{name}". {hint}', ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    no_args_is_help=True,
    # A fixed width: the pages are the same in every terminal, and as the documentation quotes them.
    context_settings={"help_option_names": ["-h", "--help"], "terminal_width": 100},
    epilog="Example: logistics-batch demo",
)
@click.option("--workspace", metavar="DIR", help="The folder with logistics-batch.toml; by default the current one.")
@click.option("--traceback", is_flag=True, help="Show where in the program an unexpected error arose.")
@click.version_option(__version__, prog_name="logistics-batch")
@click.pass_context
def front(ctx: click.Context, *, workspace: str | None, traceback: bool) -> None:
    """Spreadsheets in, logistics API calls out, an answer for every row back."""
    ctx.obj = workspace
    if not traceback:
        sys.excepthook = _unexpected


def run(arguments: list[str] | None = None) -> int:
    """Run the command line (by default this process's); every error of ours becomes a message and an exit code."""
    os.umask(0o077)  # files hold names, phones and addresses
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # so would a core file
    try:
        code = front.main(arguments, prog_name="logistics-batch", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except LogisticsBatchError as error:
        if isinstance(error, ProgramFailed) and sys.excepthook is not _unexpected:
            raise  # --traceback
        return fail(error)
    except OSError as error:
        if not is_of_machine(error):
            raise
        return fail(MachineFailed(error))
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return _INTERRUPTED


def fail(error: LogisticsBatchError) -> int:
    """Say on standard error what happened and what to do, and give the exit code."""
    click.echo(f"Error: {error.message}", err=True)
    if error.remedy:
        click.echo(f"What to do: {error.remedy}", err=True)
    return error.exit_code


def _unexpected(kind: type[BaseException], _error: BaseException, trace: TracebackType | None) -> None:
    """An error of the program itself; its text may hold data of a row, so only its kind and place are shown."""
    place = ""
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    click.echo(f"Error: the program itself failed ({kind.__name__} at {place}).", err=True)
    click.echo("What to do: report this; `logistics-batch --traceback COMMAND …` shows more.", err=True)


class _Outlived(io.FileIO):
    """A stream that takes everything, also when nobody does any more."""

    told = False

    def write(self, content: Any, /) -> int:
        """Write as far as possible; a fault of the stream is told once on standard error, and is no fault of ours."""
        try:
            return super().write(content)
        except OSError as error:
            # A reader that ended (EPIPE) or a terminal that was closed (EIO) wants no word about it.
            if self.fileno() == 1 and not self.told and error.errno not in (errno.EPIPE, errno.EIO):
                self.told = True
                with suppress(OSError):
                    os.write(2, f"Standard output could not be written: {error.strerror}.\n".encode())
            return len(memoryview(content).cast("B"))


def outlive_readers() -> None:
    """Exchange this process's standard output and error for streams that do not end it; closed ones lead nowhere."""
    for number in (0, 1, 2):
        _fill(number)
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is not None and stream is not getattr(sys, f"__{name}__"):
            continue  # somebody who called us reads along
        encoding = stream.encoding if stream is not None else "utf-8"
        raw = _Outlived(number, "w", closefd=False)
        # A terminal that lacks a letter shows its number instead.
        words = io.TextIOWrapper(
            io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace", line_buffering=raw.isatty()
        )
        setattr(sys, name, words)


def _fill(number: int) -> None:
    """A descriptor that was closed when we were started leads nowhere; else the ledger might get its number."""
    try:
        os.fstat(number)
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
