"""The contract of the service (API §2, §4, §6): the bodies it takes, the answers it gives, and how it refuses.

The models judge what comes in, and FastAPI writes the OpenAPI document from them.
"""

from typing import Any

Body = dict[str, Any]
"""A body as it came: an object of JSON."""
