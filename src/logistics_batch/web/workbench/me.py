"""Who is signed in here: role, sessions, and the forms for an own password."""

from logistics_batch.web.workbench.asked import PageData, PageRequest
from logistics_batch.web.workbench.people import digest_of, is_vouched


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
