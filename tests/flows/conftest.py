"""A service that tells of ASNs, and the parts that reconcile with it."""

import pytest
from flows.asn_service import AsnService
from flows.audit_room import audit_room


@pytest.fixture
def service():
    running = AsnService()
    yield running
    running.stop()


@pytest.fixture
def parts(tmp_path, service):
    with audit_room(tmp_path, url=service.url) as opened:
        yield opened
