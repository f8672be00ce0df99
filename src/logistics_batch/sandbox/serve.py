"""Start the sandbox, routes inside and middleware around them; say where it listens; end on SIGTERM or SIGINT."""

import asyncio
import fcntl
import json
import secrets
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from logistics_batch.sandbox import control, page
from logistics_batch.sandbox.asns.routes import PATH as ASN_PATH
from logistics_batch.sandbox.asns.routes import routes as asn_routes
from logistics_batch.sandbox.commands import perform_late_commands
from logistics_batch.sandbox.contract.document import ContractApi
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.endpoints import allowed_methods
from logistics_batch.sandbox.events import deliver_for_ever
from logistics_batch.sandbox.events import routes as webhook_routes
from logistics_batch.sandbox.faults.plan import FaultPlan, read_plan
from logistics_batch.sandbox.journal import Journal
from logistics_batch.sandbox.labels.routes import routes as label_routes
from logistics_batch.sandbox.middleware import Middleware
from logistics_batch.sandbox.orders.routes import routes as order_routes
from logistics_batch.sandbox.orders.stored import UnknownOrder
from logistics_batch.sandbox.service import UNEXPECTED, Service, failed, service_of
from logistics_batch.sandbox.sftp import SftpAccount, SftpService, new_host_key
from logistics_batch.sandbox.store import Store
from logistics_batch.sandbox.switches import Switches


def create_app(service: Service, on_ready: Callable[[], None]) -> Middleware:
    """The whole service, ready for an ASGI server that puts ``transport`` into the state of each request."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        workers = [asyncio.create_task(work(service)) for work in (deliver_for_ever, perform_late_commands)]
        on_ready()  # the socket listens already
        yield
        for worker in workers:
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

    app = create_api(lifespan=lifespan)
    app.state.service = service
    return Middleware(app, service)


def create_api(**options: Any) -> ContractApi:
    """The routes of the contract with their document, and beside them the controls and the page."""
    app = ContractApi(**options)
    for part in (order_routes, asn_routes, label_routes, webhook_routes):
        app.include_router(part)
    for part in (control.routes, page.routes):
        app.include_router(part, include_in_schema=False)
    failures: dict[Any, Any] = {
        Refused: _refused,
        RequestValidationError: _malformed,
        HTTPException: _not_served,
        Exception: _unexpected,
    }
    for kind, answer in failures.items():
        app.add_exception_handler(kind, answer)
    return app


async def _refused(request: Request, error: Exception) -> JSONResponse:
    switches, status = service_of(request).switches, getattr(error, "status_code", 400)
    if isinstance(error, UnknownOrder):
        status = switches.unknown_order_status
    if switches.asn_errors == "detail" and request.url.path == ASN_PATH:
        return JSONResponse({"detail": getattr(error, "message", "")}, status_code=status)
    return failed(getattr(error, "message", ""), status=status)


async def _malformed(_request: Request, _error: Exception) -> JSONResponse:
    return failed("Malformed data", status=400)


async def _not_served(request: Request, error: Exception) -> JSONResponse:
    reply = failed(getattr(error, "detail", ""), status=getattr(error, "status_code", 404))
    methods = allowed_methods(request.url.path)
    if methods:
        reply.headers["Allow"] = ", ".join(methods)
    return reply


async def _unexpected(_request: Request, _error: Exception) -> JSONResponse:
    return failed(UNEXPECTED, status=500)


HOST = "127.0.0.1"
DEMO_KEY = "sandbox-key"
USERNAME = "warehouse"


def serve(
    *,
    port: int = 0,
    data: Path | None = None,
    api_keys: tuple[str, ...] = (),
    journal: Path | None = None,
    faults: Path | None = None,
    sftp_port: int | None = None,
    sftp_root: Path | None = None,
    ready_file: Path | None = None,
    switches: Switches | None = None,
    sftp_public_key: str = "",
) -> None:
    """Serve until SIGTERM or SIGINT; ValueError: the fault plan is wrong, OSError: a port or folder is not to be had.

    Every one of `api_keys` opens the service; without them `DEMO_KEY` alone does. Without `data` everything lives in a
    temporary folder that is removed at the end. When the ports listen, one JSON line goes to standard output, and whole
    into `ready_file`: ``{"url", "sftp"}``, the latter null or with ``host``, ``port``, ``username``, ``password``,
    ``host_key`` and ``root``.
    """
    keys = api_keys or (DEMO_KEY,)
    plan = read_faults(faults) if faults else FaultPlan()
    with ExitStack() as stack:
        folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="logistics-sandbox-")))
        folder.mkdir(parents=True, exist_ok=True)
        stack.enter_context(_only_here(folder))
        files = None
        if sftp_port is not None:
            files = SftpService(
                port=sftp_port,
                root=sftp_root or folder / "sftp",
                account=SftpAccount(USERNAME, _kept_secret(folder / "sftp-password"), sftp_public_key),
                host_key=_kept_secret(folder / "sftp-host-key", new_host_key),
            )
            files.start()
            stack.callback(files.close)
        book = Journal(journal or folder / "journal.jsonl", secrets=keys)
        stack.callback(book.close)
        store = Store(folder / "sandbox.db", journal=book)
        stack.callback(store.close)
        service = Service(
            store=store,
            journal=book,
            api_keys=keys,
            link_secret=_kept_secret(folder / "link-secret").encode(),
            switches=switches or Switches(),
            plan=plan,
        )
        listener = stack.enter_context(socket.create_server((HOST, port), backlog=2048))
        said = {"url": f"http://{HOST}:{listener.getsockname()[1]}", "sftp": files.describe() if files else None}
        _run(service, listener, lambda: _say(said, ready_file, keys))


@contextmanager
def _only_here(folder: Path) -> Iterator[None]:
    """Keep a second sandbox off the same data; the kernel lets go when this process ends, however it ends."""
    with (folder / "lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(f"another sandbox runs on {folder}") from None
        yield


def _kept_secret(path: Path, make: Callable[[], str] = secrets.token_urlsafe) -> str:
    """A secret of this sandbox, made on first use and kept in `path`."""
    if not path.exists():
        _write_private(path, make())
    return path.read_text(encoding="utf-8")


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    beside = path.with_name(path.name + ".part")
    beside.touch(mode=0o600)
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _run(service: Service, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    config = uvicorn.Config(
        create_app(service, on_ready),
        http=_Protocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    if threading.current_thread() is threading.main_thread():
        # uvicorn raises the signal again when it is done: it shall find nothing left to do
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
    uvicorn.Server(config).run(sockets=[listener])


class _Protocol(HttpToolsProtocol):
    """Puts the connection's transport into the state of its requests, so that a fault can break it."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # head and body of an answer are two writes: without this the second waits 40 ms for an acknowledgement
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.app_state = {**self.app_state, "transport": transport}


