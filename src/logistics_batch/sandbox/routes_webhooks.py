"""Webhook subscriptions over HTTP (API §4.11, §4.12)."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from logistics_batch.sandbox import contract
from logistics_batch.sandbox.events import subscribe, update_webhook
from logistics_batch.sandbox.service import json_body, passed, request_number, service_of

routes = APIRouter()


@routes.post("/webhooks/subscribe")
async def create(request: Request) -> JSONResponse:
    """Subscribe to order status updates."""
    body = await json_body(request)
    contract.check_webhook(body)
    await service_of(request).store.write(lambda change: subscribe(change, body), request=request_number(request))
    return passed("Webhook configured successfully")


@routes.put("/webhooks/update")
async def update(request: Request) -> JSONResponse:
    """Change a subscription."""
    body = await json_body(request)
    contract.check_webhook_update(body)
    await service_of(request).store.write(lambda change: update_webhook(change, body), request=request_number(request))
    return passed("Webhook updated successfully")
