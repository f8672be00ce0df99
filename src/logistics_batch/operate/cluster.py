"""The programs that share a ledger on PostgreSQL: who sends, who keeps the schedule, and what is wrong among them."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import ClusterMember
from logistics_batch.messages import moment
from logistics_batch.operate.doctor import Check, ok, problem, warning

CLOCKS_APART_SECONDS = 1.0
_WAITS_LONG = timedelta(hours=1)
_ONLY_HERE = ("local", "remote_write")  # values of synchronous_commit, with which a standby may lack the last commits


def shown(member: ClusterMember) -> dict[str, Any]:
    """What is told of a program that shares the ledger."""
    does = f"sends run {member.run}" if member.run else "keeps the schedule" if member.keeps_schedule else "helps"
    if member.silent_seconds:
        does += f"; not heard of for {timedelta(seconds=round(member.silent_seconds))}"
    return {
        "host": member.host,
        "pid": member.pid,
        "does": does,
        "lanes": member.lanes,
        "version": member.version,
        "clock_ahead_seconds": member.clock_ahead_seconds,
    }


def check_cluster(parts: Parts) -> Iterator[Check]:
    """Whether those who share the ledger fit together, and its server keeps what it confirms; nothing with SQLite."""
    if not parts.ledger.lanes.are_shared:
        return
    members = parts.ledger.lanes.members()
    living = [each for each in members if not each.silent_seconds]
    yield ok("cluster", "; ".join(map(_who, living)) or "no program sends or keeps the schedule now")
    yield from _odd_ones(members, living)
    yield _durability(parts)
    yield _oldest(parts)


def _who(member: ClusterMember) -> str:
    return f"{member.host} (process {member.pid}) {shown(member)['does']}"


def _odd_ones(members: Sequence[ClusterMember], living: Sequence[ClusterMember]) -> Iterator[Check]:
    versions: dict[str, list[str]] = {}
    for each in living:
        versions.setdefault(each.version or "unknown", []).append(each.host)
    if len(versions) > 1:
        named = ", ".join(f"{version} on {', '.join(dict.fromkeys(hosts))}" for version, hosts in versions.items())
        yield warning("cluster, versions", f"They differ: {named}.", "Install the same version on all machines.")
    for each in members:
        ahead = each.clock_ahead_seconds
        if each.silent_seconds:
            text = f"{_who(each)}: it ended without a word. Others went on with what it did."
            yield warning("cluster", text, "See whether its machine runs, and start it again there.")
        elif abs(ahead) > CLOCKS_APART_SECONDS:
            way = "ahead of" if ahead > 0 else "behind"
            text = f"The clock of {each.host} is {abs(ahead):.1f} s {way} that of PostgreSQL."
            yield warning("cluster, clocks", text, "Set it right (NTP).")


def _durability(parts: Parts) -> Check:
    name, found = "cluster, commits", parts.ledger.itself.settings_of_server()
    if found["fsync"] == "off":
        text = "PostgreSQL confirms what no disk has (fsync = off): a power cut loses what was sent."
        return problem(name, text, "Set fsync = on.")
    level = found["synchronous_commit"]
    if found["synchronous_standby_names"] and level in _ONLY_HERE:
        text = f"A standby may lack what was confirmed (synchronous_commit = {level}), and a failover would lose it."
        return warning(name, text, "Set synchronous_commit = on for the role or the database of the ledger.")
    return ok(name, f"are durable once confirmed (synchronous_commit = {level})")


def _oldest(parts: Parts) -> Check:
    """What waits the longest: a planned time whose run has not ended, or a doubt."""
    waits = [(each.claimed_at, f"{each.job} for {each.slot}") for each in parts.ledger.slots.under_way()]
    waits += [(each.doubt_since, f"{each.reference}, in doubt") for each in parts.ledger.attempts.in_doubt()[:1]]
    if not waits:
        return ok("cluster, waiting", "no run is under way, and nothing is in doubt")
    since, what = min(waits, key=lambda each: datetime.fromisoformat(each[0]))
    text = f"{what}, since {moment(since)}"
    if parts.clock.now() - datetime.fromisoformat(since) < _WAITS_LONG:
        return ok("cluster, waiting", f"the longest: {text}")
    remedy = "`logistics-batch cluster status` shows who works, `runs` what was tried."
    return warning("cluster, waiting", f"The longest: {text}.", remedy)
