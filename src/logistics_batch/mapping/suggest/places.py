"""The places of a mapping about which more is known than the names of their columns."""

from typing import Final

KEYS: Final = ("fields.reference_number", "fields.invoice_number")
ADDRESSES: Final = ("fields.delivery_address", "fields.shipping_address")
PERSON: Final = "fields.customer_name"
PHONE: Final = "fields.customer_mobile"
PIN: Final = "fields.delivery_postal_code"
COLLECTED: Final = "fields.cash_on_delivery"
PAID: Final = "fields.is_cod"
EXPECTED: Final = "fields.expected_delivery_time"
DAYS: Final = (EXPECTED, "fields.delivery_date", "fields.pickup_datetime")
BOXES: Final = "fields.packages_count"
QUANTITIES: Final = ("lines.item_quantity", "lines.qty")
PRICES: Final = ("lines.item_price_per_each", "lines.price_per_qty")
PACKAGE: Final = "lines.package_id"
GOODS: Final = ("lines.item_name", "lines.sku_name")
LENGTHS: Final = ("length", "breadth", "height")  # of fields and of lines
LINE_TOTAL: Final = "lines.total_item_price"
