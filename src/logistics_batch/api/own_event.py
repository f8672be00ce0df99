"""Sends one event to our own receiver by the address that the service would use, as the service would."""

from collections.abc import Mapping

import httpx

from logistics_batch.api.transport import verifying

_SECONDS = 15.0


def send_event(url: str, body: bytes, *, headers: Mapping[str, str], ca_file: str | None = None) -> int | str:
    """The status of the answer, or in words why there is none; nothing of the environment plays a part.

    Raises SettingsError if the file of certificate authorities cannot be used.
    """
    with httpx.Client(verify=verifying(ca_file), trust_env=False, timeout=_SECONDS) as client:
        try:
            sent = dict(headers) | {"Content-Type": "application/json"}
            return client.post(url, content=body, headers=sent, follow_redirects=False).status_code
        except httpx.TimeoutException:
            return f"no answer within {_SECONDS:g} s"
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return " ".join(str(error).split()) or type(error).__name__
