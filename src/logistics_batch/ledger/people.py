"""People who use the pages: who they are, who is signed in, tokens of programs, and what each of them did.

Secrets are kept as digests: whoever reads the ledger cannot sign in. Nothing here counts as something that was sent.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, select

from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.schema import access_token, audit, person, web_session, web_view

_SHOWN = 12  # digits of a digest


@dataclass(frozen=True, slots=True)
class StoredPerson:
    """A person. secret: the hash of the password, or of who somebody else says they are, "" before there is one.
    ended_at: "" while they may sign in."""

    name: str
    role: str
    since: str
    secret: str
    ended_at: str


class Numbered:
    """Something whose secret is known by its digest."""

    __slots__ = ()
    digest: str

    @property
    def number(self) -> str:
        """What it is called where people see it; nobody gets in with that."""
        return self.digest[:_SHOWN]


@dataclass(frozen=True, slots=True)
class StoredSession(Numbered):
    """Somebody who is signed in, with the role of today."""

    digest: str
    person: str
    role: str
    address: str
    started_at: str
    seen_at: str


@dataclass(frozen=True, slots=True)
class StoredToken(Numbered):
    """A program's token; role: the smaller of its own and its person's is for the reader to find."""

    digest: str
    person: str
    role: str
    made_at: str
    ends_at: str
    role_of_person: str


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What somebody did or tried. outcome: "" where it is not known."""

    id: int
    at: str
    who: str
    address: str
    what: str
    about: str
    outcome: str


_MAY = person.c.ended_at == ""
_QUICKLY = 2.0  # seconds that a page waits for other writers


