"""`init`: a new workspace."""

import click


@click.command(epilog="Example: logistics-batch init night-shift")
@click.argument("folder", metavar="DIR")
@click.option(
    "--layout", "layouts", metavar="NAME", multiple=True, help="Add a layout that is shipped; also to an old workspace."
)
def init(folder: str, *, layouts: tuple[str, ...]) -> int:
    """Make a new workspace in DIR: logistics-batch.toml, mappings/, jobs/ and sample files to begin from."""
    from pathlib import Path

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
