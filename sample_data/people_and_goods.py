"""The invented people, places and goods of the samples; nobody and nothing here is real."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    """Somebody who ordered: a name as typed, ten digits of a phone, an address in parts."""

    name: str
    phone: str
    street: str
    area: str
    city: str
    state: str
    pin: str


@dataclass(frozen=True)
class Goods:
    """Something on a shelf. price and mrp in rupees, weight in grams, bin where it lies."""

    sku: str
    name: str
    price: int
    mrp: int
    weight: int
    bin: str


_PEOPLE = """
Anjali Deshpande|9845011203|14, 3rd Cross, Kaveri Layout|Opp. Sunrise Bakery|Bengaluru|Karnataka|560034
Mohammed Irfan Sait|8867102234|27/2 Old Tannery Lane|Near Jamia Arcade|Bengaluru|Karnataka|560051
Lakshmi Narayanan|9731120045|Flat 402, Tulsi Heights|9th Main, Amruthavana|Bengaluru|Karnataka|560076
सुनीता यादव|7019234561|मकान नं. 12, नीम गली|शांति नगर|Bengaluru|Karnataka|560027
Rohan Pillai|6361450987|Plot 88, Phase II|Whitestone Tech Enclave|Bengaluru|Karnataka|560066
Gurpreet Kaur Bhatti|9916087321|House 5, Palm Row|Behind City Gurudwara|Bengaluru|Karnataka|560008
D'Souza & Sons Provision Stores|8050076112|No. 61, Church Lane|Richmond End|Bengaluru|Karnataka|560025
Meenakshi Iyer|9880023417|C-12, Lotus Apartments|Temple Tank Road|Mysuru|Karnataka|570009
Ayesha Fernandes|9448012876|2nd Floor, Seagull Chambers|Harbour Road|Mangaluru|Karnataka|575001
Prakash Hegde|9632107754|Survey 41/3, Arecanut Estate|Via Kudremane|Shivamogga|Karnataka|577201
Kavya Reddy|9052211378|H.No. 8-3-229/B, Pearl Colony|Lane 4|Hyderabad|Telangana|500033
Srinivas Chary|7095512043|Shop 3, Charminar Bazaar View|Ghansi Lane|Hyderabad|Telangana|500002
Thamarai Selvi|9003311250|New 17 (Old 9), Canal Bank Road|Rayapuram North|Chennai|Tamil Nadu|600028
Arul Prakasam|8939002716|Block D, Flat 6, Marina Nest|Light House Street|Chennai|Tamil Nadu|600004
Faisal Kutty|9495038812|Puthen Veedu, Boat Jetty Road|Near Spice Market|Kochi|Kerala|682005
Sneha Kulkarni|9890124453|B-703, Sahyadri Towers|Fort View Road|Pune|Maharashtra|411038
Vikram Jadhav|9011276540|Gala No. 14, Shree Industrial Estate|Wagle Phata|Pune|Maharashtra|411026
Nilofer Contractor|9820045561|3, Sea Breeze Society|St. Anne's Road|Mumbai|Maharashtra|400050
Harshad Mehendale|9769034412|Row House 9, Mango Grove|Kolshet Naka|Thane|Maharashtra|400607
अमित कुमार वर्मा|8291077345|फ्लैट 1104, गंगा टावर|सेक्टर 20|Navi Mumbai|Maharashtra|400703
Pooja Chauhan|9810234470|KD-41, Second Floor|Amrapali Block|Delhi|Delhi|110034
Tenzin Wangmo|7042218893|House 12, New Camp Lane|Riverside Colony|Delhi|Delhi|110054
Raghav Malhotra|9958120036|Tower 7, Unit 1902, Aravalli Crest|Golf Extension|Gurugram|Haryana|122018
Jignesh Patel|9825014478|22, Swastik Bungalows|Nr. Water Tank, Vastral Side|Ahmedabad|Gujarat|380015
Hetal Shah|9727056612|A/5, Rangoli Flats|Paldi Cross|Ahmedabad|Gujarat|380007
Sourav Banerjee|9830112265|17/1B Lake Terrace|2nd Floor|Kolkata|West Bengal|700029
Ritika Sen|8017745520|Flat 3C, Hilsa Court|Ballygunge Side Lane|Kolkata|West Bengal|700019
Dharmendra Rathore|9414023387|Plot 6, Chittor Marg|Shastri Block|Jaipur|Rajasthan|302016
Neha Agarwal|7838114409|E-204, Yamuna Vihar Extn|Pocket 3|Noida|Uttar Pradesh|201301
Chandan Tripathy|9437088124|Qr. No. 18, Type III|Steel Township|Rourkela|Odisha|769004
"""

_GOODS = """
KTL-15-SS|Electric kettle 1.5 L steel|899|1299|1150|A-01-2
KTL-18-GL|Electric kettle 1.8 L glass|1199|1699|1400|A-01-4
TIF-3-SS|Tiffin carrier 3 tier|649|899|820|A-02-1
TIF-4-SS|Tiffin carrier 4 tier|799|1099|1040|A-02-3
PCK-5L-AL|Pressure cooker 5 L|1549|2150|2300|A-04-1
TAW-28-NS|Dosa tawa 28 cm non-stick|749|1095|960|A-05-2
BTL-1L-CU|Copper bottle 1 L|699|999|310|B-01-1
BTL-750-SS|Flask 750 ml|849|1195|380|B-01-3
MUG-2-CR|Ceramic mugs, set of 2|399|599|640|B-02-2
SPB-7-WD|Spice box, 7 cups, wood|999|1499|1120|B-03-1
AGB-100|Agarbatti sandal, 100 sticks|149|199|160|C-01-2
DYA-12-TC|Terracotta diya, set of 12|249|349|540|C-01-4
LMP-BR-M|Brass lamp, medium|1899|2599|1350|C-02-1
RNG-KIT-6|Rangoli colours, 6 tubs|199|299|720|C-02-3
BED-QN-IN|Bedsheet queen, indigo print|1099|1799|1250|D-01-1
TWL-4-CT|Bath towels cotton, set of 4|1299|1999|1480|D-01-3
CSH-5-JT|Cushion covers jute, set of 5|599|899|430|D-02-2
YGM-6-GR|Yoga mat 6 mm, green|799|1199|980|D-03-1
"""

PEOPLE = [Person(*line.split("|")) for line in _PEOPLE.strip().splitlines()]
GOODS = [
    Goods(sku, name, int(price), int(mrp), int(weight), bin_)
    for sku, name, price, mrp, weight, bin_ in (line.split("|") for line in _GOODS.strip().splitlines())
]
_BY_SKU = {item.sku: item for item in GOODS}


def goods(sku: str) -> Goods:
    """What a SKU is."""
    return _BY_SKU[sku]
