"""Webhook subscriptions over HTTP (API §4.11, §4.12)."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from logistics_batch.sandbox.contract.bodies import Webhook, WebhookUpdate
from logistics_batch.sandbox.contract.document import WEBHOOKS, ContractRoute, documented
from logistics_batch.sandbox.contract.replies import Passed
from logistics_batch.sandbox.events.webhooks import subscribe, update_webhook
from logistics_batch.sandbox.service import passed, request_number, service_of

_UPDATE = {"operationId": "webhook.update", "requestBody": "$request.body"}

routes = APIRouter(route_class=ContractRoute)


@routes.post(
    "/webhooks/subscribe", **documented("webhook.subscribe", "4.11", Passed, tag=WEBHOOKS, links={"update": _UPDATE})
)
async def create(request: Request, _webhook: Webhook) -> JSONResponse:
    """Subscribe to order status updates."""
    body = await request.json()
    await service_of(request).store.write(lambda change: subscribe(change, body), request=request_number(request))
    return passed("Webhook configured successfully")


@routes.put("/webhooks/update", **documented("webhook.update", "4.12", Passed, tag=WEBHOOKS))
async def update(request: Request, _webhook: WebhookUpdate) -> JSONResponse:
    """Change a subscription, or switch it off."""
    body = await request.json()
    await service_of(request).store.write(lambda change: update_webhook(change, body), request=request_number(request))
    return passed("Webhook updated successfully")
