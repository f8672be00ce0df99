"""An OpenID Connect provider on this machine: whoever comes is signed in at once, as it was told, or lied about."""

import base64
import hashlib
import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey
from support.http_answers import Asked, HttpAnswers, Told, said

CLIENT, SECRET = "pages", "the secret of the pages"


class OidcProvider:
    """claims: what its tokens say besides; spoil: changes a token's claims, header or key before it is signed."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "one"})
        self.claims: dict[str, Any] = {}
        self.header: dict[str, Any] = {"alg": "RS256", "kid": "one"}
        self.signs_with: Any = self.key
        self.codes: dict[str, dict[str, str]] = {}
        self.refused: list[str] = []
        server = HttpAnswers(self._answer)
        self.url, self.close = server.url, server.stop
        self.metadata = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
        }

    def _answer(self, asked: Asked) -> Told:
        url = urlsplit(asked.path)
        if asked.method == "POST":
            return self._exchange(asked)
        match url.path:
            case "/.well-known/openid-configuration":
                return said(200, self.metadata)
            case "/keys":
                return said(200, KeySet([self.key]).as_dict(private=False))
            case "/authorize":
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                code = f"code-{len(self.codes)}"
                self.codes[code] = query
                back = urlencode({"code": code, "state": query["state"]})
                return Told(302, content_type="", headers={"Location": f"{query['redirect_uri']}?{back}"})
        return said(404, {})

    def _exchange(self, asked: Asked) -> Told:
        """The token for a code, to whoever was given that."""
        form = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        given = self.codes.pop(form.get("code", ""), None)
        if given is None or (why := self.why_not(form, given, asked.headers.get("Authorization", ""))):
            self.refused.append("code" if given is None else why)
            return said(400, {"error": "invalid_grant"})
        return said(200, {"access_token": "x", "token_type": "Bearer", "id_token": self.token(given)})

    def why_not(self, form: dict[str, str], asked: dict[str, str], authorization: str) -> str:
        """What is wrong with a request for a token."""
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]:
            return "PKCE"
        if form.get("redirect_uri") != asked["redirect_uri"]:
            return "redirect_uri"
        wanted = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        return "" if authorization == f"Basic {wanted}" else "client"

    def token(self, asked: dict[str, str]) -> str:
        """The token for a code."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]} | self.claims
        return jwt.encode(self.header, {k: v for k, v in claims.items() if v is not None}, self.signs_with)

    def lies(self, **how: Any) -> None:
        """The next tokens have these claims; `alg` and `key` say how they are signed."""
        self.header = {"alg": how.pop("alg", "RS256"), "kid": how.pop("kid", "one")}
        self.signs_with = {"own": self.key, "other": RSAKey.generate_key(2048), "secret": OctKey.import_key(SECRET)}[
            how.pop("key", "own")
        ]
        self.claims |= how
