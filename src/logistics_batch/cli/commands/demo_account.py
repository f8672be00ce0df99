"""The account of the demo, as it is printed."""

import os
import shutil
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from logistics_batch.cli.show import plain
from logistics_batch.demo.account import Account
from logistics_batch.model.report import Fate

_FATE_STYLES = {
    Fate.ACCEPTED: "green",
    Fate.UNCHANGED: "cyan",
    Fate.REFUSED: "red",
    Fate.INVALID: "bold yellow",
    Fate.BLOCKED: "yellow",
    Fate.IN_DOUBT: "magenta",
    Fate.HELD: "blue",
    Fate.PENDING: "bright_black",
    Fate.SKIPPED: "bright_black",
}
_CLASS_STYLES = {
    "critical": "bold red",
    "high": "yellow",
    "medium": "cyan",
    "matched": "green",
    "within tolerance": "green",
}
_BAD_ROWS_SHOWN = 3
_PIPE_WIDTH = 110  # where there is no terminal
_WIDEST = 118  # longer lines are hard to read


def print_account(account: Account, console: Console | None = None) -> None:
    """Print it to standard output, or to the console given."""
    terminal = Console(highlight=False)
    width = min(terminal.width, _WIDEST) if terminal.is_terminal else _PIPE_WIDTH
    console = console or Console(highlight=False, width=width, file=sys.stdout)
    day = date.fromisoformat(account["business_date"])
    console.print()
    title = f"A night at the warehouse · {day:%A} {day.day} {day:%B %Y}"
    console.print(Rule(Text(title, "bold"), style="bright_black"))
    _print_files(console, account)
    if account["reconciliation"]:
        _print_comparison(console, account)
    if account["labels"]:
        _print_labels(console, account["labels"])
    if account["status"]:
        _print_status(console, account)
    _print_places(console, account)
    _print_end(console, account)


def _heading(console: Console, title: str, says: str) -> None:
    console.print()
    console.print(Text.assemble((title, "bold"), ("  ", ""), (says, "bright_black")))


def _print_files(console: Console, account: Account) -> None:
    files = account["files"]
    _heading(
        console,
        f"{len(files)} spreadsheets, {sum(file['rows'] for file in files)} rows",
        "dropped on the SFTP server; each row comes back with one fate",
    )
    for file in files:
        line = Table.grid(padding=(0, 2), expand=True)
        line.add_column(ratio=1, overflow="fold")
        line.add_column(justify="right", no_wrap=True)
        line.add_row(
            Text.assemble((f"  {plain(file['file'])}", "bold"), (f"  {file['job']}", "bright_black")),
            Text(f"{file['sent']} of {file['of_documents']} {file['noun']}s created", "green" if file["sent"] else ""),
        )
        console.print(line)
        fates = [
            Text(f"{count} {fate.replace('_', ' ')}", _FATE_STYLES[Fate(fate)])
            for fate, count in file["counts"].items()
        ]
        words = Text.assemble(f"{file['rows']} rows: ", Text(" · ", "bright_black").join(fates))
        console.print(Padding(words, (0, 0, 0, 4)))
        for bad in file["bad_rows"][:_BAD_ROWS_SHOWN]:
            console.print(Padding(_bad_row(bad), (0, 0, 0, 6)))
        more = len(file["bad_rows"]) - _BAD_ROWS_SHOWN
        if more > 0:
            console.print(Padding(Text(f"… and {more} more, each named in the answers", "bright_black"), (0, 0, 0, 6)))


def _bad_row(bad: Account) -> Text:
    place = f"{bad['cell']} {plain(bad['column'])}" if bad["cell"] else f"row {bad['row']}"
    value = f' "{plain(bad["value"])}"' if bad["value"] else ""
    says = ((plain(bad["reason"]), ""), ("  → ", "bright_black"), (plain(bad["fix"]), "italic"))
    return Text.assemble((f"{place}{value}  ", "yellow"), *says)


