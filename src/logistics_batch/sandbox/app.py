"""The service as one ASGI application: routes inside, the gate around them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from logistics_batch.sandbox import (
    page,
    routes_asns,
    routes_control,
    routes_orders,
    routes_webhooks,
)
from logistics_batch.sandbox.acts import perform_late_acts
from logistics_batch.sandbox.endpoints import allowed_methods
from logistics_batch.sandbox.events_courier import deliver_for_ever
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.gate import Gate
from logistics_batch.sandbox.labels.routes import routes as label_routes
from logistics_batch.sandbox.orders import UnknownOrder
from logistics_batch.sandbox.service import UNEXPECTED, Service, failed, service_of


def create_app(service: Service) -> Gate:
    """The whole service, ready for an ASGI server that puts ``transport`` into the state of each request."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        workers = [asyncio.create_task(work(service)) for work in (deliver_for_ever, perform_late_acts)]
        yield
        for worker in workers:
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

    failures: dict[Any, Any] = {
        Refused: _refused,
        RequestValidationError: _malformed,
        HTTPException: _not_served,
        Exception: _unexpected,
    }
    # what is called most has plain routes of its own before those of FastAPI
    app = Starlette(routes=[*routes_orders.routes, *routes_asns.routes], lifespan=lifespan, exception_handlers=failures)
    others = FastAPI(redirect_slashes=False, docs_url=None, redoc_url=None, openapi_url=None)
    for part in (label_routes, routes_webhooks.routes, routes_control.routes, page.routes):
        others.include_router(part)
    for kind, answer in failures.items():
        others.add_exception_handler(kind, answer)
    app.router.redirect_slashes = False
    app.router.default = others
    app.state.service = others.state.service = service
    return Gate(app, service)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    switches, status = service_of(request).switches, getattr(error, "status", 400)
    if isinstance(error, UnknownOrder):
        status = switches.unknown_order_status
    if switches.asn_errors == "detail" and request.url.path == routes_asns.PATH:
        return JSONResponse({"detail": str(error)}, status_code=status)
    return failed(str(error), status=status)


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
