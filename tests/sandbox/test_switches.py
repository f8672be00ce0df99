"""What the document leaves open (API §2.1, §4.1-4.3, §5, §8): every reading of it, over real HTTP."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

START = "import sys, pathlib; from logistics_batch.sandbox.serve import serve; "


@pytest.fixture
def several_keys(tmp_path: Path) -> Iterator[str]:
    """The URL of a sandbox that knows two keys, the first of which begins the second."""
    call = f"serve(api_keys=('old-key', 'old-key-2'), data=pathlib.Path({str(tmp_path)!r}))"
    with subprocess.Popen([sys.executable, "-c", START + call], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split('"')[3]
        process.terminate()


def test_every_key_opens_the_service_and_none_is_in_the_journal(several_keys: str, tmp_path: Path) -> None:
    body = {"reference_number": "R", "customer_mobile": "9876543210", "delivery_address": "old-key-2 and old-key"}
    statuses = []
    for key in ("old-key", "old-key-2", "old-key-3", ""):
        reply = httpx.post(f"{several_keys}/orders/shipment", json=body, headers={"API_KEY": key}, trust_env=False)
        statuses.append(reply.status_code)
    assert statuses == [200, 400, 401, 401]
    journal = (tmp_path / "journal.jsonl").read_text()
    assert "[api key] and [api key]" in journal
    assert "old-key" not in journal
