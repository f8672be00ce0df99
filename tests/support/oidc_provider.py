"""An OpenID Connect provider on this machine: whoever comes is signed in at once, as it was told, or lied about."""

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

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
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                match url.path:
                    case "/.well-known/openid-configuration":
                        self.tell(provider.metadata)
                    case "/keys":
                        self.tell(KeySet([provider.key]).as_dict(private=False))
                    case "/authorize":
                        code = f"code-{len(provider.codes)}"
                        provider.codes[code] = query
                        self.send_response(302)
                        back = urlencode({"code": code, "state": query["state"]})
                        self.send_header("Location", f"{query['redirect_uri']}?{back}")
                        self.end_headers()
                    case _:
                        self.tell({}, 404)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body).items()}
                asked = provider.codes.pop(form.get("code", ""), None)
                if asked is None or (why := provider.why_not(form, asked, self.headers.get("Authorization", ""))):
                    provider.refused.append("code" if asked is None else why)
                    self.tell({"error": "invalid_grant"}, 400)
                    return
                self.tell({"access_token": "x", "token_type": "Bearer", "id_token": provider.token(asked)})

            def tell(self, data: dict[str, Any], status: int = 200) -> None:
                body = json.dumps(data).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.metadata = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
        }
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

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

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
