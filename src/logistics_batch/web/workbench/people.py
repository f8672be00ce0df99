"""Who may do what: roles, passwords, sessions, tokens, and patience with those who try secrets.

Passwords do not do that are too short, or among those that everybody tries first. Nobody is asked about one.
"""

import hashlib
import hmac
import ipaddress
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from itertools import pairwise
from string import digits, punctuation
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from logistics_batch.errors import LedgerRefused, UsageError
from logistics_batch.flows.parts import OPERATOR
from logistics_batch.ledger import People
from logistics_batch.model.complaints import FILE_STEM

SHORTEST, MOST_CHARACTERS = 12, 200
_LEAST_DIFFERENT, _LEAST_OWN = 7, 8
_KEYS = ("1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./")
_PLACES = {sign: (row, column) for row, signs in enumerate(_KEYS) for column, sign in enumerate(signs)}
_TELLING: Final = (  # the longer ones first
    *("administrator", "logistics", "warehouse", "shipment", "password", "passwort", "iloveyou", "changeme", "welcome"),
    *("letmein", "courier", "parcel", "secret", "passwd", "qwerty", "orders", "labels", "batch", "admin", "login"),
)
_COMMON: Final = (  # of 12 signs and more in public lists, without digits around them
    "chickenwing christopher cookiemonster counterstrike devilmaycry fallen_angel finalfantasy greenlantern "
    "ichliebedich ihatethisgame ilovemyfamily ingodwetrust international internazionale iseedeadpeople jamesbond "
    "jesuslovesme justinbieber leavemealone manchesterunited massimiliano michaeljackson minecraft moderncombat "
    "mortalkombat needforspeed neworleans nightcrawler onedirection peanutbutter playstation professional "
    "przyjaciolki residentevil sanfrancisco seniseviyorum sonnenschein sonyericsson stratocaster starwars supernatural "
    "systemofadown telechargement thecakeisalie ticketmaster transformers vladimirovna warhammer websolutions "
    "weihnachtsbaum whosyourdaddy"
)
_REMEDY: Final = "A few words in a row that have nothing to do with each other are easy to keep."


def require_sound(password: str, again: str, *, name: str) -> None:
    """Raises UsageError where the person of this name must choose another password."""
    if password != again:
        raise UsageError("The two passwords differ.", remedy="Write the same one twice.")
    if not SHORTEST <= len(password) <= MOST_CHARACTERS:
        raise UsageError(f"A password has {SHORTEST} to {MOST_CHARACTERS} signs.", remedy=_REMEDY)
    if why := _weakness(password.casefold(), name.casefold()):
        raise UsageError(f"Such a password is tried first: {why}.", remedy=_REMEDY)


def _weakness(text: str, name: str) -> str:
    """Why a password is guessed soon, "" if nothing speaks against it.

    >>> _weakness("1q2w3e4r5t6y", "priya"), _weakness("logistics2026", "priya"), _weakness("four plain words", "priya")
    ('its signs lie side by side on the keyboard', 'little is left without the words “logistics”', '')
    """
    if len(set(text)) < _LEAST_DIFFERENT:
        return "it has few different signs"
    if _is_walk(text) or (_is_walk(text[::2]) and _is_walk(text[1::2])):
        return "its signs lie side by side on the keyboard"
    if text in (text + text)[1:-1]:
        return "it repeats itself"
    if text.strip(digits + punctuation) in _COMMON.split():
        return "it stands in lists of passwords"
    words = [word for word in (name, *name.split(), *_TELLING) if word in text]
    for word in words:
        text = text.replace(word, "")
    return f"little is left without the words “{', '.join(words)}”" if words and len(text) < _LEAST_OWN else ""


