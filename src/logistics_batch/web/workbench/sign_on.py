"""Signing in with an account of the organisation: OpenID Connect, by a code with PKCE, from one provider.

What the provider says counts only in a token that it signed for these pages, for this try, in this browser.
"""

import base64
import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr

from logistics_batch.errors import SettingsError, UsageError
from logistics_batch.web.workbench.people import FOR_ALL, AccessGrant, Identity, NotVouched, Role

HOLDS: Final = timedelta(minutes=10)
_MOST_PENDING, _MOST_BYTES, _SECONDS = 1000, 1 << 20, 10.0
_METADATA_HOLDS: Final = timedelta(hours=1)
_LEEWAY_SECONDS: Final = 60
EVERY_PARTNER: Final = "*"
_ALGORITHMS: Final = ["RS256", "PS256", "ES256", "EdDSA", "RS384", "PS384", "ES384", "RS512", "PS512", "ES512"]


@dataclass(frozen=True)
class Provider:
    """Who vouches for people. issuer: its address, without a slash at its end. client_id, client_secret: as what it
    knows these pages.

    name_claim: what a person is called here. roles_claim: what they belong to; roles: which role each of that has here.
    partners_claim: the partners to whom they are limited, "" where nobody is.
    label: what the provider is called on the page.
    """

    issuer: str
    client_id: str
    client_secret: SecretStr | None
    name_claim: str
    roles_claim: str
    roles: Mapping[str, Role]
    partners_claim: str
    label: str


@dataclass(frozen=True)
class _Try:
    state: str
    nonce: str
    verifier: str
    to: str
    callback: str
    at: datetime


