"""A ledger on a server of PostgreSQL: who answers there must be proven, and each connection has its own session."""

import ipaddress
import socket
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from psycopg import ProgrammingError, pq
from psycopg.conninfo import make_conninfo
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.connection import ENGINES_KEPT, LOCK_WAIT_SECONDS, pool_keeping

# Who is cut off without a word, as by a machine that loses power, is seen after 10 + 3 × 5 seconds: by who waits for
# the server, and by the server, which keeps the locks of a session as long as that seems to be there. While an answer
# is under way nobody asks: it is sent again, for a quarter of an hour unless the second setting ends that.
_SEEN_TO_BE_GONE = {"keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3"}
_UNHEARD = {"tcp_user_timeout": "25000"}  # milliseconds
_ASKED_OF_SERVER = {f"tcp_{name}": value for name, value in _SEEN_TO_BE_GONE.items()} | _UNHEARD
SESSION = (*(f"SET {name} = {value}" for name, value in _ASKED_OF_SERVER.items()), "SET lock_timeout = '{wait}s'")
_KEPT = 4  # connections: a server has a hundred for all programs, and one more takes some milliseconds
# Sooner than others give up that wait for what a frozen program holds in the middle of a transaction.
_FROZEN = f"SET LOCAL idle_in_transaction_session_timeout = '{LOCK_WAIT_SECONDS // 2}s'"


@lru_cache(maxsize=ENGINES_KEPT)
def postgresql_engine(url: str, *, shown: str) -> Engine:
    """Connect to a server; commits are durable whatever it says, and nobody waits for a suspended writer for ever.

    shown: the address without what may be secret.

    Raises:
        LedgerRefused: the address cannot be read, or leads over a network without a proof of who answers there; or a
            pooler gives each transaction another session, so that no lock would hold a run.
    """
    try:
        # Exceptions hold none of what is written.
        engine = create_engine(_heard(url), hide_parameters=True, **pool_keeping(_KEPT))
    except (ArgumentError, ValueError):  # its text shows a part of the URL
        raise LedgerRefused(
            "ledger.url cannot be read as an address.",
            remedy='Write it as "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"; letters such as @ / : # in the '
            "password as %40 %2F %3A %23.",
        ) from None
    _require_verified_server(engine)

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _record: object) -> None:
        connection.autocommit = True  # a setting of a transaction that is rolled back would go with it
        if connection.execute("SHOW synchronous_commit").fetchone()[0] == "off":
            connection.execute("SET synchronous_commit = on")
        for statement in SESSION:
            connection.execute(statement.format(wait=LOCK_WAIT_SECONDS))
        connection.autocommit = False

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get("write", False) and not options.get("unhurried", False):
            connection.exec_driver_sql(_FROZEN)

    _require_own_session(engine, shown)
    return engine


def _heard(url: str) -> URL:
    """The address with what shows that the server is gone, where it does not say that itself."""
    read = make_url(url)
    return read.update_query_dict({**_SEEN_TO_BE_GONE, **_UNHEARD, **read.query})


def _require_verified_server(engine: Engine) -> None:
    """Raises LedgerRefused if a connection would leave this machine and would not prove who answers.

    That is judged by what the library of PostgreSQL makes of the URL, of its own environment and of service files. It
    is asked by a connection that has one impossible parameter, so that nothing is looked up or sent.
    """
    _, wanted = engine.dialect.create_connect_args(engine.url)
    known = {each.keyword.decode() for each in pq.Conninfo.get_defaults()}
    asked = {name: value for name, value in wanted.items() if name in known} | {"target_session_attrs": "impossible"}
    try:
        connection = pq.PGconn.connect_start(make_conninfo("", **asked).encode())
    except ProgrammingError:  # its text may show a part of the password
        raise LedgerRefused(
            "ledger.url has a parameter that PostgreSQL cannot read.",
            remedy='Write it as "postgresql://USER:PASSWORD@HOST/DATABASE"; letters such as @ / : # in the password as '
            "%40 %2F %3A %23.",
        ) from None
    found = {each.keyword: (each.val or b"").decode() for each in connection.info}
    connection.finish()
    pairs = zip_longest(found[b"host"].split(","), found[b"hostaddr"].split(","), fillvalue="")
    far = [address or host for host, address in pairs if _is_far(host, address)]
    if far and found[b"sslmode"] != "verify-full":
        places = ", ".join(each.rsplit("@", 1)[-1] for each in far)
        raise LedgerRefused(
            f"ledger.url leads over a network, to {places}, where nothing would prove who answers (sslmode is "
            f"{found[b'sslmode']}); so nothing was sent there, no password either.",
            remedy="Write ?sslmode=verify-full&sslrootcert=FILE behind the database in ledger.url; FILE holds the "
            "certificate of the authority that signed the server's (sslrootcert=system: one of those that this machine "
            "trusts). A database on this machine is reached as 127.0.0.1 or by its socket.",
        )


def _is_far(host: str, address: str) -> bool:
    """Whether a connection leaves this machine; PostgreSQL takes the address, else the host, else its own socket."""
    place = address or host
    if not place or (not address and place.startswith(("/", "@"))):
        return False
    try:
        found = {str(each[4][0]) for each in socket.getaddrinfo(place, None)} if place == "localhost" else {place}
        return not all(ipaddress.ip_address(each).is_loopback for each in found)
    except (OSError, ValueError):
        return True


def _require_own_session(engine: Engine, shown: str) -> None:
    """Raises LedgerRefused if the transactions of a connection meet several servers: no lock would hold a run.

    While another transaction is open, a pooler gives a connection's next one to another server than its last.
    """
    served_by = text("SELECT pg_backend_pid()")
    with engine.connect() as own, engine.connect() as other:
        before = own.execute(served_by).scalar_one()
        own.commit()
        other.execute(served_by)
        if own.execute(served_by).scalar_one() != before:
            raise LedgerRefused(
                f"Between here and the ledger {shown} stands a pooler that gives each transaction another "
                "session of PostgreSQL (such as PgBouncer with pool_mode = transaction): it could not be told whether "
                "another run is sending.",
                remedy="Connect to PostgreSQL itself, or set the pooler to pool_mode = session for this database.",
            )
