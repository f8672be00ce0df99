"""What every route of the sandbox needs, and how it reads a body and answers."""

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from fastapi import Request
from starlette.responses import JSONResponse

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.forms import MALFORMED, Refused
from logistics_batch.sandbox.faults.plan import FaultPlan
from logistics_batch.sandbox.journal import Journal
from logistics_batch.sandbox.store import Store
from logistics_batch.sandbox.switches import Switches

UNEXPECTED = "Unexpected error"
_NUMBER_IN_TEXT = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,6})?", re.ASCII)
NO_JSON = "Malformed data: Content-Type application/json is expected"


@dataclass
class Service:
    """The parts of a running sandbox; `plan` and `switches` can be exchanged while it runs.

    All of `api_keys` belong to one customer: an old and a new one while keys are exchanged (API §5.5).
    """

    store: Store
    journal: Journal
    api_keys: tuple[str, ...]
    link_secret: bytes
    switches: Switches
    plan: FaultPlan


def service_of(request: Request) -> Service:
    """The service that this request came to."""
    service: Service = request.app.state.service
    return service


def request_number(request: Request) -> int | None:
    """The number of this request in the journal: the ``seq`` of its ``received`` line."""
    return getattr(request.state, "request_number", None)


async def json_body(request: Request) -> Body:
    """The body as an object; UTF-8, no duplicate keys, no NaN, no broken text (API §1: bodies are JSON)."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise Refused(NO_JSON)
    try:
        content = await request.body()
        text = content.decode("utf-8")  # json.loads would take UTF-16 too
        body = json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_refuse)
        if b"\\u" in content:
            json.dumps(body, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except (ValueError, RecursionError):
        raise Refused(MALFORMED) from None
    if not isinstance(body, dict):
        raise Refused(MALFORMED)
    return body


def answered(request: Request, content: Any) -> JSONResponse:
    """200 with this body; its types are exchanged while the switch ``numbers_for_strings`` is on."""
    switches = service_of(request).switches
    return JSONResponse(exchanged_types(content) if switches.numbers_for_strings else content)


def exchanged_types(content: Any) -> Any:
    """The same with numbers and booleans where strings hold them, and strings in place of numbers and booleans.

    >>> exchanged_types({"status": "PASS", "cod": "59.00", "is_cod": "true", "id": 7, "pin": "011001"})
    {'status': 'PASS', 'cod': 59.0, 'is_cod': True, 'id': '7', 'pin': '011001'}
    """
    if isinstance(content, dict):
        return {name: exchanged_types(value) for name, value in content.items()}
    if isinstance(content, list):
        return [exchanged_types(value) for value in content]
    if isinstance(content, str):
        is_word = content in ("true", "false") or _NUMBER_IN_TEXT.fullmatch(content)
        return json.loads(content) if is_word else content
    return content if content is None else json.dumps(content)


def passed(request: Request, message: Any) -> JSONResponse:
    """200 with the usual envelope (API §1)."""
    return answered(request, {"status": "PASS", "message": message})


def failed(message: str, *, status: int) -> JSONResponse:
    """The FAIL envelope (API §7)."""
    return JSONResponse({"status": "FAIL", "message": message}, status_code=status)


def _without_doubles(pairs: list[tuple[str, Any]]) -> Body:
    body = dict(pairs)
    if len(body) != len(pairs):
        raise ValueError("a key stands twice")
    return body


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
