"""Ours of the SFTP row, in a process of its own: brings or lists one folder and says how long that took."""

import json
import sys
import time
from pathlib import Path

from logistics_batch.intake.stores.sftp import SftpStore
from logistics_batch.intake.stores.store import SftpAccess

asked = json.loads(sys.argv[1])
access = SftpAccess(
    name="bench",
    host=asked["host"],
    port=asked["port"],
    username=asked["username"],
    key_file=Path(asked["key_file"]),
    password=None,
    host_key=asked["host_key"],
    known_hosts=None,
    timeout_seconds=60.0,
)
store = SftpStore(access)
store.exists("/")  # the session is open
began = time.perf_counter()
files = store.list(asked["folder"])
count = len(files)
if asked["task"] != "list":
    target = Path(asked["target"])
    for file in files:
        store.fetch(file, to=target / file.name)
print(json.dumps({"files": count, "seconds": time.perf_counter() - began}))
store.close()
