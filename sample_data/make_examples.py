"""Make the inputs of the examples again: python sample_data/make_examples.py [FOLDER]

Each lies in FOLDER/NAME/ (mappings/examples/ without FOLDER) beside what its mapping must make of it. Nobody and
nothing in them is real.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from example_asns import (
    asn_amazon_manifest,
    asn_bigledger,
    asn_eshopbox_inward,
    asn_increff,
    asn_mini_wms,
    asn_produmex,
    asn_stock_and_trace,
)
from example_changes import (
    asn_updates,
    label_reprints,
    label_requests,
    order_cancellations,
    order_items_add,
    order_items_delete,
    order_updates,
)
from example_orders import (
    aggregator_orders,
    eshopbox_orders,
    shipwire_orders,
)
from example_shop_orders import (
    woocommerce_orders,
    woocommerce_orders_numbered,
    woocommerce_orders_packed,
)
from example_tables import ExcelFile, TextFile

HERE = Path(__file__).parent
EXAMPLES: dict[str, Callable[[], TextFile | ExcelFile]] = {
    "aggregator_orders": aggregator_orders,
    "asn_amazon_manifest": asn_amazon_manifest,
    "asn_bigledger": asn_bigledger,
    "asn_eshopbox_inward": asn_eshopbox_inward,
    "asn_increff": asn_increff,
    "asn_mini_wms": asn_mini_wms,
    "asn_produmex": asn_produmex,
    "asn_stock_and_trace": asn_stock_and_trace,
    "asn_updates": asn_updates,
    "eshopbox_orders": eshopbox_orders,
    "label_reprints": label_reprints,
    "label_requests": label_requests,
    "order_cancellations": order_cancellations,
    "order_items_add": order_items_add,
    "order_items_delete": order_items_delete,
    "order_updates": order_updates,
    "shipwire_orders": shipwire_orders,
    "woocommerce_orders": woocommerce_orders,
    "woocommerce_orders_numbered": woocommerce_orders_numbered,
    "woocommerce_orders_packed": woocommerce_orders_packed,
}


def main(folder: Path) -> None:
    """Write every input."""
    for name, made in EXAMPLES.items():
        file = made()
        (folder / name).mkdir(parents=True, exist_ok=True)
        file.write(folder / name / f"input{file.suffix}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "mappings" / "examples")
