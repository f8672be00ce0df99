"""Inputs of the examples for announcements: each with what such files get wrong."""

import csv

from example_tables import ExcelFile, Tab, TextFile, rows

PRODUMEX = """
ObjType|DocNum|LineNum|ItemCode|Quantity|SSCC|MasterSSCC|Batch|Batch2|BBD|SerialNumber|UF1|UF2|UF3
22|450011871|0|AGB-100|480|389012345000000017|389012345000000994|B2611||20280331||||
22|450011871|1|DYA-12-TC|120|389012345000000024|389012345000000994|B2612||||||
22|450011871|1|DYA-12-TC|60|389012345000000031|389012345000000994|B2613||||||
18|900340|0|KTL-15-SS|24|389012345000000048|||||KT15-0001|fragile||
18|900340|1|KTL-18-GL|12.0|389012345000000055||||||||
18|900341|0|LMP-BR-M|6|3.89E+17||||||||
22|450011872|0|BED-QN-IN|-40|389012345000000062||||||||
22|450011873|0|TWL-4-CT|1.5|389012345000000079||||||||
22||0|CSH-5-JT|36|389012345000000086||||||||
22|450011874|0||20|389012345000000093||||||||
"""
INCREFF = """
asnCode,orderCode,locationCode,invoiceNo,expectedShipmentArrivalTime,channelSkuCode,proposedQty,mrp
ASN-7001,PO-3310,BHIWANDI-01,SMW/26-27/0118,2026-11-05T10:00:00+05:30,KTL-15-SS,24,1299.00
ASN-7001,PO-3310,BHIWANDI-01,SMW/26-27/0118,2026-11-05T10:00:00+05:30,KTL-18-GL,"1,200",1699
ASN-7002,PO-3311,BHIWANDI-01,SMW/26-27/0119,2026-11-04T20:30:00+00:00,TIF-3-SS,36,"₹899.00"
ASN-7003,PO-3312,BHIWANDI-01,SMW/26-27/0120,2026-11-06 09:00:00,MUG-2-CR,40,599.00
ASN-7003,PO-3312,BHIWANDI-02,SMW/26-27/0120,2026-11-06 09:00:00,SPB-7-WD,15,1499.00
ASN-7004,PO-3313,BHIWANDI-01,SMW/26-27/0121,05/11/2026,YGM-6-GR,30,1199.00
ASN-7005,PO-3314,BHIWANDI-01,,2026-11-06T09:00:00+05:30,RNG-KIT-6,60,299.00
ASN-7006,PO-3315,BHIWANDI-01,SMW/26-27/0122,2026-11-06T09:00:00+05:30,DYA-12-TC,0,349.00
"""
STOCK_AND_TRACE = """
Header_warehouse;Header_account_short_name;Header_expected_date;Header_reference;Partnumber;Description;Quantity;Unit_price
BHIWANDI-01;NEELKANTH;05-11-2026;NHT-884;BED-QN-IN;Bedsheet queen, indigo print;40;1.234,50
BHIWANDI-01;NEELKANTH;05-11-2026;NHT-884;TWL-4-CT;Bath towels cotton, set of 4;12;990,00
BHIWANDI-01;NEELKANTH;06-11-2026;NHT-885;CSH-5-JT;Cushion covers jute, set of 5;60;410,25
BHIWANDI-01;NEELKANTH;06-11-2026;NHT-885;CSH-5-JT;Cushion covers jute, set of 5;sixty;410,25
BHIWANDI-01;PADMA;31-11-2026;PK-0092;PCK-5L-AL;Pressure cooker 5 L;10;
BHIWANDI-01;PADMA;07-11-2026;PK-0093;TAW-28-NS;Dosa tawa 28 cm non-stick;25;450,00
BHIWANDI-01;PADMA;07-11-2026;PK-0093;TIF-4-SS;Tiffin carrier 4 tier;18
;PADMA;08-11-2026;PK-0094;BTL-750-SS;Flask 750 ml;30;505,00
"""
BIGLEDGER = """
BRANCH_CODE|ITEM_CODE|ITEM_QUANTITY|PO_DATE|SUPPLIER_ID|SUPPLIER_NAME|UNIT_PRICE|ITEM_SERIAL|PO_NO
BHIWANDI-01|KTL-15-SS|3|2026-11-02|S-0041|Suvarna Metal Works|557.00|KT15-1001,KT15-1002,KT15-1003|PO-2026-118
BHIWANDI-01|TIF-3-SS|24|2026-11-02|S-0041|Suvarna Metal Works|402.00||PO-2026-118
BHIWANDI-01|PCK-5L-AL|2|2026-11-02|S-0052|Padma Kitchenware LLP|960.00|PC5-77, PC5-78|PO-2026-119
BHIWANDI-01|PCK-5L-AL||2026-11-02|S-0052|Padma Kitchenware LLP|960.00|PC5-79,PC5-80|PO-2026-119
BHIWANDI-01|SPB-7-WD|15|02-Nov-26|S-0063|Godavari Handicrafts Co-op|619.00||PO-2026-120
BHIWANDI-01|LMP-BR-M|6|2026-11-03|S-0063|Godavari Handicrafts Co-op|#N/A||PO-2026-121
BHIWANDI-01|AGB-100|100|2026-11-03|S-0070|Neelkanth Home Textiles|92.00||PO-2026-122
BHIWANDI-01|DYA-12-TC|50|2026-11-03|S-0071|Neelkanth Home Textiles|154.00||PO-2026-122
TOTAL||200||||||
"""
ESHOPBOX_INWARD = """
; Goods that you send to the warehouse: one row a product and batch
; Product ID: SKU, EAN, UPC or alias
Product ID|Quantity|Manufacturing date|Expiry date|Shelf life/batch|Invoice number
AGB-100|480|Nov-25|Nov-27|B2611|NHT/0932
8901234500012|24||||NHT/0932
; RNG-KIT-6|60|Oct-26|Oct-28|B2640|NHT/0932
RNG-KIT-6|60|25-Oct-26|25-Oct-28|B2641|NHT/0933
DYA-12-TC|40|25-Oct-26|31-Sep-28|B2642|NHT/0933
MUG-2-CR|2 dozen||||NHT/0934
8.90E+12|36||||NHT/0935
CSH-5-JT|36||||
"""
AMAZON_TEMPLATE = """
Default prep owner|Seller
Default labeling owner|Seller
Default prep category|
|
Merchant SKU|Quantity|Fulfillment Center(FC)|Prep owner|Labeling owner|Prep Category|HSN code|GST rate|Declared value
"""
AMAZON_GOODS = """
KTL-15-SS|48|BOM7|Seller|Seller||85161000|18|557.00
TIF-3-SS|36|BOM7||||73239390|12|402.00
MUG-2-CR|24|DEL4||Amazon|Fragile|69120010|12|247.00
BTL-1L-CU|60|DEL4||||74181022|12|433.00
SPB-7-WD|N/A|DEL4||||44191900|12|619.00
YGM-6-GR|30|BLR8||||95069190|18|495.00
YGM-6-GR|20|BLR8||||95069190|18|495.00
RNG-KIT-6|60|||||32139000|12|123.00
AGB-100|200|BLR5||||33074100|5|92.00
"""
AMAZON_EXAMPLE = """
MSKU-EXAMPLE-1|100|BOM7|Amazon|Amazon|Small|12345678|18|100.00
MSKU-EXAMPLE-2|25|DEL4|Seller|Seller||12345678|18|250.00
"""
MINI_WMS_HEADERS = """
ASN No|Status|Supplier Code|Supplier Name|Warehouse|Invoice No|PO No|Expected Date|Carrier|Created By
ASN-00041|Released|S-0041|Suvarna Metal Works|BHIWANDI-01|SMW/26-27/0131|PO-3341|05/11/2026|Own truck|meera
ASN-00042|Released|S-0052|Padma Kitchenware LLP|BHIWANDI-01|PK-0101|PO-3342|06/11/2026||meera
ASN-00043|Draft|S-0052|Padma Kitchenware LLP|BHIWANDI-01||PO-3343|||meera
ASN-00044|Released|S-0063|Godavari Handicrafts Co-op|BHIWANDI-01|GHC/771|PO-3344|31/11/2026|By rail|arun
ASN-00045|Open|S-0063|Godavari Handicrafts Co-op|BHIWANDI-01|GHC/772|PO-3345|07/11/2026||arun
ASN-00046|Released|S-0070|Neelkanth Home Textiles||NHT/0940|PO-3346|07-11-2026||arun
"""
MINI_WMS_LINES = """
ASN No|Line No|Item Code|Item Name|Expected Qty|UOM|Unit Price|Batch|Pallet
ASN-00042|1|PCK-5L-AL|Pressure cooker 5 L|24|PCS|960.00||P-0007
ASN-00041|1|KTL-15-SS|Electric kettle 1.5 L steel|48|PCS|557.00|B2701|P-0001
ASN-00041|2|tif-3-ss|Tiffin carrier 3 tier|36|PCS|₹402.00|B2702|P-0002
ASN-00041|3|TIF-3-SS|Tiffin carrier 3 tier|12|PCS|402.00|B2703|P-0003
ASN-00042|2|TAW-28-NS|Dosa tawa 28 cm non-stick|two boxes|PCS|464.00||P-0008
ASN-00043|1|TAW-28-NS|Dosa tawa 28 cm non-stick|20|PCS|464.00||
ASN-00044|1|LMP-BR-M|Brass lamp, medium|6|PCS|1177.00||P-0010
ASN-00046|1|BED-QN-IN|Bedsheet queen, indigo print|40|PCS|681.00||P-0012
ASN-00047|1|CSH-5-JT|Cushion covers jute, set of 5|30|PCS|371.00||P-0013
TOTAL||||216||||
"""


