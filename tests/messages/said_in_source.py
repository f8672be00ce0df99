"""What the program says of whole files and of documents that wait, read from its source: no message is left out."""

import ast
import string
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from logistics_batch.messages import rule_of
from logistics_batch.messages.entry import Level
from logistics_batch.messages.files import FILES
from logistics_batch.messages.reading import READING
from logistics_batch.messages.sheets import SHEETS

SOURCE = Path(__file__).parents[2] / "src" / "logistics_batch"
ROOMS = ("flows", "intake", "mapping")
CHANGING = "…"  # stands where the program fills something in


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """One message of the program; where: the module that says it."""

    rule: str
    reason: str
    fix: str
    where: str


def refusals() -> list[Message]:
    """Why a file as a whole is not taken."""
    entries = {**FILES, **READING, **SHEETS}
    known = (
        Message(rule_of(code), shown(entry.reason), shown(entry.remedy), code)
        for code, entry in entries.items()
        if entry.level is Level.ERROR and entry.remedy
    )
    return sorted({*known, *(message for message in _messages() if message.where.endswith("!"))})


def shown(words: str) -> str:
    """Words of the catalogue with the sign for what is filled in."""
    return "".join(
        text + (CHANGING if name is not None else "") for text, name, _, _ in string.Formatter().parse(words)
    )


def holds() -> list[Message]:
    """Why a document waits for a person."""
    return sorted({message for message in _messages() if not message.where.endswith("!")})


def waiting() -> list[Message]:
    """Why a document waits because of what is known under its key."""
    path = SOURCE / "ledger" / "decide.py"
    for node in ast.parse(path.read_text("utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="_WHY")], value=table):
                return [Message(rule, *words, path.name) for rule, words in ast.literal_eval(table).items()]
    raise LookupError("ledger/decide.py has no table of words")


def _messages() -> Iterator[Message]:
    for room in ROOMS:
        for path in sorted((SOURCE / room).rglob("*.py")):
            module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            constants = vars(import_module(f"logistics_batch.{module}"))
            for function in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(function, ast.FunctionDef):
                    yield from _said_in(function, constants, f"{room}/{path.name}")


def _said_in(function: ast.FunctionDef, constants: dict[str, object], where: str) -> Iterator[Message]:
    known = dict(constants)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = _text(node.value, known)
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        given = {keyword.arg or "": _text(keyword.value, known) for keyword in node.keywords}
        words = [_text(argument, known) for argument in node.args]
        match node.func:
            case ast.Name(id="FileHeld" | "file_held") if "rule" in given:
                yield Message(given.get("rule", ""), words[0], given.get("remedy", ""), f"{where}!")
            case ast.Name(id="_hold") if len(words) > 4:
                yield Message(words[2], words[3], words[4], where)
            case ast.Name(id="Outcome") if words[1:2] == ["held"]:
                yield Message(given.get("rule", ""), given.get("reason", ""), given.get("fix", ""), where)


def _text(node: ast.expr, known: dict[str, object]) -> str:
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.Name(id=name) if isinstance(known.get(name), str):
            return str(known[name])
        case ast.JoinedStr(values=parts):
            return "".join(_text(part, known) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left, known) + _text(right, known)
    return CHANGING
