"""The shipment order: a delivery with optional pickup and return legs, its items and kits (API §2.3)."""

from pydantic import Field, model_validator

from logistics_batch.model.payloads.forms import (
    DateTime,
    Decimal,
    ItemQuantity,
    Key,
    Latitude,
    Longitude,
    Payload,
    Phone,
    Text,
    TrueFalse,
    WholeCount,
    between_fields,
)


class OrderItem(Payload):
    """One line item on create, on update and in a kit (API §2.3)."""

    item_name: Text  # SKU name
    item_quantity: ItemQuantity | None = None  # quantity to fulfil, a JSON number of at least 1
    item_price_per_each: Decimal | None = None  # selling price of the SKU in INR, a decimal String
    total_item_price: Decimal | None = None  # selling price of the whole line after discounts in INR
    item_category: Text | None = None  # product group
    brand: Text | None = None  # supplier or vendor of the SKU
    weight: Decimal | None = None  # weight in kilograms (for updates the API names no unit: as on create)
    volume: Decimal | None = None  # volume in cubic centimetres
    length: Decimal | None = None  # length (API kitting sample; no unit given)
    breadth: Decimal | None = None  # breadth (API kitting sample; no unit given)
    height: Decimal | None = None  # height (API kitting sample; no unit given)
    package_id: Text | None = None  # package the line is packed into; never together with packages_count (API §8.3)
    cgst: Decimal | None = None  # central GST amount in INR, not a rate
    sgst: Decimal | None = None  # state GST amount in INR, not a rate
    igst: Decimal | None = None  # integrated GST amount in INR, not a rate


class Kit(Payload):
    """A package of SKUs with contents that the seller fixed beforehand (API §2.3)."""

    name: Text  # name of the kit
    description: Text | None = None  # description of the kit
    item_details: list[OrderItem] = Field(min_length=1)  # the items of one kit


class OrderCreate(Payload):
    """Body of POST /orders/shipment (API §4.6)."""

    awb_number: Key | None = None  # AWB number; not to be set if the service does the labelling
    reference_number: Key  # unique reference of the order; free again only after the order is cancelled (API §8.4)
    is_hyperlocal: TrueFalse | None = None  # 'true' for the hyperlocal contract; absent: the shipment contract
    is_inventory_managed_bh: TrueFalse | None = None  # 'true' for processing by the warehouse management system
    delivery_hub: Text | None = None  # hub that delivers; otherwise deduced from the delivery pincode (API §4.6)
    pickup_hub: Text | None = None  # hub that picks up; otherwise deduced from the pickup pincode (API §4.6)
    customer_name: Text | None = None  # recipient's name
    customer_mobile: Phone  # recipient's phone number
    alternate_customer_mobile: Phone | None = None  # recipient's other phone number
    customer_email: Text | None = None  # E-mail for the tracking link
    customer_reference_number: Text | None = None  # the brand's own reference for the shipment
    delivery_address: Text
    delivery_postal_code: Text | None = None  # delivery pincode
    delivery_lat: Latitude | None = None  # latitude of delivery in degrees
    delivery_long: Longitude | None = None  # longitude of delivery in degrees; delivery_lon in the samples
    pickup_address: Text | None = None
    pickup_postal_code: Text | None = None  # pickup pincode
    pickup_lat: Latitude | None = None  # latitude of pickup in degrees
    pickup_long: Longitude | None = None  # longitude of pickup in degrees; pickup_lon in the samples
    pickup_customer_name: Text | None = None  # contact at the pickup address
    pickup_customer_mobile: Phone | None = None  # contact's phone number at the pickup address
    is_return_order: TrueFalse | None = None  # 'true' if the order is to be picked back from the customer
    commercial_class: Text | None = None  # vehicle class asked for
    is_commercial_address: TrueFalse | None = None  # 'true' for a commercial address; helps to plan by timings
    priority: Text | None = None  # priority among several deliveries
    pickup_datetime: DateTime | None = None  # time of pickup, ISO 8601; for pickup and return orders
    expected_delivery_time: DateTime | None = None  # time by which delivery is expected, ISO 8601
    division: Text | None = None  # division of the city
    is_cod: TrueFalse | None = None  # 'true' for cash on delivery
    cash_on_delivery: Decimal | None = None  # amount in INR to collect on delivery, a decimal String
    item_details: list[OrderItem] | None = Field(default=None, min_length=1)  # line items, an array on create
    weight: Decimal | None = None  # weight of the items in kilograms
    volume: Decimal | None = None  # volume in cubic centimetres
    length: Decimal | None = None  # length of the package in centimetres
    breadth: Decimal | None = None  # breadth of the package in centimetres
    height: Decimal | None = None  # height of the package in centimetres
    what3words: Text | None = None  # three-word code of the location
    # number of packages; absent, 0 and 1 mean one; never together with a package_id (API §8.3)
    packages_count: WholeCount | None = None
    package_id: Text | None = None  # package identifier; never together with packages_count (API §8.3)
    return_address: Text | None = None  # address of return
    return_postal_code: Text | None = None  # pincode of the return address
    return_lat: Latitude | None = None  # latitude of return in degrees
    return_lon: Longitude | None = None  # longitude of return in degrees
    return_customer_name: Text | None = None  # return contact
    return_customer_mobile: Phone | None = None  # return contact's phone
    return_hub: Text | None = None  # hub that handles the return; goes before the return address
    pin_number: Text | None = None  # stands in a sample, meaning not given
    carrier_mode: Text | None = None  # stands in a sample, meaning not given
    kit_skus: list[Kit] | None = Field(default=None, min_length=1)  # kits, instead of or beside item_details (API §4.6)

    @model_validator(mode="after")
    def _count_xor_packages(self) -> "OrderCreate":
        # Both say how many packages there are. API §2.3 describes package_id as the package of "a line item" and its
        # distinct values as the count, so an id on any line contradicts packages_count as one on the order does.
        if self.packages_count is None:
            return self
        items = [*(self.item_details or ()), *(item for kit in self.kit_skus or () for item in kit.item_details)]
        has_package_id = self.package_id is not None or any(item.package_id is not None for item in items)
        if has_package_id:
            raise between_fields("packages_count_and_package_id")
        return self


