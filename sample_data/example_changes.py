"""Inputs of the examples for changes of orders, updates of announcements and labels."""

from example_tables import ExcelFile, Tab, TextFile, rows

CANCELLATIONS = """
Cancellations of 3 November - call centre||||
||||
Order No.|Cancel?|Reason|Asked by|Asked on
0104511|Yes|Ordered twice|Anjali Deshpande|03/11/2026
0104512|No|will wait|Mohammed Irfan Sait|03/11/2026
104513.0|yes|Wrong size||03/11/2026
0104511|YES|Ordered twice|Anjali Deshpande|03/11/2026
1.05E+05|Yes|||03/11/2026
|Yes|number not known|Rohan Pillai|03/11/2026
SRK-88123|Yes|Too late||02/11/2026
Total: 5||||
"""
UPDATES = """
Order No|Ship To|Phone|Address|City|PIN|Payment|Amount|Deliver by|Slot
0104511|Anjali Deshpande|+91 98450 11203|14, 3rd Cross, Kaveri Layout|Bengaluru|560034|COD|₹1,499/-|07/11/2026|18:00
0104514|सुनीता यादव|7019234561|मकान नं. 12, नीम गली|Bengaluru|560 027|Paid online||06-Nov-2026|
0104515|Rohan Pillai|6361450987|Plot 88, Phase II|Bengaluru|56006|Prepaid||17/11/2026|
0104516|Gurpreet Kaur Bhatti|99160 8732|House 5, Palm Row|Bengaluru|560008|Prepaid||07/11/2026|
0104517|Meenakshi Iyer|9880023417||Mysuru|570009|Prepaid||07/11/2026|
0104518|Prakash Hegde|9632107754|Survey 41/3, Arecanut Estate|Shivamogga|577201|COD|0|07/11/2026|
0104519|Kavya Reddy|9052211378|H.No. 8-3-229/B, Pearl Colony|Hyderabad|500033|Prepaid||7/13/2026|
0104520|Arul Prakasam|8939002716|Block D, Flat 6|Chennai|600004|Prepaid||08/11/2026|
0104520|Arul Prakasam|8939002716|Block D, Flat 7|Chennai|600004|Prepaid||08/11/2026|
"""
ADDED = """
AWB|Item id|SKU|Qty|Price|Weight (kg)|Why
SH-A1B2C3D|70311|agb-100|2|149|0.160|free with the order
SH-A1B2C3D|70312|MUG-2-CR|1|Rs. 399/-|0.64|customer called
SH-E4F5G6H|70313|DYA-12-TC|1|249|540 g|
SH-J7K8L9M||BTL-1L-CU|1|699|0.31|no id yet
SH-N1P2Q3R|70315|KTL-15-SS|1|899|1.15 kg|
SH-N1P2Q3R|70315|KTL-15-SS|2|899|1.15 kg|typed twice
"""
DELETED = """
Order No|SKU|Reason
0104511|MUG-2-CR|out of stock
0104511|agb-100|out of stock
0104512|#N/A|
0104513||customer does not want it
0104514|TIF-3-SS|damaged
"""
ASN_UPDATES = """
Invoice No;Party;Due;Item Code;Qty;Rate
INV/26-27/4471;Suvarna Metal Works;06.11.26;KTL-15-SS;48;557,50
INV/26-27/4471;Suvarna Metal Works;06.11.26;tif-3-ss;24;402,00
INV/26-27/4474;Neelkanth Home Textiles;2026-11-07;BED-QN-IN;100;659,40
INV/26-27/4477;Padma Kitchenware LLP;05.11.26;PCK-5L-AL;12 pcs;960,00
INV/26-27/4480;Godavari Handicrafts Co-op;05.11.26;LMP-BR-M;6;1.177,00
INV/26-27/4480;Godavari Handicrafts Co-op;06.11.26;DYA-12-TC;50;154,00
TOTAL-77;Total Energies;06.11.26;LUB-5;24;1.690,00
TOTAL;;;;264;
"""
LABELS = """
AWB|Order No|Name|Phone|Address|PIN|COD|Amount|Placed|Weight (kg)|SKU|Qty|Price
SH-A1B2C3D|0104511|Anjali Deshpande|9845011203|14, 3rd Cross|560034|Y|1499|2026-11-02 18:05:00|1.79|KTL-15-SS|1|899
SH-A1B2C3D|0104511|Anjali Deshpande|9845011203|14, 3rd Cross|560034|Y|1499|2026-11-02 18:05:00|1.79|MUG-2-CR|1|600
SH-E4F5G6H|0104514|Rohan Pillai|+91 63614 50987|Plot 88|560 066|N||2026-11-02 19:10:00|850 gm|TIF-3-SS|1|649
SH-J7K8L9M|0104515|Gurpreet Kaur Bhatti|9916087321|House 5|560008|N|250|2026-11-02 19:40:00|0.64|MUG-2-CR|1|399
SH-N1P2Q3R|0104516|Meenakshi Iyer|9880023417|C-12, Mysuru|570009|N||2026-11-02 20:15:00|0.96|TAW-28-NS|1|749
|0104517|Prakash Hegde|9632107754|Survey 41/3, Shivamogga|577201|N||2026-11-02 21:00:00|0.31|BTL-1L-CU|1|699
SH-R4S5T6U|0104518|Kavya Reddy|9052211378|Pearl Colony|50003|N||2026-11-02 22:30:00|0.43|CSH-5-JT|1|599
"""
LABEL_NUMBERS = """
Print again - 3 November|
Order No|Why
0104511|torn
0104514.0|printer jam
1.05E+05|
|no number on the parcel
"""


def order_cancellations() -> ExcelFile:
    """What a call centre collects in a day: not all of it is to be cancelled."""
    return ExcelFile((Tab("Cancel", rows(CANCELLATIONS), merges=("A1:E1",)), Tab("List", [["Reason"]], hidden=True)))


def order_updates() -> TextFile:
    """New addresses, numbers and days; two rows say different things about one order."""
    return TextFile(rows(UPDATES), encoding="utf-16")


def order_items_add() -> TextFile:
    """Items that come to orders: kilograms in the sheet, grams to the service."""
    return TextFile(rows(ADDED))


def order_items_delete() -> TextFile:
    """Items that leave orders, by their names."""
    return TextFile(rows(DELETED), suffix=".tsv", delimiter="\t")


def asn_updates() -> TextFile:
    """Announcements that changed: semicolons and decimal commas."""
    return TextFile([line.split(";") for line in ASN_UPDATES.strip().split("\n")], delimiter=";")


def label_requests() -> TextFile:
    """Labels for parcels whose AWB numbers are known."""
    return TextFile(rows(LABELS))


def label_reprints() -> TextFile:
    """Labels by order numbers alone."""
    return TextFile(rows(LABEL_NUMBERS))
