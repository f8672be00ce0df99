"""`python -m logistics_batch`."""

import sys

from logistics_batch.cli import main

if __name__ == "__main__":
    sys.exit(main())
