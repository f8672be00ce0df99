"""Whether a “not found” is believed, and whether an order that was found is ours."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import pytest
from support.documents import stored_document

from logistics_batch.api.answers import OrderDetails
from logistics_batch.api.client import Client
from logistics_batch.api.reply import Reply
from logistics_batch.flows.orders.search import Presence, calibrate, judge_found, probe_awb
from logistics_batch.ledger import Ledger, StoredDocument

Shows = Callable[[str], dict[str, str] | str]
KNOWN = {"reference_number": "A", "awb_number": "SH-1"}


@dataclass
class Shown:
    """A client of a service that shows orders by a rule: an order for a number, or the words for its absence."""

    rule: Shows

    def call(self, endpoint: str, *, order_id: str) -> Reply:
        told = self.rule(order_id)
        status, word = (200, "SUCCESS") if isinstance(told, dict) else (404, "FAIL")
        body = json.dumps({"status": word, "message": told}).encode()
        return Reply(endpoint, status=status, content_type="application/json", body=body)


def client_of(rule: Shows) -> Client:
    return cast("Client", Shown(rule))


@pytest.fixture
def sent() -> StoredDocument:
    # Its bytes are gone by age, so that nothing but numbers can tell whose an order is.
    return stored_document(id=7, reference="A", awb_number="SH-1", body="")


@dataclass
class Accepted:
    """A ledger that knows one accepted order."""

    order: StoredDocument

    @property
    def documents(self) -> "Accepted":
        return self

    def last_accepted(self, _operation: str) -> StoredDocument:
        return self.order


def absent(number: str) -> str:
    return f"Order {number} does not exist"


def test_a_service_that_shows_what_it_has_and_denies_the_rest_alike_is_believed(sent: StoredDocument) -> None:
    client = client_of(lambda number: KNOWN if number in KNOWN.values() else absent(number))
    found = calibrate(client, cast("Ledger", Accepted(sent)))
    assert (found.valid, found.absent) == (True, "404 FAIL Order * does not exist")


def test_a_reference_that_leads_to_another_order_than_its_awb_number_is_not_believed(sent: StoredDocument) -> None:
    by_number: dict[str, dict[str, str]] = {"SH-1": KNOWN, "A": KNOWN | {"awb_number": "SH-2"}}
    client = client_of(lambda number: by_number.get(number, absent(number)))
    found = calibrate(client, cast("Ledger", Accepted(sent)))
    assert (found.valid, found.text) == (False, "reference and AWB of a known order lead to different orders")


@pytest.mark.parametrize("stable", ["another each time", "an order for every number"])
def test_unused_references_that_get_no_stable_answer_are_not_believed(sent: StoredDocument, stable: str) -> None:
    times = iter(range(100))

    def rule(number: str) -> dict[str, str] | str:
        if number in KNOWN.values() or stable == "an order for every number":
            return KNOWN
        return f"Error {next(times)}: try again"

    found = calibrate(client_of(rule), cast("Ledger", Accepted(sent)))
    assert (found.valid, found.text) == (False, "unused references do not give one stable answer")


@pytest.mark.parametrize(
    ("reference", "presence"), [("A", Presence.PRESENT), ("", Presence.PRESENT), ("B", Presence.UNKNOWN)]
)
def test_an_order_that_shows_another_reference_is_not_ours(
    sent: StoredDocument, reference: str, presence: Presence
) -> None:
    shown = OrderDetails(awb_number="SH-1", reference_number=reference)
    assert judge_found(sent, shown).presence is presence


@pytest.mark.parametrize(
    ("shown", "presence"),
    [
        (KNOWN, Presence.PRESENT),
        (KNOWN | {"reference_number": "B"}, Presence.UNKNOWN),
        ({"awb_number": "SH-1"}, Presence.UNKNOWN),  # an event named our reference, and nothing vouches for it
        (KNOWN | {"awb_number": "SH-2"}, Presence.UNKNOWN),
    ],
)
def test_an_order_to_which_an_event_led_counts_only_with_our_reference(
    sent: StoredDocument, shown: dict[str, str], presence: Presence
) -> None:
    in_doubt = replace(sent, awb_number="")
    assert probe_awb(client_of(lambda _: shown), in_doubt, "SH-1").presence is presence


def test_an_order_under_our_reference_in_other_letters_is_that_of_the_reference() -> None:
    """A service that knows no capitals shows it under ours: with other content it is somebody else's, not unknown."""
    body = {
        "reference_number": "R-1",
        "customer_mobile": "9876500001",
        "delivery_address": "1 Market Road",
        "item_details": [{"item_name": "SKU-1", "item_quantity": "1"}],
    }
    sent = stored_document(id=7, reference="R-1", body=json.dumps(body))
    shown = OrderDetails(
        reference_number="r-1",
        awb_number="SH-9",
        customer_mobile="9876500001",
        delivery_address="1 Market Road",
        items=({"item_name": "SKU-1", "item_quantity": "1"},),
    )
    found = judge_found(sent, shown)
    assert (found.presence, found.awb_number, found.named) == (Presence.PRESENT, "SH-9", False)
    others = replace(shown, customer_mobile="9000000000")
    assert judge_found(sent, others).presence is Presence.FOREIGN