def _is_walk(text: str) -> bool:
    """Whether two thirds of the signs lie beside the one before, or are the same."""
    near = 0
    for one, other in pairwise(text):
        (row, column), (next_row, next_column) = _PLACES.get(one, (9, 0)), _PLACES.get(other, (0, 9))
        near += one == other or (abs(row - next_row) <= 1 and abs(column - next_column) <= 1)
    return near * 3 >= (len(text) - 1) * 2


class Role(StrEnum):
    """What somebody is here for."""

    VIEWER = "viewer"
    CLERK = "clerk"
    ANALYST = "analyst"
    OPERATOR = "operator"
    INTEGRATOR = "integrator"
    ADMIN = "admin"


SEES_PEOPLE: Final = frozenset({Role.CLERK, Role.OPERATOR, Role.INTEGRATOR, Role.ADMIN})
"""Who needs names, phones and addresses for their work."""
DECIDE: Final = frozenset({Role.OPERATOR, Role.ADMIN})
"""Who decides about what waits."""
CHECK: Final = SEES_PEOPLE
"""Who checks sheets, corrects them and hands them to a job, as whoever may drop files does."""
RECONCILE: Final = frozenset({Role.ANALYST, Role.OPERATOR, Role.ADMIN})
"""Who works on the exceptions of reconciliations."""
MAP: Final = frozenset({Role.INTEGRATOR, Role.ADMIN})
"""Who makes mappings."""
FOR_ALL: Final = frozenset({Role.INTEGRATOR, Role.ADMIN})
"""Whose work is about the whole workspace, so that it is never limited to partners."""


@dataclass(frozen=True)
class AccessGrant:
    """What somebody is here for: a role, and the partners whose jobs alone they see; without any, all.

    >>> AccessGrant.read("operator of ACME, Kaveri"), AccessGrant(Role.CLERK).kept
    (AccessGrant(role=<Role.OPERATOR: 'operator'>, partners=('ACME', 'Kaveri')), 'clerk')
    """

    role: Role
    partners: tuple[str, ...] = ()

    @classmethod
    def read(cls, kept: str) -> "AccessGrant":
        """As it stands with the person; a program that knows no partners reads no role in it, and lets nobody in."""
        role, _, named = kept.partition(" of ")
        return cls(Role(role), tuple(named.split(", ")) if named else ())

    @classmethod
    def of(cls, role: str, partners: Iterable[str]) -> "AccessGrant":
        """A role with partners as people write them. Raises UsageError where they do not go together."""
        named = tuple(dict.fromkeys(filter(None, (each.strip() for each in partners))))
        if role not in set(Role):
            raise UsageError("No role is chosen.", remedy="Choose one.")
        if wrong := [each for each in named if not re.fullmatch(FILE_STEM, each)]:
            raise UsageError(f"“{wrong[0]}” is no partner.", remedy="Write it as the jobs do: partner: NAME.")
        if named and role in FOR_ALL:
            raise UsageError(
                f"The work of {role} is about all partners.", remedy="Leave the partners out (--all-partners)."
            )
        return cls(Role(role), named)

    @property
    def kept(self) -> str:
        """As it is written down, and read by people."""
        return f"{self.role} of {', '.join(self.partners)}" if self.partners else self.role.value


LINK_HOLDS: Final = timedelta(days=3)
JUST_NOW: Final = timedelta(minutes=10)
IDLE, LONGEST = timedelta(hours=1), timedelta(hours=12)  # a session that is not used, and any
_SEEN_EVERY = timedelta(minutes=1)
_NAME_CHARACTERS = 64
_HASHER = PasswordHasher()
_VOUCHED: Final = "vouched "  # before what tells the person at a provider, in the place of a password's hash


def digest_of(secret: str) -> str:
    """What is kept of a secret that has enough chance in it to need no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def require_name(name: str) -> str:
    """A person's name, trimmed. Raises UsageError for one that is empty, too long, or holds what is not seen."""
    name = " ".join(name.split())
    if not name or len(name) > _NAME_CHARACTERS or not name.isprintable() or name.casefold() == OPERATOR:
        raise UsageError(
            f"This is no name: up to {_NAME_CHARACTERS} letters, digits and signs.", remedy="Write another."
        )
    return name


