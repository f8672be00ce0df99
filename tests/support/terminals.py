"""What a program says at a terminal of so many columns."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Sequence


def said_at_terminal(command: Sequence[str], *, columns: int) -> str:
    """All that it prints there, without colours."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    subprocess.run(command, stdin=its, stdout=its, env=environment | {"TERM": "xterm"}, check=True, timeout=60)
    said = os.read(ours, 100_000).decode()
    os.close(ours)
    os.close(its)
    return re.sub(r"\x1b\[[0-9;]*m", "", said)
