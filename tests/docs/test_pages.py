"""What pages say is held against the program: links, commands, keys, codes, classes."""

import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import click
import pytest
from docs.pages import PAGES, ROOT, anchors, blocks, command_lines, links
from pydantic import BaseModel

from logistics_batch.cli.front import front
from logistics_batch.intake.readers import Limits
from logistics_batch.model.jobs import job
from logistics_batch.model.reconciliation import MEANINGS
from logistics_batch.model.report import ExitCode, Fate
from logistics_batch.model.settings_sections import (
    AsnSettings,
    LedgerSettings,
    LogSettings,
    MetricsSettings,
    NotifySettings,
    PgpSettings,
    ReceiveSettings,
    ReportsSettings,
    ServiceSettings,
    SftpSettings,
)

OPERATOR = ROOT / "docs/how-to/operator.md"
REFERENCE = ROOT / "docs/settings-and-jobs.md"
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
SETTINGS: dict[str, type[BaseModel]] = {
    "[service]": ServiceSettings,
    "[service.asn]": AsnSettings,
    "[ledger]": LedgerSettings,
    "[reports]": ReportsSettings,
    "[sftp.NAME]": SftpSettings,
    "[pgp]": PgpSettings,
    "[notify]": NotifySettings,
    "[log]": LogSettings,
    "[metrics]": MetricsSettings,
}


def table(page: Path, heading: str) -> dict[str, list[str]]:
    """The first table under a heading: its first column's code words, each with its other cells."""
    text = page.read_text(encoding="utf-8")
    parts = re.split(rf"^#+ {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)
    assert len(parts) == 2, f"{page.name} has no heading {heading}"
    body = re.split(r"^#+ ", parts[1], maxsplit=1, flags=re.MULTILINE)[0]
    rows = re.findall(r"^\| `?([^`|]+?)`? \|(.*)\|$", body, re.MULTILINE)
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in rows if not name.startswith("-")}