class OrderUpdate(Payload):
    """Body of PUT /orders/shipment/{orderId}: the fields marked U, as on create (API §2.3, §4.7)."""

    delivery_hub: Text | None = None
    pickup_hub: Text | None = None
    customer_name: Text | None = None
    customer_mobile: Phone
    alternate_customer_mobile: Phone | None = None
    customer_email: Text | None = None
    delivery_address: Text
    delivery_postal_code: Text | None = None
    delivery_lat: Latitude | None = None
    delivery_long: Longitude | None = None
    pickup_address: Text | None = None
    pickup_postal_code: Text | None = None
    pickup_lat: Latitude | None = None
    pickup_long: Longitude | None = None
    commercial_class: Text | None = None
    is_commercial_address: TrueFalse | None = None
    priority: Text | None = None
    pickup_datetime: DateTime | None = None
    expected_delivery_time: DateTime | None = None
    division: Text | None = None
    is_cod: TrueFalse | None = None
    cash_on_delivery: Decimal | None = None
    item_details: dict[Key, OrderItem] | None = Field(default=None, min_length=1)  # line items by item id (API §4.7)
    return_address: Text | None = None
    return_postal_code: Text | None = None
    return_lat: Latitude | None = None
    return_lon: Longitude | None = None
    return_customer_name: Text | None = None
    return_customer_mobile: Phone | None = None
    return_hub: Text | None = None


class AddItems(Payload):
    """Body of PUT /orders/add/items/{orderId} (API §4.8)."""

    item_details: dict[Key, OrderItem] = Field(min_length=1)  # line items by item id, weights in grams (API §4.8)


class DeleteItems(Payload):
    """Body of PUT /orders/delete/items/{orderId} (API §4.9)."""

    item_list: list[Key] = Field(min_length=1)  # ids of the items to delete, at least one (API §4.9)

    @model_validator(mode="after")
    def _each_once(self) -> "DeleteItems":
        if len(set(self.item_list)) < len(self.item_list):
            raise between_fields("item_listed_twice")
        return self
