"""Signed links to labels: they need no key and stop working after a while (API §4.4, §8.5)."""

import hashlib
import hmac
from xml.sax.saxutils import escape

EXPIRED = "Request has expired"


def signature(secret: bytes, *, label_id: int, expires: int) -> str:
    """The signature of a link to this label that expires at this Unix time."""
    return hmac.new(secret, f"{label_id}:{expires}".encode(), hashlib.sha256).hexdigest()


def check_link(secret: bytes, *, label_id: int, expires: str, given: str, now: float) -> str:
    """Why a link does not open its label; "" when it does."""
    if not expires.isascii() or not expires.isdigit() or len(expires) > 12:
        return "AuthorizationQueryParametersError"
    if not hmac.compare_digest(signature(secret, label_id=label_id, expires=int(expires)).encode(), given.encode()):
        return "SignatureDoesNotMatch"
    return "" if now < int(expires) else EXPIRED


def denial(message: str, *, code: str = "AccessDenied") -> str:
    """The XML page that file stores answer with when a link does not work."""
    parts = f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
    return f"<?xml version='1.0' encoding='UTF-8'?><Error>{parts}</Error>"
