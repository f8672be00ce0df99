"""The searches: worlds in which the protocol must hold, designs that must fail, and assumptions that are needed."""

from dataclasses import dataclass
from typing import Any

from protocol_model.states import Broken, World

_SLEEPER = World(
    "an ASN, its sender asleep just before the first byte",
    kind="asn",
    lock="session",
    resend_asns=True,
    sleeps_after_look=True,
    pauses=1,
    crashes=0,
    faults=0,
    decisions=0,
)

_COPIED = World(
    "an order cancelled by hand, its ledger restored from a copy, uniqueness verified",
    readable=False,
    verified=True,
    restores=1,
    cancels=1,
    cancels_elsewhere=False,
    faults=1,
    crashes=1,
    workers=1,
)

_SENDERS = World("an order, two senders", lock="session", helpers=1, faults=1, crashes=1)
_ASN_SENDERS = _SENDERS._replace(name="an ASN, two senders", kind="asn", resend_asns=True)
_SLEEPING = {"pauses": 1, "crashes": 0}

WORLDS = (
    World("an order, its answers lost, late and wrong", faults=2, crashes=1),
    World("an order that may be cancelled at any time", cancels=1, faults=1, crashes=1, decisions=2),
    World("an order that cannot be found by its reference", readable=False, cancels=1, faults=1, decisions=2),
    World("an order that is refused now and taken later", refusals=1, faults=1, crashes=1),
    World("an order under a reference that others use", foreign="X", faults=1, crashes=1),
    World("an order, its sender suspended", pauses=1, faults=1, crashes=1),
    World("an order, its sender suspended and its session lost", lock="session", pauses=1, faults=1, crashes=0),
    World("an order whose answer finds no room in the ledger", full_ledgers=1, faults=1, crashes=2),
    World("an order that is refused and retried", refusals=1, retries=1, faults=1),
    World("an order, dropped again and corrected", contents="AB", arrivals=2, faults=1, crashes=0, workers=1),
    World("an order, its ledger restored from a copy", restores=1, faults=1, crashes=1, workers=1, decisions=2),
    _COPIED,
    World("an order in doubt that a person sends again", informed=False, readable=False, faults=1, decisions=2),
    World("the same, the service repeats its first answer", informed=False, readable=False, duplicate="replay"),
    World("the same, the service answers a second create with 500", informed=False, readable=False, duplicate="error"),
    World("an order, uniqueness verified by test orders", readable=False, verified=True, faults=2),
    World(
        "an order, uniqueness verified, first answer repeated",
        readable=False,
        verified=True,
        duplicate="replay",
    ),
    World("an order of others, its first answer repeated", duplicate="replay", foreign="X", faults=1, crashes=1),
    World(
        "an order whose first version is dropped unseen, its first answer repeated",
        contents="AB",
        arrivals=2,
        duplicate="replay",
        readable=False,
        informed=False,
        workers=1,
        faults=1,
    ),
    World("an ASN", kind="asn", faults=2, crashes=1),
    World("an ASN, its sender suspended", kind="asn", pauses=1, faults=1, crashes=1),
    _SLEEPER,
    World("an ASN that may be sent again after absence", kind="asn", resend_asns=True, faults=2, crashes=1),
    World("an ASN like one that others entered", kind="asn", foreign="A", faults=1, crashes=1),
    World("an ASN on a page that is not shown", kind="asn", hidden_page=True, resend_asns=True, faults=1),
    World("an ASN before any is known", kind="asn", known_asn=False, blind=True, resend_asns=True, faults=1),
    World("an ASN that no search shows", kind="asn", blind=True, resend_asns=True, faults=1),
    World("an ASN, dropped again and corrected", kind="asn", contents="AB", arrivals=2, faults=1, crashes=0),
    World(
        "an ASN whose answer finds no room in the ledger",
        kind="asn",
        resend_asns=True,
        full_ledgers=1,
        faults=1,
        crashes=2,
    ),
    World("an ASN that is refused and retried", kind="asn", refusals=1, retries=1, faults=1),
    World("an ASN, its ledger restored from a copy", kind="asn", restores=1, faults=1, crashes=1, workers=1),
    _SENDERS,
    _SENDERS._replace(name="an order, two senders, one suspended or cut off", **_SLEEPING),
    _SENDERS._replace(name="an order, two senders that need no lease to claim", guarded=False, **_SLEEPING),
    _ASN_SENDERS,
    _ASN_SENDERS._replace(name="an ASN, two senders, one suspended or cut off", **_SLEEPING),
    _ASN_SENDERS._replace(name="an ASN, two senders that need no lease to claim", guarded=False, **_SLEEPING),
)

