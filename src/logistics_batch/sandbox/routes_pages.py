"""Pages for people under ``/_sandbox/``, and the description of the API; all read only, none needs the key."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from logistics_batch.sandbox.openapi import openapi_document

routes = APIRouter()


@routes.get("/openapi.json")
@routes.get("/_sandbox/openapi.json")
async def openapi(_request: Request) -> Response:
    """The OpenAPI document."""
    return JSONResponse(openapi_document())
