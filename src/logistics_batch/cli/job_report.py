"""What a run of a job, or a push by hand, prints."""

import click

from logistics_batch.cli.show import print_json, print_push
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.past_runs import answers_of_run
from logistics_batch.model.report import RunReport
from logistics_batch.operate.run_job import Outcome


def print_outcome(parts: Parts, outcome: Outcome, *, as_json: bool) -> None:
    """The report of a job of any kind."""
    if as_json:
        print_json(outcome.document())
    elif isinstance(outcome.report, RunReport):
        report = outcome.report
        print_push(report, answers_of_run(parts, report.run) if report.run else {})
    else:
        click.echo(f"{outcome.line}.")