# Larger ones, for the campaign.
LARGE_WORLDS = (
    World(
        "an order, dropped again and corrected, and a death", contents="AB", arrivals=2, faults=1, crashes=1, workers=1
    ),
    World("an ASN, its sender suspended and its session lost", kind="asn", lock="session", pauses=1, crashes=0),
    World(
        "an order in two versions, refused and retried",
        contents="AB",
        arrivals=2,
        refusals=1,
        retries=1,
        faults=1,
        workers=1,
    ),
    World("an order, no room in the ledger and its session lost", lock="session", full_ledgers=1, pauses=1, crashes=0),
    World("an order in doubt, corrected, that nobody can look up", contents="AB", arrivals=2, readable=False, faults=1),
    World("a reference used again after a cancellation", contents="AB", arrivals=2, cancels=1, workers=1, decisions=2),
    World("an order, three faults and two deaths", faults=3, crashes=2, decisions=2),
    World("an order, everything once", arrivals=2, pauses=1, cancels=1, refusals=1, faults=1, decisions=2),
    World("an order, session lost, refused once", lock="session", pauses=1, faults=1, refusals=1),
    World("an order in three versions", contents="AB", arrivals=3, faults=1, crashes=1),
    World("a reference used again, two workers", contents="AB", arrivals=2, cancels=1, faults=1, decisions=2),
    World("an ASN, three faults and two deaths", kind="asn", resend_asns=True, faults=3, crashes=2, decisions=2),
    World("an ASN in two versions", kind="asn", contents="AB", arrivals=2, faults=1, crashes=1),
    World("an ASN, session lost, two deaths", kind="asn", lock="session", pauses=1, faults=1),
    _SENDERS._replace(name="an order, three senders", workers=3, helpers=2, pauses=1),
    _ASN_SENDERS._replace(name="an ASN, three senders, two deaths", workers=3, helpers=2, crashes=2),
    _SENDERS._replace(name="an order in two versions, two senders", contents="AB", arrivals=2, pauses=1),
)


@dataclass(frozen=True, slots=True)
class BrokenDesign:
    """A world with a wrong design in it, and the promise that it must break."""

    world: World
    breaks: str


def _asn(broken: Broken, **changes: Any) -> World:
    return World(str(broken), kind="asn", broken=broken)._replace(**changes)


def _order(broken: Broken, **changes: Any) -> World:
    return World(str(broken), broken=broken)._replace(**changes)


