"""`doctor`: what could keep tonight's jobs from working."""

import click

from logistics_batch.cli.opening import in_workspace, json_option


@click.command(epilog="Example: logistics-batch doctor")
@json_option
@in_workspace
def doctor(*, folder: str, as_json: bool) -> int:
    """Check settings, mappings, jobs, disk, service and API key, ledger, clock, servers and host keys.

    The service gets two harmless reads. Nothing is changed. Exit code: 0 no problem, 2 problems were found.
    """
    from dataclasses import asdict
    from pathlib import Path

    from logistics_batch.cli.checkup import checkup
    from logistics_batch.cli.show import plain, print_json
    from logistics_batch.operate.doctor import State
    from logistics_batch.wiring import Workspace

    checks = []
    for check in checkup(Workspace(Path(folder))):
        checks.append(check)
        if not as_json:
            click.echo(f"{check.state.value:<8} {check.name}: {plain(check.text)}")
            if check.remedy:
                click.echo(f"{'':<8} What to do: {plain(check.remedy)}")
    if as_json:
        print_json({"checks": [asdict(check) for check in checks]})
    return 2 if any(check.state is State.PROBLEM for check in checks) else 0
