"""`python -m logistics_batch`."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # the current folder: whoever can put a polars.py there would run as the operator

from logistics_batch.cli import main

if __name__ == "__main__":
    sys.exit(main())
