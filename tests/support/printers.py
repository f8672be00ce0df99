"""A real CUPS with print queues that write what they print into a folder."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

_BACKEND = """\
#!/bin/sh
# What CUPS calls for each document: job, user, title, copies, options, file.
[ $# = 0 ] && {{ echo 'direct folder "Unknown" "A folder"'; exit 0; }}
case "$DEVICE_URI" in *jam) echo "ERROR: Paper jam in tray 1" >&2; exit 1;; esac
number=$(ls {out} | grep -c args)
name={out}/$(printf %03d "$number")
cat ${{6:+"$6"}} > "$name" && echo "$3 | $4 | $5" > "$name.args"
"""
_TO_ANY = '#!/bin/sh\ncat ${6:+"$6"}\n'  # the filter of raw queues for several documents
_CONFIGURATION = """\
LogLevel warn
MaxLogSize 0
Listen {socket}
WebInterface No
Browsing Off
JobKillDelay 2
<Location />
  Order allow,deny
  Allow all
</Location>
<Policy default>
  <Limit All>
    Order deny,allow
    Allow all
  </Limit>
</Policy>
"""
_FILES = """\
SystemGroup root
ServerRoot {folder}/root
RequestRoot {folder}/spool
CacheDir {folder}/cache
StateDir {folder}/state
TempDir {folder}/spool
DataDir /usr/share/cups
ServerBin {folder}/bin
AccessLog {folder}/log/access
ErrorLog {folder}/log/error
PageLog {folder}/log/page
"""


@dataclass(frozen=True)
class Printers:
    """Queues of a CUPS: "dock" prints, "jam" gives each job up, "office" takes none, "stopped" keeps them."""

    folder: Path
    process: int = 0  # of the print server

    @property
    def socket(self) -> str:
        return str(self.folder / "cups.sock")

    def printed(self) -> list[bytes]:
        """The documents that came out, in the order in which they came."""
        return [path.read_bytes() for path in sorted((self.folder / "out").iterdir()) if path.suffix != ".args"]

    def told(self) -> list[str]:
        """Title, copies and options of each."""
        return [path.read_text() for path in sorted((self.folder / "out").glob("*.args"))]

    def do(self, *command: str) -> str:
        """A command of CUPS' own client."""
        environment = os.environ | {"CUPS_SERVER": self.socket, "LC_ALL": "C"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@contextmanager
def running_cups() -> Iterator[Printers]:
    """Start a print server; in CI it must be there, elsewhere the test is skipped."""
    cupsd = shutil.which("cupsd", path="/usr/sbin:/usr/local/sbin")
    if not cupsd or not shutil.which("lp") or os.geteuid() != 0:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "a print server needs root and: apt-get install cups-daemon cups-client"
        )
    # Its socket's path may have 107 letters, and its backends run as another user, who must come this far.
    folder = Path(tempfile.mkdtemp(prefix="cups-", dir="/tmp"))
    folder.chmod(0o755)
    for name in ("root", "spool", "cache", "state", "log", "out", "bin/backend", "bin/filter"):
        (folder / name).mkdir(parents=True)
    for path in folder.rglob("*"):
        path.chmod(0o755)  # whatever this process gives to others by itself
    (folder / "out").chmod(0o777)
    (folder / "bin/daemon").symlink_to("/usr/lib/cups/daemon")
    for name, script in (("backend/folder", _BACKEND.format(out=folder / "out")), ("filter/gziptoany", _TO_ANY)):
        (folder / "bin" / name).write_text(script)
        (folder / "bin" / name).chmod(0o755)
    printers = Printers(folder)
    (folder / "cupsd.conf").write_text(_CONFIGURATION.format(socket=printers.socket))
    (folder / "cups-files.conf").write_text(_FILES.format(folder=folder))
    process = subprocess.Popen(
        [cupsd or "", "-f", "-c", str(folder / "cupsd.conf"), "-s", str(folder / "cups-files.conf")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            if Path(printers.socket).exists():
                break
            time.sleep(0.05)
        for queue in ("dock", "jam", "office", "stopped"):
            device = f"folder://{'jam' if queue == 'jam' else 'x'}"
            printers.do("lpadmin", "-p", queue, "-v", device, "-m", "raw", "-E", "-o", "printer-error-policy=abort-job")
        printers.do("cupsreject", "-r", "no toner", "office")
        printers.do("cupsdisable", "-r", "out of labels", "stopped")
        yield replace(printers, process=process.pid)
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)
