"""People and their roles, who is signed in, oneself too, what everybody did, and whether all is well."""

from dataclasses import asdict
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from logistics_batch.errors import UsageError
from logistics_batch.operate.doctor import CheckState
from logistics_batch.operate.metrics import figures
from logistics_batch.web.workbench.asked import Moved, PageData, PageRequest, number_of
from logistics_batch.web.workbench.people import (
    LINK_HOLDS,
    AccessGrant,
    Role,
    digest_of,
    is_vouched,
    new_link,
    require_name,
)

_PAGE: Final = 100


def people(asked: PageRequest) -> PageData:
    """Everybody who may sign in, and who is signed in now."""
    ledger = asked.parts.ledger.people
    everybody = [
        {
            "name": each.name,
            "role": (grant := AccessGrant.read(each.role)).role.value,
            "partners": list(grant.partners),
            "since": each.since,
            "chose": bool(each.secret),
            "ended_at": each.ended_at,
        }
        for each in ledger.all()
    ]
    sessions = [
        {name: getattr(each, name) for name in ("number", "person", "address", "started_at", "seen_at")}
        for each in ledger.sessions()
    ]
    tokens = [
        {name: getattr(each, name) for name in ("number", "person", "role", "made_at", "ends_at")}
        for each in ledger.tokens()
    ]
    roles = [each.value for each in Role]
    return PageData("people.html", {"people": everybody, "sessions": sessions, "tokens": tokens, "roles": roles})


def me(asked: PageRequest) -> PageData:
    """Your role, where you are signed in, and forms that change your password or end sessions."""
    here = digest_of(asked.who.session)
    people = asked.parts.ledger.people
    sessions = [
        {name: getattr(each, name) for name in ("address", "started_at", "seen_at")}
        | {"id": each.number, "here": each.digest == here}
        for each in people.sessions(of=asked.who.name)
    ]
    return PageData(
        "me.html",
        {
            "name": asked.who.name,
            "role": asked.who.role.value,
            "partners": list(asked.who.partners),
            "has_password": not is_vouched(people, asked.who.name),
            "sessions": sessions,
        },
    )


def audit(asked: PageRequest) -> PageData:
    """What people did on the pages, the newest first; older entries by `before`."""
    found = asked.parts.ledger.people.audit(before=number_of(asked.query.get("before", "")), limit=_PAGE)
    names = ("id", "at", "who", "address", "what", "about", "outcome")
    entries = [{name: getattr(each, name) for name in names} for each in found]
    return PageData("audit.html", {"entries": entries, "before": found[-1].id if len(found) == _PAGE else None})


def doctor(asked: PageRequest) -> PageData:
    """Every check of `doctor`, made now, problems first, and the settings in force."""
    worst_first = list(reversed(CheckState))
    checks = sorted(asked.on.doctor(), key=lambda each: worst_first.index(each.state))
    settings = [{"name": name, "value": value, "given": given} for name, value, given in asked.on.settings()]
    return PageData("doctor.html", {"checks": [asdict(each) for each in checks], "settings": settings})


def metrics(asked: PageRequest) -> PageData:
    """The figures that monitoring gets, as they are now; those of the scheduler are with the scheduler."""
    zone = ZoneInfo(asked.parts.policy.timezone)
    found = [
        {
            "name": each.name,
            "help": each.help,
            "labels": dict(zip(each.labels, labels, strict=True)),
            "value": value,
            "at": datetime.fromtimestamp(value, zone).isoformat() if each.name.endswith("_timestamp_seconds") else "",
        }
        for each in figures(asked.parts.ledger, now=asked.parts.clock.now())
        for labels, value in each.values.items()
    ]
    return PageData("metrics.html", {"figures": found})


def add(asked: PageRequest) -> PageData:
    """Add a person; the page shows the one-time link once."""
    name, grant = require_name(asked.form.get("name", "")), _grant(asked)
    link = new_link(asked.parts.ledger.people, name, role=grant.kept, now=asked.parts.clock.now())
    return _link(name, link)


def change_role(asked: PageRequest) -> Moved:
    """Give a person another role, or other partners, from their next click on."""
    name, grant = asked.form.get("name", ""), _grant(asked)
    _require_another_admin(asked, name, stays=grant.role == Role.ADMIN)
    if not asked.parts.ledger.people.change_role(name, grant.kept):
        raise UsageError(f'There is no person "{name}".', remedy="Open the page again.")
    return Moved("/admin", f"{name} is {grant.kept} now.")


def reset(asked: PageRequest) -> PageData:
    """Take a person's password away; the page shows the one-time link for a new one."""
    name = asked.form.get("name", "")
    if name == asked.who.name:
        raise UsageError(
            "You would lock yourself out.", remedy="Let another admin do it, or `user reset` at the machine."
        )
    link = new_link(asked.parts.ledger.people, name, now=asked.parts.clock.now())
    return _link(name, link)


def remove(asked: PageRequest) -> Moved:
    """Let a person in no more; what they did stays in the audit."""
    name = asked.form.get("name", "")
    _require_another_admin(asked, name, stays=False)
    if not asked.parts.ledger.people.remove(name, now=asked.now):
        raise UsageError(f'There is no person "{name}".', remedy="Open the page again.")
    return Moved("/admin", f"{name} may sign in no more.")


def end(asked: PageRequest) -> Moved:
    """End a session, or a token of a program, at once."""
    if not asked.parts.ledger.people.end(asked.several.get("id", ())):
        raise UsageError("That is ended already.", remedy="Open the page again.")
    return Moved("/admin", "It is ended.")


def _grant(asked: PageRequest) -> AccessGrant:
    return AccessGrant.of(asked.form.get("role", ""), asked.form.get("partners", "").split(","))


def _require_another_admin(asked: PageRequest, name: str, *, stays: bool) -> None:
    """Raises UsageError where nobody would be left who may add people."""
    everybody = asked.parts.ledger.people.all()
    admins = {each.name for each in everybody if each.role == Role.ADMIN and each.secret and not each.ended_at}
    if not stays and admins == {name}:
        raise UsageError(f"{name} is the only admin.", remedy="Make somebody else one first.")


def _link(name: str, link: str) -> PageData:
    return PageData("link.html", {"name": name, "link": f"/welcome/{link}", "days": LINK_HOLDS.days})
