"""A service that tells of ASNs, and the parts that reconcile with it."""

import pytest
from flows.asn_service import AsnService
from flows.audit_room import audit_room

from logistics_batch.flows.reconcile import reconcile


@pytest.fixture
def service():
    running = AsnService()
    yield running
    running.stop()


@pytest.fixture
def papers_left_blank(monkeypatch):
    """Workbook and page take half of a reconciliation: what they show is told in tests/paper and test_reconcile.py."""
    for paper in ("reconciliation_workbook", "reconciliation_page"):
        monkeypatch.setattr(reconcile, paper, lambda account: b"")


@pytest.fixture
def page_left_blank(monkeypatch):
    """For tests that look at the workbook."""
    monkeypatch.setattr(reconcile, "reconciliation_page", lambda account: b"")


@pytest.fixture
def parts(tmp_path, service):
    with audit_room(tmp_path, url=service.url) as opened:
        yield opened
