"""The pages for people, and who may use them."""

from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from logistics_batch.cli.opening import DAY, WholeNumber, early_worker, in_workspace, json_option, opened, stopping

_END_SECONDS = 9.5
_ROLES = ("viewer", "clerk", "analyst", "operator", "integrator", "admin")
_TOKEN_DAYS = 90


@contextmanager
def _extra() -> Any:
    """Say which extra is missing, if one is."""
    from logistics_batch.errors import UsageError

    try:
        yield
    except ModuleNotFoundError as error:
        remedy = "Install the extra: pip install 'logistics-batch[web]'."
        raise UsageError(f"The pages need {error.name}, which is not installed.", remedy=remedy) from error


@click.command(epilog="Example: logistics-batch serve --port 8490")
@click.option("--host", metavar="H", help="Where to listen; by default that of the settings, this machine alone.")
@click.option(
    "--port", type=WholeNumber(0, 65535), metavar="N", help="0: any free one; by default that of the settings."
)
@in_workspace
def serve(*, folder: str, host: str | None, port: int | None) -> int:
    """Serve the pages on which people decide, until SIGTERM or Ctrl-C.

    When it listens, one JSON line says where: {"url": …, "first_admin": …}; the second is a one-time link for the first
    admin, null once there is one. Beyond this machine it listens only with people set up, and with TLS (cert_file and
    key_file under [web]) or behind a server that speaks it (proxy).
    """
    with _extra():
        from logistics_batch.cli.serving import serve_workspace
    from logistics_batch.wiring import Workspace

    with early_worker() as worker, stopping(within_seconds=_END_SECONDS) as stop:
        serve_workspace(Workspace(Path(folder), worker=worker), host=host, port=port, stop=stop)
    return 0


@click.group(epilog="Example: logistics-batch user add priya --role operator")
def user() -> None:
    """Who may use the pages, and tokens for their programs."""


@user.command(epilog="Example: logistics-batch user add priya --role operator")
@click.argument("name")
@click.option("--role", type=click.Choice(_ROLES), required=True, help="What the person is here for.")
@click.option(
    "--partner",
    multiple=True,
    metavar="P",
    help="See only what belongs to jobs of this partner; may be repeated. Without it: everything.",
)
@json_option
@in_workspace
def add(*, folder: str, name: str, role: str, partner: tuple[str, ...], as_json: bool) -> int:
    """Add a person; prints the one-time link by which NAME chooses a password."""
    with _extra():
        from logistics_batch.web.workbench.people import AccessGrant, new_link, require_name
    with opened(folder, calls=False) as parts:
        name, grant = require_name(name), AccessGrant.of(role, partner).kept
        with _audited(parts, "added a person", f"{name} {grant}"):
            link = new_link(parts.ledger.people, name, role=grant, now=parts.clock.now())
    _print_link(name, link, as_json=as_json)
    return 0


@user.command(epilog="Example: logistics-batch user reset priya")
@click.argument("name")
@json_option
@in_workspace
def reset(*, folder: str, name: str, as_json: bool) -> int:
    """Take a person's password away, and end sessions and tokens; prints a one-time link for a new password."""
    with _extra():
        from logistics_batch.web.workbench.people import new_link
    with opened(folder, calls=False) as parts, _audited(parts, "took a password away", name):
        link = new_link(parts.ledger.people, name, now=parts.clock.now())
    _print_link(name, link, as_json=as_json)
    return 0


@user.command(epilog="Example: logistics-batch user role priya --role admin")
@click.argument("name")
@click.option("--role", type=click.Choice(_ROLES), required=True, help="What the person is here for.")
@click.option("--partner", multiple=True, metavar="P", help="Of these partners from now on; by default as it was.")
@click.option("--all-partners", is_flag=True, help="See everything from now on.")
@in_workspace
def role(*, folder: str, name: str, role: str, partner: tuple[str, ...], all_partners: bool) -> int:
    """Give a person another role, or other partners, from the next click on."""
    with _extra():
        from logistics_batch.web.workbench.people import AccessGrant
    with opened(folder, calls=False) as parts:
        found = parts.ledger.people.get(name)
        kept = AccessGrant.read(found.role).partners if found and not (partner or all_partners) else partner
        grant = AccessGrant.of(role, () if all_partners else kept).kept
        with _audited(parts, "changed a role", f"{name} {grant}"):
            if not parts.ledger.people.change_role(name, grant):
                raise _nobody(name)
    click.echo(f"{name} is {grant} now.")
    return 0


@user.command(epilog="Example: logistics-batch user remove priya")
@click.argument("name")
@in_workspace
def remove(*, folder: str, name: str) -> int:
    """Let a person in no more, and end sessions and tokens; what was decided stays."""
    with opened(folder, calls=False) as parts, _audited(parts, "removed a person", name):
        if not parts.ledger.people.remove(name, now=parts.now):
            raise _nobody(name)
    click.echo(f"{name} may sign in no more.")
    return 0


@user.command(epilog="Example: logistics-batch user token priya --expires 2027-03-31")
@click.argument("name")
@click.option("--role", type=click.Choice(_ROLES), help="A smaller one for the program; by default the person's own.")
@click.option(
    "--expires", type=DAY, metavar="D", help=f"The last day on which it holds; by default in {_TOKEN_DAYS} days."
)
@json_option
@in_workspace
def token(*, folder: str, name: str, role: str | None, expires: Any, as_json: bool) -> int:
    """Print a token for a program, once; it is sent as `Authorization: Bearer …` to the addresses that end in .json."""
    from datetime import datetime, time, timedelta

    from logistics_batch.cli.show import print_json

    with _extra():
        from logistics_batch.web.workbench.people import new_token
    with opened(folder, calls=False) as parts:
        now = parts.clock.now()
        ends = datetime.combine(expires, time.max, now.tzinfo) if expires else now + timedelta(days=_TOKEN_DAYS)
        with _audited(parts, "made a token", name):
            secret = new_token(parts.ledger.people, name, role=role or "", ends=ends, now=now)
    print_json({"token": secret}) if as_json else click.echo(secret)
    return 0


def _nobody(name: str) -> Exception:
    from logistics_batch.errors import UsageError

    return UsageError(f'There is no person "{name}".', remedy="The page Admin lists everybody; names count as written.")


@contextmanager
def _audited(parts: Any, what: str, about: str) -> Any:
    """Write down what is done at the machine itself, before and after it is done."""
    import getpass

    people = parts.ledger.people
    entry = people.begin_audit(at=parts.now, who=getpass.getuser(), address="", what=what, about=about)
    outcome = "refused"
    try:
        yield
        outcome = "done"
    finally:
        people.end_audit(entry, outcome)


def _print_link(name: str, link: str, *, as_json: bool) -> None:
    from logistics_batch.cli.show import print_json

    path = f"/welcome/{link}"
    if as_json:
        print_json({"link": path})
    else:
        click.echo(
            f"{path}\nBehind the address of the pages; {name} chooses a password there, once, within three days."
        )
