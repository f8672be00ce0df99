"""What all bodies have in common, and how one becomes the text that is sent."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

LongitudeName = Literal["delivery_long", "delivery_lon"]


class Payload(BaseModel):
    """A body that we send: nothing outside the contract, nothing converted, nothing changed after it is made."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,  # rows hold names, phones and addresses
        defer_build=True,  # most commands need few of the models, and building them takes a tenth of a second
    )


def body_text(payload: BaseModel) -> str:
    """The exact text that is sent: compact JSON in the contract's field order, absent fields left out.

    >>> from logistics_batch.model.payloads import DeleteItems
    >>> body_text(DeleteItems(item_list=["17"]))
    '{"item_list":["17"]}'
    """
    return compact(payload.model_dump(mode="json", by_alias=True, exclude_none=True))


def compact(fields: Mapping[str, Any]) -> str:
    """Fields as the text of a body. Raises ValueError for a number that JSON does not have."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
