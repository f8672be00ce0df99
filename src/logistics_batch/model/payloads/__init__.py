"""The contract: every body that the service's API takes, as models with all rules of API §2, §4 and §8.

An error of a model has a stable `type` and a sentence that a clerk can read.
"""

from typing import Final

from pydantic import BaseModel

from logistics_batch.model.document import Operation
from logistics_batch.model.payloads.asn import AsnCreate, AsnUpdate, SkuLine
from logistics_batch.model.payloads.forms import Complaint, LongitudeName, body_text, compact, complaints
from logistics_batch.model.payloads.label import LabelDimensions, LabelRequest, LabelSku
from logistics_batch.model.payloads.order import (
    AddItems,
    DeleteItems,
    Kit,
    OrderCreate,
    OrderItem,
    OrderUpdate,
)
from logistics_batch.model.payloads.webhook import StatusEvent, WebhookSubscription, WebhookUpdate

PAYLOADS: Final[dict[Operation, type[BaseModel]]] = {
    Operation.ASN_CREATE: AsnCreate,
    Operation.ASN_UPDATE: AsnUpdate,
    Operation.ORDER_CREATE: OrderCreate,
    Operation.ORDER_UPDATE: OrderUpdate,
    Operation.ORDER_ADD_ITEMS: AddItems,
    Operation.ORDER_DELETE_ITEMS: DeleteItems,
    Operation.LABEL_CREATE: LabelRequest,
}
"""The body of each operation that has one; cancelling an order sends none (API §4.10)."""

__all__ = [
    "PAYLOADS",
    "AddItems",
    "AsnCreate",
    "AsnUpdate",
    "Complaint",
    "DeleteItems",
    "Kit",
    "LabelDimensions",
    "LabelRequest",
    "LabelSku",
    "LongitudeName",
    "OrderCreate",
    "OrderItem",
    "OrderUpdate",
    "SkuLine",
    "StatusEvent",
    "WebhookSubscription",
    "WebhookUpdate",
    "body_text",
    "compact",
    "complaints",
]
