"""Which paths of the sandbox answer without the key: the pages for people, which only read."""

import re

from logistics_batch.sandbox.endpoints import CONTROL

OPENAPI = "/openapi.json"
PAGES = CONTROL + "pages/"
STATIC = CONTROL + "static/"
API_PAGE = CONTROL + "api"
_OPEN = frozenset({OPENAPI, CONTROL, CONTROL + "openapi.json", CONTROL + "health", API_PAGE})


def is_control(path: str) -> bool:
    """Whether a path belongs to the sandbox itself, not to the service of the document."""
    return path.startswith(CONTROL) or path == OPENAPI


def is_open(method: str, path: str) -> bool:
    """Whether a request needs no key."""
    return method in ("GET", "HEAD") and (path in _OPEN or path.startswith((PAGES, STATIC)))


def is_local_host(host: str) -> bool:
    """Whether a Host header names this machine."""
    return re.fullmatch(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", host, re.IGNORECASE) is not None