class People(Repository):
    """People, sessions, tokens and the audit."""

    def all(self) -> list[StoredPerson]:
        """Everybody who was ever added, by name."""
        return self._values(StoredPerson, select(person).order_by(person.c.name))

    def get(self, name: str) -> StoredPerson | None:
        """One person, also one who was removed; None if there is none of that name."""
        return self._value(StoredPerson, select(person).where(person.c.name == name))

    def of_link(self, digest: str, *, now: str) -> StoredPerson | None:
        """The person whose one-time link this is and still holds, None if it is nobody's."""
        query = select(person).where(person.c.link == digest, person.c.link_until > now, _MAY)
        return self._value(StoredPerson, query)

    def add(self, name: str, *, role: str, link: str, link_until: str, now: str) -> bool:
        """Add a person, or one again who was removed; False if there is one of that name."""
        new = {"role": role, "since": now, "secret": "", "link": link, "link_until": link_until, "ended_at": ""}
        with self._write(counts=False) as connection:
            found = connection.execute(select(person.c.ended_at).where(person.c.name == name)).scalar()
            if found == "":
                return False
            if found is None:
                connection.execute(person.insert().values(new | {"name": name}))
            else:
                connection.execute(person.update().where(person.c.name == name).values(new))
            return True

    def keep_vouched(self, name: str, *, role: str, secret: str, now: str) -> None:
        """Keep a person for whom somebody else vouches, with the role of today; a link for a password ends."""
        values = {"role": role, "secret": secret, "link": "", "link_until": ""}
        with self._write(counts=False) as connection:
            if not connection.execute(person.update().where(person.c.name == name, _MAY).values(values)).rowcount:
                connection.execute(person.insert().values(values | {"name": name, "since": now, "ended_at": ""}))

    def change_role(self, name: str, role: str) -> bool:
        """Give a person another role, also in sessions under way; False if there is none of that name."""
        return self._change(name, {"role": role})

    def reset(self, name: str, *, link: str, link_until: str) -> bool:
        """Take a person's password away until one is chosen by the link; ends sessions and tokens."""
        return self._change(name, {"secret": "", "link": link, "link_until": link_until}, leaves=True)

    def remove(self, name: str, *, now: str) -> bool:
        """Let a person in no more; ends sessions and tokens. False if there is none of that name."""
        return self._change(name, {"ended_at": now, "secret": "", "link": "", "link_until": ""}, leaves=True)

    def choose_secret(self, link: str, *, secret: str, now: str) -> str:
        """Keep the password's hash of whose link this is, which then is used up; the name, "" if it is nobody's."""
        holds = (person.c.link == link) & (person.c.link_until > now) & _MAY
        with self._write(counts=False) as connection:
            statement = person.update().where(holds).values(secret=secret, link="", link_until="")
            return str(connection.execute(statement.returning(person.c.name)).scalar() or "")

    def change_secret(self, name: str, *, secret: str) -> None:
        """Keep another password's hash; ends every session."""
        with self._write(counts=False) as connection:
            connection.execute(person.update().where(person.c.name == name, _MAY).values(secret=secret))
            connection.execute(web_session.delete().where(web_session.c.person == name))

    def _change(self, name: str, values: dict[str, str], *, leaves: bool = False) -> bool:
        with self._write(counts=False) as connection:
            done = connection.execute(person.update().where(person.c.name == name, _MAY).values(values)).rowcount > 0
            if done and leaves:
                connection.execute(web_session.delete().where(web_session.c.person == name))
                connection.execute(access_token.delete().where(access_token.c.person == name))
            return done

    def sign_in(self, digest: str, *, name: str, address: str, now: str, older_than: str) -> bool:
        """Begin a session; those that were not seen since a moment go. False if the person may not sign in any more."""
        may = select(person.c.name).where(person.c.name == name, person.c.secret != "", _MAY)
        with self._write(counts=False, patience_seconds=_QUICKLY) as connection:
            connection.execute(web_session.delete().where(web_session.c.seen_at < older_than))
            if connection.execute(may.with_for_update()).first() is None:
                return False
            new = {"digest": digest, "person": name, "address": address, "started_at": now, "seen_at": now}
            connection.execute(web_session.insert().values(new))
            return True

    def session(self, digest: str) -> StoredSession | None:
        """Who is signed in with this secret, None if nobody is, or no more."""
        return next(iter(self._sessions(web_session.c.digest == digest)), None)

    def sessions(self, *, of: str | None = None) -> list[StoredSession]:
        """Everybody who is signed in, or one person's sessions, the last seen first."""
        return self._sessions(*([] if of is None else [web_session.c.person == of]))

    def end(self, numbers: Collection[str], *, of: str | None = None) -> int:
        """End sessions and tokens, of anybody or of one person, by their numbers; gives how many ended."""
        with self._write(counts=False) as connection:
            ended = 0
            for table in (web_session, access_token):
                mine = [] if of is None else [table.c.person == of]
                meant = func.substr(table.c.digest, 1, _SHOWN).in_(numbers)
                ended += connection.execute(table.delete().where(meant, *mine)).rowcount
            return ended

    def _sessions(self, *wanted: object) -> list[StoredSession]:
        query = select(web_session, person.c.role).join(person, person.c.name == web_session.c.person)
        return self._values(StoredSession, query.where(_MAY, *wanted).order_by(web_session.c.seen_at.desc()))  # type: ignore[arg-type]

    def seen(self, digest: str, *, now: str) -> None:
        """Note that a session goes on; what a power cut takes of that is no loss."""
        with self._write(counts=False, durable=False) as connection:
            connection.execute(web_session.update().where(web_session.c.digest == digest).values(seen_at=now))

    def sign_out(self, digest: str) -> None:
        """End a session."""
        self._execute(web_session.delete().where(web_session.c.digest == digest), counts=False)

    def views(self, name: str, *, place: str) -> dict[str, str]:
        """What a person keeps of a page: the query of each view by its name."""
        mine = web_view.c.person == name, web_view.c.place == place
        return dict(
            map(tuple, self._rows(select(web_view.c.name, web_view.c.query).where(*mine).order_by(web_view.c.name)))
        )

    def keep_view(self, name: str, *, place: str, view: str, query: str) -> None:
        """Keep a view of a page, in the place of one of that name; forget it where the query is empty."""
        key = {"person": name, "place": place, "name": view}
        with self._write(counts=False) as connection:
            connection.execute(web_view.delete().where(*(web_view.c[each] == value for each, value in key.items())))
            if query:
                connection.execute(web_view.insert().values(key | {"query": query}))

    def add_token(self, digest: str, *, name: str, role: str, now: str, ends_at: str) -> None:
        """Keep a token's digest."""
        new = {"digest": digest, "person": name, "role": role, "made_at": now, "ends_at": ends_at}
        self._execute(access_token.insert().values(new), counts=False)

    def token(self, digest: str, *, now: str) -> StoredToken | None:
        """The token of this digest, None if there is none that still holds."""
        return next(iter(self._tokens(access_token.c.digest == digest, access_token.c.ends_at > now)), None)

    def tokens(self) -> list[StoredToken]:
        """Every token that was not ended, the newest first."""
        return self._tokens()

    def _tokens(self, *wanted: object) -> list[StoredToken]:
        query = select(access_token, person.c.role.label("role_of_person"))
        query = query.join(person, person.c.name == access_token.c.person).where(_MAY, *wanted)  # type: ignore[arg-type]
        return self._values(StoredToken, query.order_by(access_token.c.made_at.desc()))

    def begin_audit(self, *, at: str, who: str, address: str, what: str, about: str) -> int:
        """Write down what somebody is about to do; gives its number."""
        new = {"at": at, "who": who, "address": address, "what": what, "about": about}
        with self._write(counts=False) as connection:
            return int(connection.execute(audit.insert().values(new).returning(audit.c.id)).scalar_one())

    def end_audit(self, number: int, outcome: str) -> None:
        """Write down what came of it."""
        self._execute(
            audit.update().where(audit.c.id == number, audit.c.outcome == "").values(outcome=outcome), counts=False
        )

    def audit(self, *, before: int | None = None, limit: int = 100) -> list[AuditEntry]:
        """What people did, the newest first. before: only entries with a smaller number."""
        query = select(audit) if before is None else select(audit).where(audit.c.id < before)
        return self._values(AuditEntry, query.order_by(audit.c.id.desc()).limit(limit))