def _print_comparison(console: Console, account: Account) -> None:
    found = account["reconciliation"]
    whole = "complete" if found["complete"] else "may be incomplete"
    _heading(
        console,
        "Announced, in the service, received",
        f"{found['lines']} ASN lines, {account['receipt_lines']} receipts, {found['window']}: {whole}",
    )
    table = Table(box=SIMPLE_HEAD, pad_edge=True, padding=(0, 1), show_edge=False)
    table.add_column("Class", no_wrap=True)
    for name in ("Lines", "Units", "INR"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("What it says", style="bright_black")
    for one in found["classes"]:
        table.add_row(
            Text(one["name"], _CLASS_STYLES.get(one["severity"] or one["name"], "")),
            Text(str(one["lines"])),
            Text(f"{Decimal(one['units']):,f}" if one["units"].strip("0.") else "–"),
            Text(one["rupees"] or "–"),
            Text(one["says"]),
        )
    console.print(Padding(table, (0, 0, 0, 1)))


def _print_labels(console: Console, labels: Account) -> None:
    _heading(console, "Labels", "in the order in which people pick: hub, route, SKU")
    missing = f"{len(labels['missing'])} missing" if labels["missing"] else "none missing"
    text = Text.assemble(
        (f"  {labels['labels']} labels", "green"),
        f" of {labels['orders']} orders on {labels['pages']} pages, ",
        (missing, "bold red" if labels["missing"] else "green"),
        (f"  bundle {labels['bundle']}", "bright_black"),
    )
    console.print(text)
    for lost in labels["missing"]:
        console.print(Text(f"  {plain(lost)}", "red"))


def _print_status(console: Console, account: Account) -> None:
    status = account["status"]
    _heading(console, "After sending", "events are hints: the service is asked before anything counts")
    text = Text.assemble(
        (f"  {status['events']} events received", "green"),
        f", {status['asked']} orders asked for, {status['changed']} changed; ",
        (f"{status['fed']} in the feed for the warehouse system", "green"),
    )
    console.print(text)
    steps = " → ".join(f"{count} {name}" for name, count in account["reached"].items())
    console.print(Text(f"  At the service: {steps}", "bright_black"))


_PLACES = (
    ("files", "Answers", ".result.xlsx"),
    ("files", "To correct", ".fix."),
    ("reconciliation", "Reconciliation", "reconciliation.xlsx"),
    ("reconciliation", "", "reconciliation.html"),
    ("labels", "Labels", "labels"),
    ("labels", "", "manifest.pdf"),
    ("status", "Status feed", "order-status-"),
    ("status", "Orders", "order_status.xlsx"),
    ("receipts", "Receipts", "receipts_"),
)
"""Where to look: a part of the account, how its files are called here, and what is in their names."""


def _print_places(console: Console, account: Account) -> None:
    root = shown(Path(account["server_folder"]))
    _heading(console, "Where to look", f"{root} was / of the SFTP server: the rest of a path is the path there")
    files = {name: account[name]["files"] for name in ("reconciliation", "labels", "status") if account[name]}
    files["files"] = [answer for file in account["files"] for answer in file["answers"]]
    files["receipts"] = [account["receipts"]]
    for part, title, name in _PLACES:
        found = [file for file in files.get(part, ()) if name in Path(file["path"]).name]
        for number, file in enumerate(found):
            console.print(_path_line(root, file, "" if number else title), soft_wrap=True)
    beside = "  Beside them lie the same answers and report as CSV and JSON, and an index of the labels."
    console.print(Text(beside, "bright_black"))


def _path_line(root: str, file: Account, title: str) -> Text:
    path = Path(file["path"])
    link = f"link {path.as_uri()}"
    place = (
        ((root, f"bright_black {link}"), (file["server_path"], link)) if file["server_path"] else ((shown(path), link),)
    )
    return Text.assemble((f"  {title:<16}", "bold"), *place)


def shown(path: Path) -> str:
    """A path as short as it can be typed: from the current folder if it lies below, else whole."""
    here = Path.cwd()
    return os.fspath(path.relative_to(here)) if path.is_relative_to(here) else os.fspath(path)


def _print_end(console: Console, account: Account) -> None:
    console.print()
    for fault in account["faults"]:
        console.print(Text(f"✗ {plain(fault)}", "red"))
    if account["closed"]:
        made = " and ".join(f"{count} {noun}s" for noun, count in account["created"].items())
        done = f"✓ The loop closed in {account['seconds']:.0f} seconds. "
        console.print(Text.assemble((done, "bold green"), f"By its own journal the service created {made}, each once."))
    called = sys.argv[0]  # by `make demo` its whole path, where a shell does not find the name alone
    is_found = shutil.which("logistics-batch") or not called.endswith("/logistics-batch")
    hint = (
        f"  Look further: {'logistics-batch' if is_found else called} --workspace {shown(Path(account['folder']))} runs"
    )
    console.print(Text(hint, "bright_black"), soft_wrap=True)