def is_vouched(people: People, name: str) -> bool:
    """Whether a provider vouches for a person, who has no password here then."""
    found = people.get(name)
    return found is not None and found.secret.startswith(_VOUCHED)


def new_link(people: People, name: str, *, role: str = "", now: datetime) -> str:
    """Add a person with a role, or (no role) take the password of one away: the secret of the one-time link for it.

    Raises UsageError if there is such a person already, or none.
    """
    secret, until = secrets.token_urlsafe(32), (now + LINK_HOLDS).isoformat()
    if role:
        done = people.add(name, role=role, link=digest_of(secret), link_until=until, now=now.isoformat())
        if not done:
            raise UsageError(f'There is a person "{name}" already.', remedy="Choose another name, or `user reset` it.")
    elif not people.reset(name, link=digest_of(secret), link_until=until):
        raise UsageError(f'There is no person "{name}".', remedy="The page Admin lists everybody.")
    return secret


def new_token(people: People, name: str, *, role: str, ends: datetime, now: datetime) -> str:
    """A token for a program that works for a person. Raises UsageError if there is none, or the role is not theirs."""
    found = people.get(name)
    if found is None or found.ended_at:
        raise UsageError(f'There is no person "{name}".', remedy="The page Admin lists everybody.")
    own = AccessGrant.read(found.role).role
    if own != Role.ADMIN and role not in ("", own):
        raise UsageError(f"{name} is {own}, and so are the tokens of {name}.", remedy="Leave --role out.")
    secret = secrets.token_urlsafe(32)
    people.add_token(
        digest_of(secret), name=name, role=role or own, now=now.isoformat(), ends_at=ends.isoformat(timespec="seconds")
    )
    return secret


@dataclass(frozen=True)
class SignedIn:
    """Who asks. session: the secret of the browser's session, "" for a program with a token. partners: of the grant."""

    name: str
    role: Role
    address: str
    session: str = ""
    partners: tuple[str, ...] = ()

    @property
    def form_token(self) -> str:
        """What a form of this session must bring along; nobody else can tell it."""
        return hmac.new(self.session.encode(), b"form", hashlib.sha256).hexdigest() if self.session else ""

    @property
    def sees_people(self) -> bool:
        """Whether names, phones and addresses are shown."""
        return self.role in SEES_PEOPLE


@dataclass(frozen=True)
class Identity:
    """For whom a provider vouches. subject: who they are there, whatever they are called. grant: None if they have none
    here. says_partners: whether the provider says for which partners, so that an admin does not."""

    name: str
    subject: str
    grant: AccessGrant | None
    says_partners: bool = False


class NotVouched(Exception):
    """What came from a provider proves nothing; the text is for the log."""


class TooOften(Exception):
    """Too many wrong secrets came; `seconds` from now on one may be tried again."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = max(1, round(seconds))


class Patience:
    """How long somebody waits after wrong secrets: longer each time, by name, and by address, which many may share.

    What was wrong more than an hour ago is forgotten.
    """

    _FREE, _LONGEST_SECONDS, _FORGOTTEN_SECONDS, _MOST = {"name": 5, "address": 50}, 900.0, 3600.0, 10_000

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._wrong: dict[str, tuple[int, float, float]] = {}  # how often, until when it waits, when the last one was
        self._lock = threading.Lock()

    def require(self, *who: str) -> None:
        """Raises TooOften if one of these has to wait."""
        with self._lock:
            waits = max(self._wrong.get(each, (0, 0.0, 0.0))[1] for each in who) - self._monotonic()
        if waits > 0:
            raise TooOften(waits)

    def wrong(self, *who: str) -> None:
        """A wrong secret came from these."""
        now = self._monotonic()
        with self._lock:
            if len(self._wrong) > self._MOST:
                recent = now - self._FORGOTTEN_SECONDS
                self._wrong = {each: kept for each, kept in self._wrong.items() if kept[2] > recent}
            for each in who:
                times, _, last = self._wrong.get(each, (0, 0.0, now))
                times = 1 if now - last > self._FORGOTTEN_SECONDS else times + 1
                over = times - self._FREE[each.partition(":")[0]]
                pause = min(2.0 ** min(over, 20), self._LONGEST_SECONDS) if over >= 0 else 0.0
                self._wrong[each] = times, now + pause, now

    def right(self, name: str) -> None:
        """The right one came for a name; an address has to live with what else comes from it."""
        with self._lock:
            self._wrong.pop(name, None)


def network_of(address: str) -> str:
    """What counts as one address: of IPv6 the network, which one household has."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(found) if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))