def asn_produmex() -> TextFile:
    """Pallets of purchase orders (22) and invoices (18); one pallet's number went through scientific notation."""
    return TextFile(rows(PRODUMEX))


def asn_increff() -> TextFile:
    """Times with and without an offset: 20:30 in Greenwich is the next day in India."""
    return TextFile(_quoted(INCREFF))


def asn_stock_and_trace() -> TextFile:
    """Semicolons and decimal commas; a row that is a cell short, and a 31 November."""
    return TextFile([line.split(";") for line in STOCK_AND_TRACE.strip().split("\n")], delimiter=";")


def asn_bigledger() -> TextFile:
    """Serial numbers joined by commas; one supplier under two ids."""
    return TextFile(rows(BIGLEDGER), encoding="utf-8-sig")


def asn_eshopbox_inward() -> TextFile:
    """Comments between the rows, months in the place of days."""
    return TextFile(rows(ESHOPBOX_INWARD))


def asn_amazon_manifest() -> ExcelFile:
    """The template's four tabs; the example tab is filled in, too, and comes first."""
    numbers = [[int(cell) if cell.isdigit() else cell for cell in map(str, row)] for row in rows(AMAZON_GOODS)]
    return ExcelFile(
        (
            Tab("Instructions", [["How to use this file upload"], ["Step 1: Review the data definitions"]]),
            Tab("Data definitions", [["Label name", "Definition and use"], ["Merchant SKU", "Listed only once."]]),
            Tab("Create workflow – example", [*rows(AMAZON_TEMPLATE), *rows(AMAZON_EXAMPLE)]),
            Tab("Create workflow – template", [*rows(AMAZON_TEMPLATE), *numbers]),
        )
    )


def asn_mini_wms() -> ExcelFile:
    """Two sheets: a notice without lines, lines without a notice, a draft that is not to be sent."""
    return ExcelFile((Tab("ASN Header", rows(MINI_WMS_HEADERS)), Tab("ASN Lines", rows(MINI_WMS_LINES))))


def _quoted(text: str) -> list[list[str]]:
    """Rows of a text that is CSV already."""
    return [*csv.reader(text.strip().split("\n"))]