@dataclass
class SignOn:
    """The provider, and who is on the way there."""

    provider: Provider
    now: Callable[[], datetime]
    _tries: dict[str, _Try] = field(default_factory=dict)
    _metadata: tuple[datetime, Mapping[str, Any]] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, *, to: str, callback: str) -> tuple[str, str]:
        """The provider's address for signing in, and the secret that the browser keeps until it comes back.

        to: the page that is wanted then. callback: our address to which it comes back. Raises NotVouched.
        """
        found = self._found()
        state, nonce, verifier, secret = (secrets.token_urlsafe(32) for _ in range(4))
        new = _Try(state, nonce, verifier, to, callback, self.now())
        digest = hashlib.sha256(new.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": callback,
            "scope": "openid profile email",
            "state": new.state,
            "nonce": new.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        with self._lock:
            self._tries[secret] = new
            while len(self._tries) > _MOST_PENDING:
                del self._tries[next(iter(self._tries))]
        address = str(found["authorization_endpoint"])
        return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}", secret

    def finish(self, secret: str, query: Mapping[str, str]) -> tuple[Identity, str]:
        """For whom the provider vouches, and the page that was wanted. Each secret counts once.

        Raises UsageError where the person has to begin again, NotVouched.
        """
        with self._lock:
            begun = self._tries.pop(secret, None)
        if begun is None or self.now() - begun.at > HOLDS:
            raise UsageError("Signing in took too long, or was begun in another browser.", remedy="Sign in again.")
        if not hmac.compare_digest(query.get("state", "").encode(), begun.state.encode()):
            raise NotVouched("another state came back")
        if not (code := query.get("code", "")):
            raise NotVouched(f"no code came back: {query.get('error', '')[:60]!r}")
        return self._identity(self._token_of(code, begun), begun), begun.to

    def _found(self) -> Mapping[str, Any]:
        """Where the provider does what, as it says itself."""
        now, issuer = self.now(), self.provider.issuer
        if self._metadata is None or now - self._metadata[0] > _METADATA_HOLDS:
            found = self._asked("GET", f"{issuer}/.well-known/openid-configuration")
            if str(found.get("issuer", "")).rstrip("/") != issuer:
                raise NotVouched(f"the provider calls itself {str(found.get('issuer'))[:200]!r}")
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not is_private(str(found.get(name, ""))):
                    raise NotVouched(f"{name} is no https address")
            self._metadata = now, found
        return self._metadata[1]

    def _token_of(self, code: str, begun: _Try) -> str:
        found, provider = self._found(), self.provider
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": begun.callback,
            "client_id": provider.client_id,
            "code_verifier": begun.verifier,
        }
        auth = None
        if provider.client_secret is not None:
            ways = found.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
            if "client_secret_basic" in ways:
                auth = httpx.BasicAuth(provider.client_id, provider.client_secret.get_secret_value())
            else:
                form["client_secret"] = provider.client_secret.get_secret_value()
        told = self._asked("POST", str(found["token_endpoint"]), form=form, auth=auth)
        return str(told.get("id_token", ""))

    def _identity(self, token: str, begun: _Try) -> Identity:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        provider = self.provider
        try:
            keys = KeySet.import_key_set(self._asked("GET", str(self._found()["jwks_uri"])))  # type: ignore[arg-type]
            claims = jwt.decode(token, keys, algorithms=_ALGORITHMS).claims
            jwt.JWTClaimsRegistry(
                now=int(self.now().timestamp()),
                leeway=_LEEWAY_SECONDS,
                iss={"essential": True, "value": str(self._found()["issuer"])},
                sub={"essential": True},
                aud={"essential": True, "value": provider.client_id},
                exp={"essential": True},
                iat={"essential": True},
                nonce={"essential": True, "value": begun.nonce},
            ).validate(claims)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise NotVouched(f"its token does not hold: {type(error).__name__}") from error
        others = [each for each in _texts(claims["aud"]) if each != provider.client_id]
        if claims.get("azp", "" if others else provider.client_id) != provider.client_id:
            raise NotVouched("its token is for somebody else")
        if claims.get("email_verified") is False and provider.name_claim == "email":
            raise NotVouched("the provider has not verified the address")
        roles = {provider.roles[each] for each in _texts(claims.get(provider.roles_claim)) if each in provider.roles}
        role = max(roles, key=list(Role).index, default=None)
        name = claims.get(provider.name_claim)
        if not isinstance(name, str) or not name.strip():
            raise NotVouched(f"its token has no {provider.name_claim}")
        grant = self._grant(role, claims) if role else None
        return Identity(name, f"{provider.issuer} {claims['sub']}", grant, bool(provider.partners_claim))

    def _grant(self, role: Role, claims: Mapping[str, Any]) -> AccessGrant:
        """Raises UsageError: it is said for no partner, where partners are said."""
        if not (claim := self.provider.partners_claim) or role in FOR_ALL:
            return AccessGrant(role)
        named = _texts(claims.get(claim))
        if not any(named):
            raise UsageError("You are here for no partner.", remedy="Ask your admin for one, then sign in again.")
        return AccessGrant.of(role, () if EVERY_PARTNER in named else named)

    def _asked(
        self, method: str, address: str, *, form: Mapping[str, str] | None = None, auth: httpx.BasicAuth | None = None
    ) -> dict[str, Any]:
        """What the provider answers, as JSON. Raises NotVouched."""
        try:
            with (
                httpx.Client(timeout=_SECONDS, follow_redirects=False) as client,
                client.stream(method, address, data=form, auth=auth, headers={"Accept": "application/json"}) as answer,
            ):
                body = b""
                for chunk in answer.iter_bytes():
                    body += chunk
                    if len(body) > _MOST_BYTES:
                        raise NotVouched("the provider answered with more than a megabyte")
            told = json.loads(body)
        except (httpx.HTTPError, ValueError) as error:
            raise NotVouched(f"the provider could not be asked: {type(error).__name__}") from error
        if answer.status_code != httpx.codes.OK or not isinstance(told, dict):
            raise NotVouched(f"the provider answered with {answer.status_code}")
        return told


def require_library() -> None:
    """Raises SettingsError if the library that reads the provider's tokens is not installed."""
    try:
        import joserfc  # noqa: F401
    except ModuleNotFoundError as error:
        remedy = "Install the extra: pip install 'logistics-batch[oidc]'."
        raise SettingsError("web.oidc needs joserfc, which is not installed.", remedy=remedy) from error


def is_private(address: str) -> bool:
    """Whether nobody on the way can read what passes: https, or this machine itself."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
        return False
    return url.scheme == "https" or (url.scheme == "http" and url.host in ("127.0.0.1", "::1", "localhost"))


def _texts(value: object) -> list[str]:
    """One text, or several."""
    values: Iterable[object] = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, str)]
