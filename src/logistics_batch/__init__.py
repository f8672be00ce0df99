"""Spreadsheets on SFTP in, logistics API calls out, an answer for every row back."""

import os

__version__ = "1.0.0"

# Read when polars is loaded: its allocator else keeps what it has freed until the machine runs short of memory.
os.putenv("_RJEM_MALLOC_CONF", "muzzy_decay_ms:0")
