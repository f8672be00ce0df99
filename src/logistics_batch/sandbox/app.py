"""The service as one ASGI application: routes inside, the middleware around them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from logistics_batch.sandbox import control, page
from logistics_batch.sandbox.asns.routes import PATH as ASN_PATH
from logistics_batch.sandbox.asns.routes import routes as asn_routes
from logistics_batch.sandbox.commands import perform_late_commands
from logistics_batch.sandbox.contract.document import ContractApi
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.endpoints import allowed_methods
from logistics_batch.sandbox.events.courier import deliver_for_ever
from logistics_batch.sandbox.events.webhooks import routes as webhook_routes
from logistics_batch.sandbox.labels.routes import routes as label_routes
from logistics_batch.sandbox.middleware import Middleware
from logistics_batch.sandbox.orders.routes import routes as order_routes
from logistics_batch.sandbox.orders.stored import UnknownOrder
from logistics_batch.sandbox.service import UNEXPECTED, Service, failed, service_of


def create_app(service: Service) -> Middleware:
    """The whole service, ready for an ASGI server that puts ``transport`` into the state of each request."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        workers = [asyncio.create_task(work(service)) for work in (deliver_for_ever, perform_late_commands)]
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
