"""`labels`: a bundle for the printer."""

import datetime
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option, opened, watched, working

_LAYOUTS = ("4x6", "a4-2up", "a4-4up", "letter-4up")


@click.command(epilog="Example: logistics-batch labels --run orders-nightly --sort hub,route,sku --output bundle")
@click.option("--run", metavar="RUN", help="The orders of that run (a job's name: of its latest run).")
@click.option("--date", metavar="YYYY-MM-DD", help="The orders of all runs for that business date.")
@click.option("--orders", metavar="FILE-or-LIST", help="References or AWBs: with commas, or a file with one a line.")
@click.option("--mapping", metavar="NAME", help="With --orders FILE: the label.create mapping that reads the file.")
@click.option("--layout", type=click.Choice(_LAYOUTS), default="4x6", show_default=True, help="What goes on a page.")
@click.option(
    "--sort", metavar="KEYS", help="With commas: hub route pincode cut_off single sku bin file, or kept names."
)
@click.option("--reverse", is_flag=True, help="The last label first, for printers that stack face up.")
@click.option("--per-group", is_flag=True, help="Files of its own for each group, as for each hub or route.")
@click.option("--max-pages", type=click.IntRange(1, 10_000), default=200, show_default=True, help="Of one file.")
@click.option("--output", metavar="DIR", help="Where the bundle goes; by default a folder below the reports.")
@click.option("--print", "queue", metavar="QUEUE", help="Print the labels on this queue (CUPS) and watch the job.")
@click.option("--media", default="", help="With --print: the paper, as the printer names it.")
@click.option("--tray", default="", help="With --print: the tray, as the printer names it.")
@click.option("--copies", type=WholeNumber(1, 20), default=1, help="With --print: of each label.")
@click.option("--zpl", type=click.Choice(("203", "300")), help="With --print: as ZPL graphics of so many dots an inch.")
@click.option("--bundle", metavar="ID[/FILE]", help="With --print: print what was made before, and make nothing.")
@click.option("--reprint", is_flag=True, help="Print again what was printed; needs --reason.")
@click.option("--reason", metavar="TEXT", help="Why it is printed again.")
@json_option
@in_workspace
def labels(
    *,
    folder: str,
    run: str | None,
    date: str | None,
    orders: str | None,
    mapping: str | None,
    layout: str,
    sort: str | None,
    reverse: bool,
    per_group: bool,
    max_pages: int,
    output: str | None,
    bundle: str | None,
    queue: str | None,
    media: str,
    tray: str,
    copies: int,
    zpl: str | None,
    reprint: bool,
    reason: str | None,
    as_json: bool,
) -> int:
    """Fetch labels, check them, and bundle them in the order in which people pick: all that were never printed,
    unless --run, --date or --orders choose others.

    Exit code: 0 all there, 3 some are missing, 4 something asked for is in doubt or held, or not known to be printed.
    """
    from getpass import getuser

    told = {"queue": queue, "media": media, "tray": tray, "copies": copies, "zpl": int(zpl) if zpl else None}
    if queue is None and (bundle or media or tray or zpl or copies != 1):
        raise click.UsageError("--bundle, --media, --tray, --copies and --zpl belong to --print QUEUE.")
    if bundle is not None:
        return _print_again(folder, bundle, told, as_json=as_json)
    from logistics_batch.cli.job_report import print_outcome
    from logistics_batch.flows.labels.labels import LabelsPlan, make_labels, named_orders
    from logistics_batch.flows.labels.orders import LabelChoice
    from logistics_batch.flows.labels.printing import printer_of
    from logistics_batch.operate.run_job import outcome_of

    _check((run, date, orders), mapping, reprint=reprint, reason=reason)
    day = _day(date)
    with working(folder) as parts:
        named = named_orders(parts, orders, mapping=mapping) if orders else LabelChoice(run or "", day)
        plan = LabelsPlan(
            orders=named,
            layout=layout,
            sort=tuple(key.strip() for key in sort.split(",") if key.strip()) if sort else (),
            reverse=reverse,
            per_group=per_group,
            max_pages=max_pages,
            output=Path(output) if output else None,
            reprint_reason=reason or "",
            printer=printer_of(told) if queue else None,
            who=getuser(),
        )
        outcome = outcome_of(make_labels(parts, plan))
        print_outcome(parts, outcome, as_json=as_json)
        return outcome.exit_code


def _print_again(folder: str, bundle: str, told: dict[str, Any], *, as_json: bool) -> int:
    from logistics_batch.cli.job_report import print_printing
    from logistics_batch.cli.show import print_json
    from logistics_batch.flows.labels.printing import print_again, printer_of

    with opened(folder, calls=False, writes=False, progress=watched()) as parts:
        jobs = print_again(parts, bundle, printer_of(told))
    bundle_id = bundle.partition("/")[0]
    unprinted = [each for job in jobs if (each := job.issue(bundle_id))]
    if as_json:
        print_json({"bundle_id": bundle_id, "printing": [asdict(job) for job in jobs]})
    else:
        print_printing(jobs, unprinted)
    return 4 if unprinted else 0


def _check(choices: tuple[str | None, ...], mapping: str | None, *, reprint: bool, reason: str | None) -> None:
    given = [choice for choice in choices if choice is not None]
    if not all(choice.strip() for choice in given):  # an empty variable of a script
        raise click.UsageError("--run, --date and --orders want a value; without them all unprinted orders are chosen.")
    if len(given) > 1:
        raise click.UsageError("Give one of --run, --date and --orders.")
    if mapping and not choices[-1]:
        raise click.UsageError("--mapping reads the file of --orders; give both.")
    if reprint != bool(reason and reason.strip()):
        raise click.UsageError("--reprint and --reason TEXT belong together.")


def _day(text: str | None) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if text else None
    except ValueError:
        raise click.UsageError(f'"{text}" is no date. Write it as 2026-11-21.') from None
