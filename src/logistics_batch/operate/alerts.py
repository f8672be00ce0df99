"""Sending an alert to an address; the only door to Apprise, which is imported when there is an address."""

import logging
from collections.abc import Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from logistics_batch.errors import SettingsError

_MISSING = "pip install 'logistics-batch[alerts]'"
_TIMEOUT_SECONDS = 20.0


class Gravity(StrEnum):
    """How grave a message is, in Apprise's words: receivers colour, sort and ring by it."""

    INFO = "info"
    SUCCESS = "success"
    WARNING = "warning"
    FAILURE = "failure"


class Address:
    """Where alerts go; its URL holds secrets and is never shown.

    digest tells it from others; shown is what a log may say of it: its kind and host.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.digest = sha256(url.encode()).hexdigest()[:12]
        parts = urlsplit(url)
        host = parts.hostname if parts.scheme in ("json", "jsons", "xml", "xmls", "mailto", "mailtos") else ""
        self.shown = f"{parts.scheme}://{host or '…'}"

    def send(self, title: str, body: str, gravity: Gravity = Gravity.INFO) -> bool:
        """Send one message; False if it did not arrive.

        Raises SettingsError as `open` does.
        """
        return bool(
            self.open().notify(body, title, notify_type=gravity.value, body_format="text", timeout=_TIMEOUT_SECONDS)
        )

    def open(self) -> Any:
        """The address as Apprise knows it.

        Raises SettingsError if Apprise is not installed or does not know such addresses.
        """
        try:
            from apprise import Apprise, AppriseAsset
        except ImportError as error:
            raise SettingsError(
                "[notify] needs the extra “alerts”, which is not installed.", remedy=_MISSING
            ) from error
        for name in ("apprise", "requests", "urllib3"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # they write whole URLs
        opened = Apprise(asset=AppriseAsset(http_redirects=False))
        if not opened.add(self._url):
            raise SettingsError(
                f"notify.urls: {self.shown} is no address that Apprise knows.",
                remedy="Write it as the service's page of Apprise's documentation shows.",
            )
        return opened


def addresses(urls: Sequence[str]) -> list[Address]:
    """Every address once."""
    return [Address(url) for url in dict.fromkeys(urls)]
