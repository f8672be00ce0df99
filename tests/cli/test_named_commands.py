"""Every command that the program names in what it says is one that can be typed, with the options named."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
from docs.test_pages import parse

from logistics_batch.cli.front import front

SOURCE = Path(__file__).parents[2] / "src" / "logistics_batch"
DAY = "2026-11-03"  # taken wherever a value is: a name, a run, a day
CALLED = re.compile(r"[`“](logistics-batch )?([a-z]+(?: [^`”]*)?)[`”]")


def _texts(tree: ast.AST) -> Iterator[str]:
    """Constant texts, and f-strings with a day for each value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else DAY for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _named() -> Iterator[tuple[str, str]]:
    commands = front.list_commands(click.Context(front))
    for path in sorted(SOURCE.rglob("*.py")):
        for text in _texts(ast.parse(path.read_text("utf-8"))):
            for ours, words in CALLED.findall(text):
                if ours or (words.split()[0] in commands and " " in words):
                    yield path.name, re.sub(r"\{[^}]*\}", DAY, words)


def test_each_command_that_is_named_can_be_typed() -> None:
    named = sorted(set(_named()))
    assert len(named) > 30
    for where, words in named:
        try:
            parse(front, [word for word in words.split() if word != "…"])
        except (click.MissingParameter, click.exceptions.Exit):
            pass  # `init --help`; or its name stands for it: “held decide”
        except click.BadOptionUsage as left_out:  # as `--operation …`
            assert "requires an argument" in left_out.message, (where, words)
        except click.UsageError as error:
            raise AssertionError(f"{where}: {words}: {error.format_message()}") from error
