"""People are told: once, together, again until it arrives, and that it is over; over real HTTP."""

import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.event_receiver import Receiver, receiving

from logistics_batch.errors import SettingsError
from logistics_batch.ledger import Ledger, NewNotice, open_ledger
from logistics_batch.operate.alerts import AlertAddress, Teller, addresses

NOW = datetime(2026, 11, 3, 21, 15, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", account="https://api.example.com")
    yield opened
    opened.close()


@pytest.fixture
def people() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def url(receiver: Receiver) -> str:
    return f"json://{receiver.url.removeprefix('http://')}"


def nobody() -> str:
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"json://127.0.0.1:{probe.getsockname()[1]}/?cto=1"


def teller(ledger: Ledger, *urls: str) -> Teller:
    return Teller(ledger, addresses(urls), "night-shift")


def notice(ledger: Ledger, key: str = "k", *, wanted: bool = True) -> None:
    new = NewNotice(
        key, "on_failure", "orders", f"orders failed ({key})", "The server is down.\nWhat to do: wait.", "", wanted
    )
    ledger.notices.note(new, now=NOW.isoformat())


def test_a_notice_is_told_once_and_its_end_once(ledger: Ledger, people: Receiver) -> None:
    notice(ledger)
    told = teller(ledger, url(people))
    assert told.tell(NOW).arrived == 1
    message = people.next()[1]
    assert message["title"] == "[night-shift] orders failed (k)"
    assert "The server is down.\nWhat to do: wait." in message["message"]
    notice(ledger)  # seen again at the next run
    assert told.tell(NOW).arrived == 0
    ledger.notices.over("k", "orders ran again.", now=NOW.isoformat())
    assert told.tell(NOW).arrived == 1
    assert people.next()[1]["message"] == "Over: orders failed (k)\norders ran again."
    assert told.tell(NOW).arrived == 0


def test_what_happens_together_is_one_message(ledger: Ledger, people: Receiver) -> None:
    for number in range(30):
        notice(ledger, f"job-{number}")
    teller(ledger, url(people)).tell(NOW)
    message = people.next()[1]
    assert message["title"].startswith("[night-shift] 30 messages: orders failed (job-0)")
    assert "… and 10 more" in message["message"]
    assert people.events.empty()


def test_what_does_not_arrive_is_kept_and_tried_again_later(ledger: Ledger, people: Receiver) -> None:
    notice(ledger)
    refusing = [503, 503]
    people.answer = lambda _number: refusing.pop() if refusing else 200
    told = teller(ledger, url(people))
    first = told.tell(NOW)
    assert (first.arrived, first.failed, first.owed) == (0, (f"json://{told.to[0].shown[7:]}",), 1)
    assert told.tell(NOW + timedelta(seconds=30)).failed == (), "not at once"
    assert told.tell(NOW + timedelta(minutes=1)).failed != ()
    assert told.tell(NOW + timedelta(minutes=3)).arrived == 1
    assert told.tell(NOW + timedelta(hours=9)).arrived == 0
    assert people.take(3)[2]["title"] == "[night-shift] orders failed (k)"


def test_an_address_that_was_told_is_not_told_again_for_the_sake_of_another(ledger: Ledger, people: Receiver) -> None:
    notice(ledger)
    told = teller(ledger, url(people), nobody())
    assert told.tell(NOW).arrived == 1
    assert told.tell(NOW + timedelta(hours=2)).arrived == 0
    assert len(people.take(1)) == 1
    assert people.events.empty()


def test_what_was_over_before_it_could_be_told_is_one_message(ledger: Ledger, people: Receiver) -> None:
    notice(ledger)
    ledger.notices.over("k", "orders ran again.", now=NOW.isoformat())
    teller(ledger, url(people)).tell(NOW)
    text = people.next()[1]["message"]
    assert "The server is down." in text
    assert "Over since 2026-11-03 21:15+00:00: orders ran again." in text


def test_a_new_address_does_not_hear_of_old_stories(ledger: Ledger, people: Receiver) -> None:
    notice(ledger)
    teller(ledger, url(people)).tell(NOW)
    people.next()
    assert teller(ledger, url(people), nobody()).tell(NOW + timedelta(days=1)).failed == ()


def test_what_was_noticed_while_nobody_was_to_be_told_is_not_told_later(ledger: Ledger, people: Receiver) -> None:
    notice(ledger)
    assert teller(ledger).tell(NOW).owed == 0
    assert teller(ledger, url(people)).tell(NOW + timedelta(days=90)).arrived == 0
    assert people.events.empty()


def test_what_a_job_does_not_want_told_is_not(ledger: Ledger, people: Receiver) -> None:
    notice(ledger, wanted=False)
    assert teller(ledger, url(people)).tell(NOW).arrived == 0


@pytest.mark.parametrize(
    "shown", ["slack://TOKENA/TOKENB/TOKENC", "mailto://me:secret@example.com", "nonsense://a:b@c"]
)
def test_an_address_never_shows_its_secrets(shown: str) -> None:
    address = AlertAddress(shown)
    told = f"{address.shown} {address.digest} {address!r}"
    assert not any(secret in told for secret in ("TOKEN", "secret", "me:"))


def test_an_address_that_apprise_does_not_know_is_told_without_it() -> None:
    with pytest.raises(SettingsError) as caught:
        AlertAddress("nonsense://token@host").open()
    assert "token" not in caught.value.message


def test_a_receiver_can_tell_bad_news_from_good_and_from_the_digest(ledger: Ledger, people: Receiver) -> None:
    told = teller(ledger, url(people))

    def kind_of(*notices: NewNotice) -> object:
        for each in notices:
            ledger.notices.note(each, now=NOW.isoformat())
        assert told.tell(NOW).arrived == 1
        return people.next()[1]["type"]

    digest = NewNotice("d", "digest", "", "Digest", "Nothing is open.")
    waits = NewNotice("w", "on_held", "orders", "orders: something waits", "x")
    failed = NewNotice("f", "on_failure", "orders", "orders failed", "x")
    assert kind_of(digest) == "info"
    assert kind_of(waits) == "warning"
    assert kind_of(failed, NewNotice("m", "on_missing_file", "orders", "no file came", "x")) == "failure", "the gravest"
    ledger.notices.over("f", "orders ran again.", now=NOW.isoformat())
    assert kind_of() == "success"
    ledger.notices.note(NewNotice("c", "on_failure", "", "The clock was set", "x"), now=NOW.isoformat())
    ledger.notices.over("c", "", now=NOW.isoformat())
    assert kind_of() == "failure", "what only happened is no good news for that"


def test_an_alert_goes_where_it_was_sent_and_nowhere_else(people: Receiver) -> None:
    with receiving() as stranger:
        people.answer, people.answer_headers = lambda _number: 307, {"Location": stranger.url}
        assert not AlertAddress(url(people)).send("orders failed", "3 rows wait")
        assert people.take(1)
        assert stranger.events.empty()
        assert AlertAddress(f"{url(people)}&redirect=yes").send("orders failed", "3 rows wait"), (
            "if the address says so"
        )


def test_a_failure_that_lasts_is_told_again_the_next_night(ledger: Ledger, people: Receiver) -> None:
    told = teller(ledger, url(people))

    def fails(at: datetime) -> int:
        new = NewNotice("k", "on_failure", "orders", f"orders failed for {at.date()}", "The server is down.")
        ledger.notices.note(new, now=at.isoformat(), again_if_told_before=(at - timedelta(hours=20)).isoformat())
        return told.tell(at).arrived

    assert [fails(NOW + timedelta(hours=n)) for n in (0, 1, 12, 24, 25, 48)] == [1, 0, 0, 1, 0, 1]
    last = people.take(3)[2]
    assert last["title"] == "[night-shift] orders failed for 2026-11-05"
    assert "Seen 6 times since 2026-11-03 21:15+00:00" in last["message"]
    ledger.notices.over("k", "orders ran again.", now=NOW.isoformat())
    assert told.tell(NOW + timedelta(hours=49)).arrived == 1
    assert people.next()[1]["message"].startswith("Over: orders failed for 2026-11-05")


def test_of_two_schedulers_that_start_together_one_tells(ledger: Ledger, people: Receiver) -> None:
    notice(ledger)
    arrived = []
    people.answer = lambda _number: arrived.append(teller(ledger, url(people)).tell(NOW).arrived) or 200  # type: ignore[func-returns-value]
    assert teller(ledger, url(people)).tell(NOW).arrived == 1
    assert arrived == [0], "while one is telling, the other has nothing to tell"
