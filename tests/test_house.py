"""The house keeps its plan: which way imports run, one door for each library, no cycles, and sizes."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "logistics_batch"
NAME = PACKAGE.name

# Every room may use the nouns; what else it may use stands here. "flows" means flows and all below, and so on.
FOR_ALL = "model messages errors specification crash_points child_process scratch processes __init__"
ALONE = "jobs file_rights mapping intake api ledger reconciliation paper sandbox"
NOUNS = tuple(FOR_ALL.split())
ARROWS = {
    room: tuple(rooms.split())
    for room, rooms in {
        "__main__": "cli",
        "cli": "wiring jobs settings file_rights flows operate sandbox demo web paper",
        "demo": "wiring jobs settings file_rights flows operate sandbox api intake ledger mapping paper",
        "wiring": "settings jobs file_rights flows mapping intake api ledger reconciliation paper",
        "settings": "file_rights",
        "flows": "mapping intake api ledger reconciliation paper",
        "operate": "flows mapping intake api ledger reconciliation paper",
        "web": "flows ledger operate",
    }.items()
} | dict.fromkeys((*ALONE.split(), *NOUNS), ())
WITHOUT_NOUNS = {
    "sandbox": ("__init__",),
    "errors": ("messages",),
    "messages": (),
    "model": ("errors", "messages"),
    "crash_points": (),
    "child_process": ("errors",),
    "scratch": (),
    "processes": (),
    "__init__": (),
}

# The only places where a library is imported; a folder's name stands for everything in it.
DOORS: dict[str, tuple[str, ...]] = {
    "paramiko": ("intake/stores/sftp", "sandbox/"),
    "httpx": ("api/", "web/workbench/sign_on.py", "sandbox/events.py"),  # the service; a provider of accounts; events
    "httpcore": ("api/",),
    "apscheduler": ("operate/schedule.py",),
    "apprise": ("operate/alerts.py",),
    "prometheus_client": ("operate/metrics.py",),
    "python_calamine": ("intake/readers/workbooks.py",),
    "pikepdf": ("paper/",),
    "sqlalchemy": ("ledger/",),
    "sqlite3": ("ledger/failures.py", "sandbox/"),
    "pysqlite3": ("ledger/failures.py",),
    "alembic": ("ledger/",),
    "psycopg": ("ledger/",),
    "click": ("cli/",),
    "rich": ("cli/",),
    "yaml": ("specification.py", "sandbox/"),
    "fastapi": ("sandbox/",),
    "starlette": ("web/", "sandbox/"),
    "uvicorn": ("web/", "sandbox/"),
    "phonenumbers": ("mapping/",),
    "jinja2": ("web/", "paper/reconciliation/page.py"),
    "argon2": ("web/",),
    "joserfc": ("web/workbench/sign_on.py",),
}
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "core", "base", "misc"}
LONGEST_FUNCTION, LONGEST_MODULE, MOST_PARAMETERS = 70, 500, 5


@dataclass(frozen=True)
class Import:
    """One imported module, and where."""

    module: str
    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path.relative_to(PACKAGE.parent)}:{self.line} imports {self.module}"


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    """Every import, also those in functions and behind TYPE_CHECKING."""
    return tuple(_imports_of(path))


def _imports_of(path: Path) -> Iterator[Import]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, path, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are written in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            inner = [name for name in names if name.startswith(f"{NAME}.") and is_module(name)]
            for name in inner:  # a name may be a module of its own
                yield Import(name, path, node.lineno)
            if len(inner) < len(names):
                yield Import(str(node.module), path, node.lineno)


def is_module(name: str) -> bool:
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def our_imports() -> list[Import]:
    return [each for path in modules() for each in imports_of(path) if each.module.partition(".")[0] == NAME]


def test_every_room_is_on_the_plan() -> None:
    rooms = {room(module_name(path)) for path in modules()}
    assert rooms <= set(ARROWS), f"rooms that nobody planned: {rooms - set(ARROWS)}"


def test_imports_run_along_the_arrows() -> None:
    wrong = []
    for each in our_imports():
        here, there = room(module_name(each.path)), room(each.module)
        allowed = {here, *ARROWS[here], *WITHOUT_NOUNS.get(here, NOUNS)}
        if there not in allowed:
            wrong.append(str(each))
    assert not wrong, "\n".join(wrong)


def test_flows_see_only_the_protocol_and_the_reading_of_intake() -> None:
    wrong = [
        str(each)
        for each in our_imports()
        if room(module_name(each.path)) == "flows"
        and each.module
        in (f"{NAME}.intake.stores.sftp", f"{NAME}.intake.stores.folder", f"{NAME}.intake.readers.workbooks")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("library", sorted(DOORS))
def test_a_library_is_let_in_by_one_door(library: str) -> None:
    wrong = [
        str(each)
        for path in modules()
        for each in imports_of(path)
        if each.module.partition(".")[0] == library
        and not any(path.relative_to(PACKAGE).as_posix().startswith(door) for door in DOORS[library])
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_depends_on_itself() -> None:
    edges: dict[str, set[str]] = {module_name(path): set() for path in modules()}
    for each in our_imports():
        here = module_name(each.path)
        if each.module != here and each.module in edges:
            edges[here].add(each.module)
    assert not (found := cycle(edges)), " → ".join(found)


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """One way round, if there is any."""
    finished: set[str] = set()

    def walk(here: str, way: list[str]) -> list[str]:
        if here in way:
            return [*way[way.index(here) :], here]
        if here in finished:
            return []
        for there in sorted(edges[here]):
            if found := walk(there, [*way, here]):
                return found
        finished.add(here)
        return []

    return next((found for start in sorted(edges) if (found := walk(start, []))), [])


def test_the_search_for_cycles_finds_one() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()}) == ["a", "b", "c", "a"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_nothing_is_imported_for_types_only() -> None:
    hidden = [str(path) for path in modules() if "TYPE_CHECKING" in path.read_text(encoding="utf-8")]
    assert not hidden


def test_no_room_is_a_lumber_room() -> None:
    assert not [path for path in PACKAGE.rglob("*") if path.stem in FORBIDDEN_NAMES]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_the_packages_of_the_mapping_stand_on_few_floors() -> None:
    """Each stands above all that it uses; modules beside the packages count as packages of their own."""
    below: dict[str, set[str]] = {}
    for path in modules():
        name = module_name(path)
        if room(name) == "mapping" and name != f"{NAME}.mapping":
            used = {each.module for each in imports_of(path) if room(each.module) == "mapping"}
            below.setdefault(package_of(name), set()).update(map(package_of, used))

    def floor(package: str, above: tuple[str, ...] = ()) -> int:
        assert package not in above, f"in a circle: {' '.join((*above, package))}"
        return 1 + max((floor(each, (*above, package)) for each in below[package] - {package}), default=0)

    assert max(map(floor, below)) <= 8


def package_of(module: str) -> str:
    """`fields` of a module in it, `fields.values` of one in that, its own name of one that lies in no package."""
    parts = module.split(".")[2:]
    return ".".join(parts[:-1] if len(parts) > 1 and is_module_file(module) else parts)


def is_module_file(name: str) -> bool:
    return PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py").is_file()


def test_functions_and_modules_stay_small() -> None:
    long_functions = [
        f"{path.name}:{node.lineno} {node.name}: {length(node)} lines"
        for path in modules()
        for node in functions(path)
        if length(node) > LONGEST_FUNCTION
    ]
    long_modules = [
        f"{path.relative_to(PACKAGE)}: {count} lines"
        for path in modules()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_MODULE
    ]
    assert not long_functions + long_modules, "\n".join(long_functions + long_modules)


def test_most_functions_are_short() -> None:
    lengths = sorted(length(node) for path in modules() for node in functions(path))
    assert lengths[len(lengths) // 2] <= 12
    assert lengths[len(lengths) * 9 // 10] <= 40


def test_few_parameters_go_by_position() -> None:
    """Commands take their options by name; everything else has at most five parameters, and few by position."""
    wrong = []
    for path in modules():
        for node in functions(path):
            by_position = [
                each.arg for each in (*node.args.posonlyargs, *node.args.args) if each.arg not in ("self", "cls")
            ]
            if len(by_position) > MOST_PARAMETERS:
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}: {len(by_position)}")
    assert not wrong, "\n".join(wrong)


def test_errors_are_caught_by_name() -> None:
    """A handler that takes everything must hand it on."""
    wrong = []
    for path in modules():
        for node in nodes(path):
            broad = isinstance(node, ast.ExceptHandler) and (
                node.type is None
                or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))
            )
            if broad and not any(isinstance(each, ast.Raise) and each.exc is None for each in ast.walk(node)):
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("mark", ["TODO", "FIXME", "XXX", "raise NotImplementedError"])
def test_nothing_is_left_for_later(mark: str) -> None:
    assert not [str(path) for path in modules() if mark in path.read_text(encoding="utf-8")]


def test_the_environment_is_read_in_one_place() -> None:
    readers = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    }
    assert {reader for reader in readers if not reader.startswith("sandbox/")} <= {"settings.py"}