BROKEN_DESIGNS = (
    BrokenDesign(_order(Broken.ERROR_IS_REFUSAL), "refused_is_true"),
    BrokenDesign(_order(Broken.FAIL_IS_ACCEPTANCE), "accepted_has_proof"),
    BrokenDesign(_asn(Broken.RETRY_AFTER_TIMEOUT), "every_doubt_is_listed"),
    BrokenDesign(_asn(Broken.RETRY_IN_TRANSPORT), "asn_never_twice"),
    BrokenDesign(_asn(Broken.BYTES_BEFORE_INTENT), "intent_before_bytes"),
    BrokenDesign(_asn(Broken.NO_AGE_CHECK, lock="session", pauses=1, faults=0, crashes=0), "asn_never_twice"),
    BrokenDesign(_asn(Broken.LOCK_ENDS_IN_PAUSE, pauses=1), "one_sender"),
    BrokenDesign(_asn(Broken.TAKE_OVER_WITHOUT_LOCK), "a_live_sender_keeps_its_document"),
    BrokenDesign(_asn(Broken.TAKEN_OVER_IS_PLANNED), "every_doubt_is_listed"),
    BrokenDesign(_order(Broken.ABSENCE_WITHOUT_CALIBRATION, readable=False, cancels=1), "order_created_once"),
    BrokenDesign(_order(Broken.SECOND_REFUSAL_COUNTS, readable=False), "refused_is_true"),
    BrokenDesign(_asn(Broken.SETTLE_AT_ONCE, resend_asns=True), "asn_never_twice"),
    BrokenDesign(_order(Broken.ANY_CONTENT_IS_OURS, foreign="X"), "accepted_has_proof"),
    BrokenDesign(_order(Broken.ACCEPTANCE_UNSEEN, duplicate="replay", foreign="X"), "accepted_has_proof"),
    BrokenDesign(_asn(Broken.DECISION_WITHOUT_CHECKS, contents="AB", arrivals=2), "asn_never_twice"),
    BrokenDesign(_asn(Broken.CORRECTION_BESIDE_DOUBT, contents="AB", arrivals=2), "asn_never_twice"),
    BrokenDesign(
        _order(Broken.CORRECTION_REPLACES_RELEASED, contents="AB", arrivals=2, readable=False), "every_doubt_is_listed"
    ),
    BrokenDesign(_asn(Broken.FIRST_PAGE_ONLY, hidden_page=True, resend_asns=True), "asn_never_twice"),
    BrokenDesign(
        _asn(Broken.ABSENCE_WITHOUT_CONTROL, known_asn=False, blind=True, resend_asns=True), "asn_never_twice"
    ),
    BrokenDesign(_SLEEPER._replace(broken=Broken.SENDER_MAY_LIVE), "asn_never_twice"),
    BrokenDesign(_SLEEPER._replace(broken=Broken.SENDER_LOOKED_FOR_LATE), "asn_never_twice"),
    BrokenDesign(_asn(Broken.NO_BASELINE, foreign="A"), "accepted_has_proof"),
    BrokenDesign(_asn(Broken.OUTCOME_OF_ANY_ATTEMPT, lock="session", pauses=1, faults=0, crashes=0), "asn_never_twice"),
    BrokenDesign(_order(Broken.TAKEN_IS_OURS, readable=False, verified=True, foreign="X"), "accepted_has_proof"),
    BrokenDesign(_order(Broken.FILE_AWAY_FIRST), "nothing_is_lost"),
    BrokenDesign(
        _asn(
            Broken.RETRY_BESIDE_OTHERS, contents="AB", arrivals=2, refusals=1, retries=1, faults=0, crashes=0, workers=1
        ),
        "asn_never_twice",
    ),
    BrokenDesign(_asn(Broken.OLD_COPY_GOES_ON, restores=1), "asn_never_twice"),
    BrokenDesign(_SENDERS._replace(broken=Broken.TAKE_OVER_UNDER_LEASE), "a_live_sender_keeps_its_document"),
    BrokenDesign(_SENDERS._replace(broken=Broken.LEASE_UNSEEN, **_SLEEPING), "no_byte_after_the_lease"),
    BrokenDesign(_order(Broken.OLD_COPY_IS_BELIEVED, restores=1), "every_doubt_is_listed"),
    BrokenDesign(_COPIED._replace(broken=Broken.DOUBT_OUTLIVES_COPY), "order_created_once"),
    BrokenDesign(_asn(Broken.RELEASE_OUTLIVES_COPY, restores=1, workers=1, decisions=1, faults=1), "asn_never_twice"),
)

# What the promises rest on: without it they fall, whatever the program does.
NEEDED_ASSUMPTIONS = (
    BrokenDesign(World("references are not unique", unique=False, readable=False), "one_live_order"),
    BrokenDesign(
        World("an effect comes after the pause", kind="asn", resend_asns=True, late_after_pause=True), "asn_never_twice"
    ),
    BrokenDesign(
        World("cancelled between a doubt and the second send", readable=False, verified=True, cancels=1),
        "order_created_once",
    ),
    BrokenDesign(
        World("others have the reference, and nobody can look", readable=False, verified=True, foreign="X"),
        "accepted_has_proof",
    ),
    BrokenDesign(_SLEEPER._replace(name="sent again by a person who trusts a sleeper", decisions=1), "asn_never_twice"),
    BrokenDesign(World("reads never show it", kind="asn", resend_asns=True, reads_lag=True), "asn_never_twice"),
    BrokenDesign(World("the disk loses what it confirmed", kind="asn", disk_lies=True), "intent_before_bytes"),
    BrokenDesign(World("the service acts and answers 401", kind="asn", acts_despite_401=True), "every_doubt_is_listed"),
    BrokenDesign(World("a proxy sends an ASN twice", kind="asn", proxy_repeats=True), "asn_never_twice"),
)
