"""A workspace is made, and looked through for what could keep tonight's jobs from working."""

from pathlib import Path

import click

from logistics_batch.cli.opening import in_workspace, json_option


@click.command(epilog="Example: logistics-batch init night-shift")
@click.argument("folder", metavar="DIR")
@click.option(
    "--layout", "layouts", metavar="NAME", multiple=True, help="Add a layout that is shipped; also to an old workspace."
)
def init(folder: str, *, layouts: tuple[str, ...]) -> int:
    """Make a new workspace in DIR: logistics-batch.toml, mappings/, jobs/ and sample files to begin from."""
    from logistics_batch.operate.new_workspace import SETTINGS_FILE, add_layouts, create_workspace, more_layouts

    path = Path(folder)
    is_new = not layouts or not (path / SETTINGS_FILE).exists()
    for written in [*(create_workspace(path) if is_new else ()), *add_layouts(path, layouts)]:
        click.echo(written)
    if not is_new:
        return 0
    click.echo()
    click.echo(f"More layouts (--layout NAME): {', '.join(more_layouts())}.")
    click.echo("Next: write the API key into secrets/api-key (chmod 600), look through logistics-batch.toml, then:")
    click.echo(f"  logistics-batch --workspace {path} doctor")
    return 0


@click.command(epilog="Example: logistics-batch doctor")
@click.option("--staging", is_flag=True, help="Make test orders and cancel them, to see what the service does.")
@click.option("--pincode", default="560001", show_default=True, help="Of the test orders; one that is delivered to.")
@click.option("--notify", is_flag=True, help="Send a test message to each address of [notify].")
@click.option("--write-test", is_flag=True, help="Put and remove a file where answers go and files are put away.")
@json_option
@in_workspace
def doctor(*, folder: str, staging: bool, pincode: str, notify: bool, write_test: bool, as_json: bool) -> int:
    """Check settings, mappings, jobs, disk, service and API key, ledger, clock, servers and host keys.

    The service gets two harmless reads. Nothing is changed. Exit code: 0 no problem, 2 problems were found.

    --staging posts a reference twice, another one four times at once, and one that is not complete; looks at how they
    are answered and found; and cancels them. What it sees is remembered for this account: it decides how orders in
    doubt are settled. --notify sends a test message to each address of alerts, and says of each whether it took it.

    --write-test puts a file where answers go, and moves one from where files are dropped to archive and quarantine;
    each is removed again.
    """
    from dataclasses import asdict

    from logistics_batch.cli.commands.checkup import checkup
    from logistics_batch.cli.show import plain, print_json
    from logistics_batch.operate.doctor import CheckState
    from logistics_batch.wiring import Workspace

    checks = []
    trials = {"staging": pincode if staging else "", "notify": notify, "writing": write_test}
    for check in checkup(Workspace(Path(folder)), **trials):  # type: ignore[arg-type]
        checks.append(check)
        if not as_json:
            click.echo(f"{check.state.value:<8} {check.name}: {plain(check.text)}")
            if check.remedy:
                click.echo(f"{'':<8} What to do: {plain(check.remedy)}")
    if as_json:
        print_json({"checks": [asdict(check) for check in checks]})
    return 2 if any(check.state is CheckState.PROBLEM for check in checks) else 0
