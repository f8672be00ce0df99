"""`init`: a new workspace."""

import click


@click.command(epilog="Example: logistics-batch init night-shift")
@click.argument("folder", metavar="DIR")
def init(folder: str) -> int:
    """Make a new workspace in DIR: logistics-batch.toml, mappings/, jobs/ and sample files to begin from."""
    from pathlib import Path

    from logistics_batch.operate.new_workspace import create_workspace

    path = Path(folder)
    for written in create_workspace(path):
        click.echo(written)
    click.echo()
    click.echo("Next: write the API key into secrets/api-key (chmod 600), look through logistics-batch.toml, then:")
    click.echo(f"  logistics-batch --workspace {path} doctor")
    return 0
