"""The service as one ASGI application: routes inside, the gate around them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from logistics_batch.sandbox import (
    routes_asns,
    routes_control,
    routes_labels,
    routes_orders,
    routes_pages,
    routes_warehouse,
    routes_webhooks,
)
from logistics_batch.sandbox.acts import perform_late_acts
from logistics_batch.sandbox.endpoints import allowed_methods
from logistics_batch.sandbox.events_courier import deliver_for_ever
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.gate import Gate
from logistics_batch.sandbox.orders import UnknownOrder
from logistics_batch.sandbox.service import UNEXPECTED, Service, failed, service_of
from logistics_batch.sandbox.simulator import drive_for_ever


def create_app(service: Service) -> Gate:
    """The whole service, ready for an ASGI server that puts ``transport`` into the state of each request."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        workers = [asyncio.create_task(work(service)) for work in (deliver_for_ever, drive_for_ever, perform_late_acts)]
        yield
        for worker in workers:
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

    app = FastAPI(
        title="Logistics service (sandbox)",
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.state.service = service
    for part in (
        routes_orders,
        routes_asns,
        routes_labels,
        routes_webhooks,
        routes_warehouse,
        routes_control,
        routes_pages,
    ):
        app.include_router(part.routes)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _not_served)
    app.add_exception_handler(Exception, _unexpected)
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
