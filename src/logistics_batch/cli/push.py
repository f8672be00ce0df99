"""`push`: files by hand."""

import click

from logistics_batch.cli.opening import early_worker, in_workspace, json_option, stopping, watched


@click.command(
    epilog="Example: logistics-batch push orders.xlsx --mapping orders_standard --dry-run",
)
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("--mapping", required=True, metavar="NAME-or-PATH", help="The mapping that reads the files.")
@click.option("--dry-run", is_flag=True, help="Send and write nothing; show what would happen.")
@click.option("--results", metavar="DIR", help="Where the answers go; by default the reports folder.")
@json_option
@in_workspace
def push(
    *, folder: str, files: tuple[str, ...], mapping: str, dry_run: bool, results: str | None, as_json: bool
) -> int:
    """Send spreadsheets by hand: every row comes back with an answer.

    Exit code: 0 all done, 3 rows invalid, blocked or refused, 4 in doubt or held, 5 stopped early, 75 ledger in use.
    """
    from pathlib import Path

    with early_worker() as worker, stopping() as stop:
        from logistics_batch.cli.job_report import print_outcome
        from logistics_batch.flows.push.push import push_by_hand
        from logistics_batch.operate.run_job import push_outcome
        from logistics_batch.wiring import Need, Workspace

        need = Need(calls=not dry_run, writes=not dry_run, progress=watched(), stop=stop)
        with Workspace(Path(folder), worker=worker).parts(need) as parts:
            report = push_by_hand(
                parts,
                [Path(file) for file in files],
                mapping=mapping,
                results=Path(results) if results else None,
                dry_run=dry_run,
            )
            print_outcome(parts, push_outcome(report), as_json=as_json)
            return report.exit_code
