"""`mapping`: mapping files checked, tried on a file, explained."""

from pathlib import Path

import click

from logistics_batch.cli.opening import early_worker, in_workspace, json_option, names_in

_PAYLOADS_SHOWN = 3


@click.group(epilog="Example: logistics-batch mapping lint")
def mapping() -> None:
    """Check mapping files, and see what they make of a file."""


@mapping.command(epilog="Example: logistics-batch mapping lint orders_standard")
@click.argument("names", metavar="[NAME…]", nargs=-1)
@json_option
@in_workspace
def lint(*, folder: str, names: tuple[str, ...], as_json: bool) -> int:
    """Check mapping files, all of the workspace unless named. Exit code 2: there are findings.

    A hint names what restates a default; the mapping can be used all the same.
    """
    from dataclasses import asdict

    from logistics_batch.cli.show import print_json
    from logistics_batch.flows.mappings.check_mapping import lint as lint_mappings
    from logistics_batch.wiring import Workspace

    workspace = Workspace(Path(folder))
    linted = lint_mappings(names or workspace.mapping_names(), open_=workspace.mapping_as_text)
    if as_json:
        print_json({"mappings": [asdict(each) for each in linted]})
    for each in () if as_json else linted:
        click.echo(f"{each.name}: {'ok, ' + each.operation if not each.findings else 'cannot be used'}")
        for finding in each.findings:
            click.echo(f"  {finding}")
        for hint in each.hints:
            click.echo(f"  hint: {hint}")
    if not linted and not as_json:
        click.echo(f"There is no mapping in {workspace.folder / 'mappings'}.")
    return 2 if any(each.findings for each in linted) else 0


@mapping.command(epilog="Example: logistics-batch mapping preview orders.xlsx --mapping orders_standard --output out")
@click.argument("file", metavar="FILE")
@click.option(
    "--mapping",
    "name",
    required=True,
    metavar="M",
    shell_complete=names_in("mappings"),
    help="Name or path of the mapping.",
)
@click.option("--output", metavar="DIR", help="Write documents.ndjson and issues.ndjson there.")
@json_option
@in_workspace
def preview(*, folder: str, file: str, name: str, output: str | None, as_json: bool) -> int:
    """Show the payloads and the fates that a file would have. Nothing is sent, nothing is written but --output.

    Exit code: 0 every row would go out, 3 rows are invalid or blocked, 4 something would be held.
    """
    with early_worker() as worker:
        from logistics_batch.cli.show import print_advice, print_push, print_run_json
        from logistics_batch.flows.mappings.check_mapping import preview as preview_file
        from logistics_batch.flows.mappings.check_mapping import write_preview
        from logistics_batch.wiring import Need, Workspace

        need = Need(calls=False, writes=False, knows_service=False)
        with Workspace(Path(folder), worker=worker).parts(need) as parts:
            report = preview_file(parts, Path(file), mapping=name)
    written = [path for each in report.files for path in write_preview(each, Path(output))] if output else []
    if as_json:
        print_run_json(report, counts_only=bool(output))  # the rest stands in the files
        return report.exit_code
    print_push(report, [])
    for each in report.files:
        print_advice(each)
        for method, path, body in each.documents.select("method", "path", "body").head(_PAYLOADS_SHOWN).iter_rows():
            click.echo(f"{method} {path}\n  {body}")
        if each.documents.height > _PAYLOADS_SHOWN:
            click.echo(f"… and {each.documents.height - _PAYLOADS_SHOWN} documents more; --output DIR writes them all.")
    for path in written:
        click.echo(path)
    return report.exit_code