def listed(page: Path, heading: str) -> dict[str, str]:
    """The names of a list under a heading, each with its default: - `name`, `name` (default): meaning."""
    text = page.read_text(encoding="utf-8")
    parts = re.split(rf"^#+ {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)
    assert len(parts) == 2, f"{page.name} has no heading {heading}"
    body = re.split(r"^#+ ", parts[1], maxsplit=1, flags=re.MULTILINE)[0]
    items = re.findall(r"^- ((?:`[^`]+`,? ?)+?) ?(?:\((.+?)\))?: ", body, re.MULTILINE)
    return {name: default for names, default in items for name in re.findall(r"`([^`]+)`", names)}


def named(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


ENTRIES = {"tolerance": "CLASS", "suppliers": "NAME", "skus": "SKU"}  # what the keys of these objects are


def keys(model: type[BaseModel], before: str = "") -> Iterator[str]:
    """The keys of a job, dotted, as far as this version takes them."""
    for name, field in model.model_fields.items():
        path = before + (field.alias or name)
        below = models_in(field.annotation)
        if "dict" in str(field.annotation) and below:
            yield from keys(below[0], f"{path}.{ENTRIES[name]}.")
        elif below:
            yield from keys(below[0], f"{path}.")
        else:
            yield path


def models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [found for inner in typing.get_args(annotation) for found in models_in(inner)]


COMMON = {
    *("kind", "name", "partner", "schedule.cron", "schedule.every", "schedule.timezone", "schedule.calendar"),
    *("schedule.missed", "schedule.grace", "after", "notify", "resume_for"),
}


def test_every_page_is_there() -> None:
    assert {"README.md", "CHANGELOG.md", "docs/tutorial.md", "docs/reliability.md", "docs/architecture.md"} <= set(
        NAMES
    )
    assert {"docs/how-to/warehouse.md", "docs/how-to/operator.md", "docs/how-to/analyst.md"} <= set(NAMES)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path) if path else page
        assert "://" not in link and target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_exist_with_their_options(page: Path) -> None:
    for arguments in command_lines(page):
        parse(front, arguments)


def parse(command: click.Command, arguments: list[str], parent: click.Context | None = None) -> None:
    """Parse as the command line would, without running anything; a click error fails the test."""
    context = command.make_context(command.name, list(arguments), parent=parent)
    if isinstance(command, click.Group) and (rest := [*context._protected_args, *context.args]):
        _, inner, left = command.resolve_command(context, rest)
        assert inner is not None
        parse(inner, left, context)


@pytest.mark.parametrize("arguments", [["pusch"], ["push", "x.csv"], ["runs", "show"], ["push", "x", "--mappin", "y"]])
def test_a_wrong_command_line_would_be_found(arguments: list[str]) -> None:
    with pytest.raises(click.ClickException):
        parse(front, arguments)


@pytest.mark.parametrize("section", SETTINGS)
def test_the_guide_names_every_setting_and_no_other(section: str) -> None:
    assert set(listed(REFERENCE, f"`{section}`")) == named(SETTINGS[section])


def test_the_page_on_events_names_every_setting_of_the_receiver_with_its_default() -> None:
    found = listed(ROOT / "docs/how-to/webhooks.md", "`[receive]`")
    assert set(found) == named(ReceiveSettings)
    given = ReceiveSettings()
    shown = {name: found[name] for name in ("host", "port", "path", "header")}
    assert shown == {name: f"`{getattr(given, name)}`" for name in shown}


def test_defaults_in_the_guide_are_those_of_the_program() -> None:
    found = listed(REFERENCE, "`[service]`")
    service = ServiceSettings()
    assert found["rate"] == f"`{service.rate}`"
    assert found["concurrency"] == f"`{service.concurrency}`"
    assert found["deadline"] == f"`{service.deadline_seconds:.0f}s`"
    assert found["create_deadline"] == f"`{service.create_deadline_seconds:.0f}s`"
    assert found["settle_after"] == f"`{service.settle_after_seconds:.0f}s`"
    assert found["timezone"] == f"`{service.timezone}`"
    assert found["longitude"] == f"`{service.longitude}`"


@pytest.mark.parametrize("kind", ["push", "reconcile", "labels", "order_status"])
def test_the_guide_names_every_key_of_a_job_and_no_other(kind: str) -> None:
    assert set(listed(REFERENCE, f"`{kind}`")) == set(keys(job.JOB_KINDS[kind])) - COMMON


def test_the_guide_names_the_keys_of_every_job() -> None:
    assert set(listed(REFERENCE, "Every kind")) == COMMON == set(keys(job.SettleJob))


def test_exit_codes_are_those_of_the_program() -> None:
    codes = {value for name, value in vars(ExitCode).items() if name.isupper()}
    assert {int(code) for code in table(OPERATOR, "Exit codes") if code != "code"} == codes


def test_the_clerk_reads_of_every_fate() -> None:
    described = set(table(ROOT / "docs/how-to/warehouse.md", "What each Status means")) - {"Status"}
    assert described == {fate.value for fate in Fate}


def test_the_analyst_reads_of_every_class_as_the_report_says_it() -> None:
    text = (ROOT / "docs/how-to/analyst.md").read_text(encoding="utf-8").replace("\n  ", " ")
    by_severity = re.findall(r"^\*\*(\w+)\*\*\n\n((?:- .*\n)+)", text, re.MULTILINE)
    told = [(severity, *item) for severity, items in by_severity for item in re.findall(r"- `(\w+)`: (.*)\n", items)]
    assert sorted(told) == sorted((each.severity.value, code.value, each.says) for code, each in MEANINGS.items())


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_pages_speak_of_nothing_but_the_project(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?:/home|/root|/tmp|/work)/|TODO|FIXME|\bTBD\b", text), page.name
    assert max((len(line) for line in text.splitlines() if not line.startswith(("|", "{", "  {"))), default=0) <= 160


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_page_holds_two_versions_of_a_passage(page: Path) -> None:
    assert not re.search(r"^(?:<{7}|={7}|>{7})(?: |$)", page.read_text(encoding="utf-8"), re.MULTILINE), page.name


def test_the_limits_of_files_are_those_of_the_program() -> None:
    told = REFERENCE.read_text(encoding="utf-8").split("#### What files are taken")[1].split("\n### ")[0]
    limits = Limits()
    for most in (
        f"{limits.max_csv_rows:,} rows",
        f"{limits.max_workbook_rows:,} rows",
        f"{limits.max_workbook_cells:,} cells",
        f"{limits.max_sheets} sheets",
        f"{limits.max_entries:,} parts",
        f"{limits.max_unpacked_bytes >> 20} MB unpacked",
        f"Every file: {limits.max_file_bytes >> 20} MB",
        f"{limits.max_columns} columns",
        f"{limits.max_cell_characters:,} characters",
        f"a line of {limits.max_line_bytes >> 20} MB",
    ):
        assert most in told


def test_the_changelog_has_this_version() -> None:
    from logistics_batch import __version__

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## Unreleased" in text
    assert f"## {__version__}" in text


def test_every_decision_is_listed() -> None:
    listed = {Path(link).name for link in links(ROOT / "docs/README.md") if link.startswith("decisions/")}
    assert listed == {path.name for path in (ROOT / "docs/decisions").glob("*.md")}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_fenced_blocks_say_what_they_are(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("```") == 2 * len(blocks(page)), "a block is not closed, or begins inside a line"
    if page.name != "architecture.md":
        assert all(block.language for block in blocks(page))


def test_pictures_are_small() -> None:
    drawn = [ROOT / "docs/images" / f"clerk-{name}.png" for name in ("1-result", "2-fix", "3-again")]
    assert max(picture.stat().st_size for picture in drawn) < 60_000