class Doorkeeper:
    """Lets people in, and knows who is in."""

    def __init__(
        self, people: People, *, now: Callable[[], datetime], behind: Callable[[Callable[[], None]], None]
    ) -> None:
        """behind: does a piece of work after the answer."""
        self._people, self._now, self._behind = people, now, behind
        self._to_note: set[str] = set()  # sessions whose last click is still to be written down
        self._patience = Patience()
        self._hashing = threading.Semaphore(2)
        self._nobody = _HASHER.hash(secrets.token_hex(16))  # so that a name that is not there takes as long

    def sign_in(self, name: str, password: str, *, address: str) -> str:
        """The secret of a new session; "" if name or password is wrong. Raises TooOften."""
        return self._begin(name, address=address) if self._is_right(name, password, address=address) else ""

    def enter(self, who: Identity, *, address: str) -> str:
        """The secret of a new session of somebody for whom a provider vouches, with the role that it says today.

        Whoever comes first is added. Raises UsageError: no role here, taken away here, or the name is another's.
        """
        name, kept = require_name(who.name), f"{_VOUCHED}{digest_of(who.subject)}"
        if who.grant is None:
            raise UsageError(f"{name} has no role here.", remedy="Ask your admin for one, then sign in again.")
        found = self._people.get(name)
        if found is not None and found.ended_at:
            raise UsageError(f"{name} may sign in no more.", remedy="An admin adds the person again.")
        if found is not None and found.secret not in ("", kept):
            raise UsageError(
                f"{name} signs in here in another way, or is somebody else.",
                remedy=f"If it is the same person, an admin takes the password of {name} away first.",
            )
        grant = who.grant
        if found is not None and not who.says_partners and grant.role not in FOR_ALL:
            grant = AccessGrant(grant.role, AccessGrant.read(found.role).partners)
        self._people.keep_vouched(name, role=grant.kept, secret=kept, now=self._now().isoformat())
        return self._begin(name, address=address)

    def require_again(self, who: SignedIn, password: str) -> None:
        """Raises UsageError where who is signed in does not prove it once more: by the password or, without one, by
        having signed in just now. Raises TooOften.
        """
        if is_vouched(self._people, who.name):
            session = self._people.session(digest_of(who.session))
            if session is None or self._now() - datetime.fromisoformat(session.started_at) > JUST_NOW:
                raise UsageError("You signed in more than ten minutes ago.", remedy="Sign out and in, then repeat it.")
        elif not self._is_right(who.name, password, address=who.address):
            raise UsageError("The password is wrong.", remedy="Write the one with which you signed in.")

    def _is_right(self, name: str, password: str, *, address: str) -> bool:
        who = f"name:{name[:_NAME_CHARACTERS]}", f"address:{network_of(address)}"
        self._patience.require(*who)
        found = self._people.get(name)
        kept = found.secret if found is not None and not found.ended_at else ""
        if not self._hashing.acquire(blocking=False):  # each takes 64 MB
            raise TooOften(1)
        try:
            _HASHER.verify(kept or self._nobody, password[:MOST_CHARACTERS])
            fits = bool(kept) and len(password) <= MOST_CHARACTERS
        except (Argon2Error, InvalidHashError):
            fits = False
        finally:
            self._hashing.release()
        if not fits:
            self._patience.wrong(*who)
            return False
        self._patience.right(who[0])
        return True

    def choose_password(self, link: str, password: str, again: str, *, address: str) -> str:
        """Keep the password of the person whose one-time link this is; the secret of their first session.

        Raises UsageError: the link is used up or over, or the password does not do.
        """
        self._patience.require(f"address:{network_of(address)}")
        now = self._now().isoformat()
        person = self._people.of_link(digest_of(link), now=now)
        require_sound(password, again, name=person.name if person else "")
        name = self._people.choose_secret(digest_of(link), secret=_HASHER.hash(password), now=now) if person else ""
        if not name:
            self._patience.wrong(f"address:{network_of(address)}")
            raise UsageError("This link was used, or its time is over.", remedy="Ask for a new one: `user reset NAME`.")
        return self._begin(name, address=address)

    def change_password(self, who: SignedIn, password: str, again: str) -> str:
        """Keep another password of who is signed in, which ends all sessions; the secret of a new one.

        Raises UsageError: it does not do, or there is none here.
        """
        if is_vouched(self._people, who.name):
            raise UsageError("You have no password here.", remedy="Change it where your account is.")
        require_sound(password, again, name=who.name)
        self._people.change_secret(who.name, secret=_HASHER.hash(password))
        return self._begin(who.name, address=who.address)

    def whose_link(self, link: str) -> str:
        """The name of the person whose one-time link this is, "" if it is nobody's any more."""
        person = self._people.of_link(digest_of(link), now=self._now().isoformat())
        return person.name if person else ""

    def _begin(self, name: str, *, address: str) -> str:
        secret, now = secrets.token_urlsafe(32), self._now()
        older_than = (now - LONGEST).isoformat()
        begun = self._people.sign_in(
            digest_of(secret), name=name, address=address, now=now.isoformat(), older_than=older_than
        )
        return secret if begun else ""

    def of_session(self, secret: str, *, address: str, clicks: bool = True) -> SignedIn | None:
        """Who is signed in with this secret; None if nobody is, or no more. clicks: a person asks, not an open page."""
        found, now = self._people.session(digest_of(secret)), self._now()
        if found is None:
            return None
        idle = now - datetime.fromisoformat(found.seen_at)
        if idle > IDLE or now - datetime.fromisoformat(found.started_at) > LONGEST:
            self._people.sign_out(found.digest)
            return None
        if clicks and idle > _SEEN_EVERY and found.digest not in self._to_note:
            self._to_note.add(found.digest)
            self._behind(partial(self._note, found.digest, now.isoformat()))
        grant = AccessGrant.read(found.role)
        return SignedIn(found.person, grant.role, address, secret, grant.partners)

    def _note(self, digest: str, now: str) -> None:
        """Write down that a session goes on: behind the answer, for who only looks need not wait for a writer."""
        self._to_note.discard(digest)
        with suppress(LedgerRefused):
            self._people.seen(digest, now=now)

    def of_token(self, secret: str, *, address: str) -> SignedIn | None:
        """For whom a program with this token asks; None if it is no token, its time is over, or its person has another
        role by now. Raises TooOften."""
        found = self._people.token(digest_of(secret), now=self._now().isoformat())
        grant = AccessGrant.read(found.role_of_person) if found is not None else None
        if found is not None and grant is not None and grant.role in (found.role, Role.ADMIN):
            return SignedIn(found.person, Role(found.role), address, partners=grant.partners)
        where = f"address:{network_of(address)}"
        self._patience.require(where)
        self._patience.wrong(where)
        return None

    def sign_out(self, secret: str) -> None:
        """End a session."""
        self._people.sign_out(digest_of(secret))