@mapping.command(epilog="Example: logistics-batch mapping suggest orders.xlsx > mappings/orders_new.yaml")
@click.argument("file", metavar="FILE")
@click.option("--operation", metavar="OP", help="What the rows shall become, as order.create; guessed if left out.")
@click.option("--sheet", metavar="NAME", help="The sheet with the rows; the likeliest one if left out.")
@click.option("--header", metavar="ROW", type=click.IntRange(min=1), help="The row that names the columns.")
@click.option("--like", metavar="MAPPING", help="Propose how this mapping would have to change, as a diff.")
@json_option
@in_workspace
def suggest(
    *,
    folder: str,
    file: str,
    operation: str | None,
    sheet: str | None,
    header: int | None,
    like: str | None,
    as_json: bool,
) -> int:
    """Propose a mapping for an unknown file, with a confidence and a reason for each column. Nothing is written.

    A `?` stands before what could be wrong: until it is answered, lint and every run refuse the mapping. --json
    gives the questions with their candidates, sample values and reasons.

    With --like: what changed in the layout of a file that a mapping once fitted, as a diff of the mapping.
    """
    from logistics_batch.cli.show import plain, print_json
    from logistics_batch.flows.mappings.suggest_mapping import drifted
    from logistics_batch.flows.mappings.suggest_mapping import suggest as suggest_mapping
    from logistics_batch.wiring import Need, Workspace

    given = {"--operation": operation, "--sheet": sheet, "--header": header}
    for name in (name for name, each in given.items() if like and each):
        raise click.UsageError(f"Give either --like or {name}.")
    workspace = Workspace(Path(folder))
    with workspace.parts(Need(calls=False, writes=False, knows_service=False)) as parts:
        if like is None:
            found = suggest_mapping(parts, Path(file), operation=operation, sheet=sheet, header=header or 0)
            if as_json:
                print_json(found)
            else:
                click.echo(found["text"], nl=False)
            return 0
        old, path, load = workspace.mapping_as_text(like)
        drift = drifted(parts, Path(file), parts.mapping(like), text=old, load=load)
    diff = drift.diff(old, path=path)
    if as_json:
        print_json({"renamed": drift.renamed, "doubtful": drift.doubtful, "new": drift.fresh, "missing": drift.lost,
                    "diff": diff})  # fmt: skip
        return 0
    for was, now, sure in drift.renamed:
        click.echo(plain(f"# {sure:.2f}: “{now}” is probably what was called “{was}”"))
    for was, each in drift.doubtful:
        click.echo(plain(f"# {' or '.join(f'“{name}”' for name in each)} may be what was called “{was}”: say which"))
    for name in drift.fresh:
        click.echo(plain(f"# new: “{name}”"))
    for name in drift.lost:
        click.echo(plain(f"# missing, and nothing like it is there: “{name}”"))
    differs = drift.fresh or drift.lost or drift.doubtful
    nothing = "Nothing in the mapping is changed by this." if differs else "The mapping knows every column of the file."
    click.echo(diff or f"# {nothing}\n", nl=False)
    return 0


@mapping.command(epilog="Example: logistics-batch mapping test orders_standard")
@click.argument("names", metavar="[NAME…]", nargs=-1)
@click.option("--generate", is_flag=True, help="Write what is missing of an example.")
@click.option("--force", is_flag=True, help="With --generate: write all of it anew.")
@json_option
@in_workspace
def test(*, folder: str, names: tuple[str, ...], generate: bool, force: bool, as_json: bool) -> int:
    """Map the golden examples of mappings/examples/ and compare; all of them unless named.

    Exit code 2: an example no longer gives the documents and issues that stand beside it.
    """
    from dataclasses import asdict
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from logistics_batch.cli.show import plain, print_json
    from logistics_batch.flows.mappings.check_mapping import Bench, try_example
    from logistics_batch.wiring import Workspace

    if force and not generate:
        raise click.UsageError("--force belongs to --generate.")
    workspace = Workspace(Path(folder))
    zone = workspace.settings().service.timezone
    examples = workspace.folder / "mappings" / "examples"
    bench = Bench(workspace.mapping, examples, zone, datetime.now(ZoneInfo(zone)).date())
    wanted = names or sorted(path.name for path in examples.glob("*") if path.is_dir())
    tried = [try_example(bench, name, generate=generate, force=force) for name in wanted]
    if as_json:
        print_json({"examples": [asdict(each) for each in tried]})
    for each in () if as_json else tried:
        click.echo(f"{each.name}: {'differs' if each.problems else 'ok'}")
        for line in (*(f"wrote {file}" for file in each.written), *each.problems):
            click.echo(f"  {plain(line)}")
    if not tried and not as_json:
        click.echo(f"There is no example in {examples}.")
    return 2 if any(each.problems for each in tried) else 0


@mapping.command(epilog="Example: logistics-batch mapping schema > mappings/mapping.schema.json")
def schema() -> int:
    """Print the JSON Schema of mapping files, for editors."""
    from logistics_batch.cli.show import print_json
    from logistics_batch.wiring import mapping_schema

    print_json(mapping_schema())
    return 0


@mapping.command(epilog="Example: logistics-batch mapping verbs")
@json_option
def verbs(*, as_json: bool) -> int:
    """Print the vocabulary: every way to read a cell, with an example."""
    from logistics_batch.cli.show import print_json, print_table
    from logistics_batch.wiring import mapping_vocabulary

    found = mapping_vocabulary()
    if as_json:
        print_json({"verbs": [{"name": verb.name, "doc": verb.doc, "example": verb.example} for verb in found]})
    else:
        lines = ((verb.name, verb.doc, verb.example) for verb in found)
        print_table(["verb", "what it does", "example"], lines, empty="There is none.")
    return 0
