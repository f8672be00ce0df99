"""A client on a server that a test plays."""

import contextlib
from collections.abc import Callable, Iterator

import pytest
from support.raw_servers import Play, RawServer, serving

from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import Secret
from logistics_batch.api.transport import KEPT_IDLE_SECONDS

KEY = "k3y-Canary/+7f9Q=="

Connect = Callable[..., tuple[Client, RawServer]]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Gives (client, server) for a play; settings by keyword."""
    with contextlib.ExitStack() as stack:

        def start(
            play: Play, *, prefix: str = "", kept_idle_seconds: float = KEPT_IDLE_SECONDS, **settings: object
        ) -> tuple[Client, RawServer]:
            server = stack.enter_context(serving(play))
            options = {"deadline_seconds": 5.0, "create_deadline_seconds": 5.0} | settings
            client = Client(
                ServiceAccess(base_url=server.url + prefix, api_key=Secret(KEY), **options),  # type: ignore[arg-type]
                pacer=Pacer("none"),
                kept_idle_seconds=kept_idle_seconds,
            )
            stack.callback(client.close)
            return client, server

        yield start
