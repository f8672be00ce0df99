"""The pages of a workspace, put together."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import Event

import click

from logistics_batch.cli.commands.checkup import checkup
from logistics_batch.cli.watching import log_of, observed_run
from logistics_batch.errors import SettingsError
from logistics_batch.flows.mappings.mapping_files import MappingFiles
from logistics_batch.flows.parts import Parts
from logistics_batch.jobs import calendars_by_job, load_calendar, load_job, read_jobs
from logistics_batch.operate.run_job import JobOutcome, Order, run_job
from logistics_batch.settings import Settings, in_force, private_file, read_secret
from logistics_batch.web.pages import Behind, Secured, require_safe, serve_pages
from logistics_batch.web.serve import ListeningPlace
from logistics_batch.web.workbench import KnownJobs, Role, Surface
from logistics_batch.web.workbench.people import new_link
from logistics_batch.web.workbench.sign_on import Provider, SignOn, is_private, require_library
from logistics_batch.web.workbench.work import Work
from logistics_batch.wiring import MAPPINGS, Need, Workspace

_FIRST = "admin"


def say_where(url: str, link: str | None) -> None:
    """One line of JSON: where the pages listen, and the link of the first admin."""
    click.echo(json.dumps({"url": url, "first_admin": link}))


def serve_workspace(
    workspace: Workspace,
    *,
    host: str | None,
    port: int | None,
    stop: Event,
    tell: Callable[[str, str | None], None] = say_where,
) -> None:
    """Serve the pages of a workspace until `stop` is set; once they listen, `tell` is called once."""
    settings = workspace.settings()
    place = ListeningPlace(host or settings.web.host, settings.web.port if port is None else port)
    secured = _secured(workspace, settings)
    with workspace.parts(Need(calls=False, stop=stop)) as opened:
        parts = replace(opened, mapping=workspace.mapping)  # as it is at each check, not as it was at the start
        everybody = parts.ledger.people.all()
        require_safe(place, secured, has_people=bool(everybody))
        say = partial(log_of(workspace, settings, parts, lambda line: click.echo(line, err=True)).say, "pages")
        others = {each.name for each in everybody if each.secret or not each.ended_at} - {_FIRST}
        has_admin = any(each.secret for each in everybody) or others
        first = None if has_admin else _first_link(parts)

        def ready(url: str) -> None:
            tell(url, f"{url}/welcome/{first}" if first else None)

        def jobs() -> KnownJobs:
            found = read_jobs(workspace.folder)
            calendars = calendars_by_job(workspace.folder, found.usable)
            return KnownJobs(found.usable, calendars, "\n".join(map(str, found.findings)))

        def run(name: str, order: Order) -> JobOutcome:
            job = load_job(workspace.folder, name)
            with workspace.parts(Need(stop=stop, calls=not order.dry_run, writes=not order.dry_run)) as its_own:
                if order.dry_run:
                    return run_job(its_own, job, order)
                return observed_run(workspace, its_own, job, order)

        behind, work = Behind(say), Work(say)
        sign_on = _sign_on(workspace, settings, parts)
        files = MappingFiles(workspace.folder / MAPPINGS, workspace.mapping_loader)
        on = Surface(
            parts,
            lambda: workspace.parts(Need(stop=stop)),
            jobs,
            partial(load_calendar, workspace.folder),
            workspace.mapping_names,
            behind,
            work,
            run,
            files,
            doctor=partial(checkup, workspace),
            settings=lambda: in_force(workspace.settings()),
            print_queues=settings.web.print_queues,
        )
        try:
            serve_pages(place, secured, on, on_ready=ready, say=say, stop=stop, sign_on=sign_on)
        finally:
            behind.close()
            stop.set()
            work.close()
        say("stopped")


def _secured(workspace: Workspace, settings: Settings) -> Secured:
    web = settings.web
    key = private_file(workspace.folder / web.key_file, name="web.key_file") if web.key_file else None
    return Secured(web.hosts, workspace.folder / web.cert_file if web.cert_file else None, key, web.proxy)


def _sign_on(workspace: Workspace, settings: Settings, parts: Parts) -> SignOn | None:
    """Signing in with an account of the organisation, if the settings name who vouches for people.

    Raises SettingsError.
    """
    oidc = settings.web.oidc
    if oidc is None:
        return None
    require_library()
    if not is_private(oidc.issuer):
        raise SettingsError("web.oidc.issuer is no https address.", remedy="Write the provider's own, as it says it.")
    if wrong := [role for role in oidc.roles.values() if role not in set(Role)]:
        raise SettingsError(f"web.oidc.roles: “{wrong[0]}” is no role.", remedy=f"Write one of {', '.join(Role)}.")
    file = oidc.client_secret_file
    provider = Provider(
        oidc.issuer,
        oidc.client_id,
        read_secret(workspace.folder, name="web.oidc.client_secret", inline=None, file=file),
        oidc.name_claim,
        oidc.roles_claim,
        {each: Role(role) for each, role in oidc.roles.items()},
        oidc.partners_claim,
        oidc.label,
    )
    return SignOn(provider, parts.clock.now)


def _first_link(parts: Parts) -> str:
    """The one-time link of the first admin, made anew as long as nobody used it."""
    people, now = parts.ledger.people, parts.clock.now()
    known = people.get(_FIRST)
    role = "" if known is not None and not known.ended_at else Role.ADMIN.value
    return new_link(people, _FIRST, role=role, now=now)
