"""Signed links to labels: they need no key and stop working after a while (API §4.4, §8.5)."""

import hashlib
import hmac
import secrets
from pathlib import Path


def link_secret(folder: Path) -> bytes:
    """The secret that signs links, made on first use and kept in `folder`."""
    path = folder / "link-secret"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_bytes(secrets.token_bytes(32))
    return path.read_bytes()


def signature(secret: bytes, *, label_id: int, expires: int) -> str:
    """The signature of a link to this label that expires at this Unix time."""
    return hmac.new(secret, f"{label_id}:{expires}".encode(), hashlib.sha256).hexdigest()


def check_link(secret: bytes, *, label_id: int, expires: str, given: str, now: float) -> str:
    """Why a link does not open its label; "" when it does."""
    if not expires.isascii() or not expires.isdigit() or len(expires) > 12:
        return "AuthorizationQueryParametersError"
    if not hmac.compare_digest(signature(secret, label_id=label_id, expires=int(expires)).encode(), given.encode()):
        return "SignatureDoesNotMatch"
    return "" if now < int(expires) else "Request has expired"
