"""Render the help page of every command: `python -m logistics_batch.cli.write_pages`."""

from pathlib import Path

import click

from logistics_batch.cli.front import front
from logistics_batch.cli.pages import FOLDER, page_name


def rendered() -> dict[str, str]:
    """The page of every command, by the name of its file."""
    return _rendered(front, click.Context(front, info_name="logistics-batch", **front.context_settings), [])


def _rendered(command: click.Command, ctx: click.Context, words: list[str]) -> dict[str, str]:
    pages = {page_name(words): command.get_help(ctx) + "\n"}
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            if below is not None:
                inner = click.Context(below, info_name=name, parent=ctx)
                pages |= _rendered(below, inner, [*words, name])
    return pages


def write_pages(folder: Path) -> list[Path]:
    """Write all pages and remove those of commands that are gone; gives what was written."""
    folder.mkdir(exist_ok=True)
    pages = rendered()
    for old in folder.glob("*.txt"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in pages]


if __name__ == "__main__":
    for path in write_pages(Path(FOLDER)):
        click.echo(path)