def _say(said: dict[str, Any], ready_file: Path | None, keys: tuple[str, ...]) -> None:
    line = json.dumps(said) + "\n"
    if ready_file:
        _write_private(ready_file, line)
    sys.stdout.write(line)
    sys.stdout.flush()
    if sys.stderr.isatty():
        sys.stderr.write(_greeting(said, keys))


def _greeting(said: dict[str, Any], keys: tuple[str, ...]) -> str:
    """Where everything is; keys that somebody chose are not repeated."""
    url, sftp = said["url"], said["sftp"]
    key = DEMO_KEY if keys == (DEMO_KEY,) else "as given" if len(keys) == 1 else f"any of the {len(keys)} given"
    lines = [("Service", f"{url}   (API_KEY: {key})"), ("Status page", f"{url}/_sandbox/")]
    lines.append(("API", f"{url}/openapi.json"))
    if sftp:
        lines.append(("SFTP", f"sftp -P {sftp['port']} {sftp['username']}@{sftp['host']}   (folder: {sftp['root']})"))
    text = "".join(f"  {name:<12} {where}\n" for name, where in lines)
    return f"The sandbox listens, on this machine only. Ctrl-C stops it.\n{text}"


def read_keys(given: Iterable[str], file: Path | None) -> tuple[str, ...]:
    """The keys given, and those in a file, one a line; ValueError when that file holds none."""
    keys = [key for key in given if key]
    if file is not None:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
        if not any(lines):
            raise ValueError(f"{file} holds no key")
        keys += filter(None, lines)
    return tuple(dict.fromkeys(keys))


def read_switches(given: Iterable[str]) -> Switches:
    """Switches from ``NAME=VALUE`` texts; ValueError says which is wrong."""
    changes = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--switch {text}: NAME=VALUE is expected")
        changes[name.strip()] = value
    return Switches().changed(changes)


def read_faults(file: Path) -> FaultPlan:
    """The plan in a file; ValueError names the file, the number of the rule, and what is wrong with it."""
    try:
        return read_plan(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def reason(error: OSError | ValueError) -> str:
    """Why the sandbox cannot start, without a number of the system."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error).rstrip(".")
