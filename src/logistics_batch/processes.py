"""Which process wrote something, and whether it is gone: only what the kernel that it ran on says is proof.

A number alone says little: it is given again, and in containers every program may be number 1, also on hosts of the
same name.
"""

import json
import os
import socket
from functools import lru_cache
from pathlib import Path

_PROC = Path("/proc")


def this_process() -> str:
    """This very process, as it is written down: host, start of the machine, namespace of its number, number, start."""
    return _process(os.getpid())


@lru_cache(maxsize=1)
def _process(pid: int) -> str:
    return json.dumps(
        {
            "host": socket.gethostname(),
            "boot": _text(_PROC / "sys/kernel/random/boot_id"),
            "namespace": _link(_PROC / "self/ns/pid"),
            "pid": pid,
            "start": _start_of(pid),
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def is_gone(written: str) -> bool | None:
    """Whether a process is seen to be gone (True) or alive (False); None if that cannot be seen from here.

    It can be seen in the namespace that its number belongs to, as long as the machine runs. Another start of a machine
    of the same name may be another machine.
    """
    theirs, mine = json.loads(written), json.loads(this_process())
    if not mine["boot"] or not mine["namespace"]:
        return None
    if (theirs.get("boot"), theirs.get("namespace")) != (mine["boot"], mine["namespace"]):
        return None
    if not lives(theirs["pid"]):
        return True
    start = _start_of(theirs["pid"])
    return start != theirs["start"] if start and theirs["start"] else None


def host_and_number(written: str) -> tuple[str, int]:
    """Where a process ran, and its number there."""
    told = json.loads(written)
    return str(told["host"]), int(told["pid"])


def lives(pid: int) -> bool:
    """Whether a process of that number runs here, asked of the kernel: /proc may hide the processes of other users."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it belongs to somebody else
        pass
    return True


def _start_of(pid: int) -> str:
    """When a process started, in the kernel's own units; "" if that cannot be seen."""
    if _link(_PROC / "self") != str(os.getpid()):  # the numbers of another namespace
        return ""
    fields = _text(_PROC / str(pid) / "stat").rpartition(")")[2].split()
    return fields[19] if fields else ""


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""
