"""The telephone: our words to HTTP and back (API §4), and what each answer proves.

Modules: `client` makes one call, `answers` says what its reply means, `pacing` keeps the rate, `links` fetches labels.
"""

import sys

# The command line of httpx, which nobody calls here, would load rich with it; without it httpx does without.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
