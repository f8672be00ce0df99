"""What the words in column names mean: English and its abbreviations, German, French, Spanish, Hindi, Gujarati.

A word stands for a meaning (`pin`), whoever uses it and however it is spelt. Words of several words are written with
blanks; accents and the dots below Devanagari letters are left out, as `suggest_words` takes them off.
"""

from typing import Final

_MEANINGS: Final[dict[str, str]] = {
    # whose
    "deliver": "deliver, delivery, deliver to, delivery at, del, dlv, drop, dropoff, drop off, dest, destination, "
    "liefer, lieferung, lieferadresse, livraison, livrer, envio, entrega, डिलीवरी, ડિલિવરી",
    "ship": "ship, shipping, shipto, ship to, consignee, cnee, recipient, recip, receiver, addressee, send to, "
    "empfanger, versand, destinataire, destinatario, receveur, प्राप्तकर्ता, પ્રાપ્તકર્તા",
    "buyer": "customer, customers, cust, custmr, buyer, client, member, patient, end customer, purchaser, user, "
    "kunde, kunden, kaufer, besteller, acheteur, cliente, comprador, ग्राहक, ग्राहक का, ग्राहक के, खरीदार, सदस्य, "
    "ગ્રાહક, ગ્રાહકનું, ગ્રાહકનો, ખરીદનાર",
    "party": "party, account, dealer, retailer, पार्टी, પાર્ટી",
    "store": "store, outlet, shop, filiale, magasin, tienda, दुकान, દુકાન",
    "bill": "bill to, billing, billto, invoice to, sold to, soldto, rechnungsadresse, rechnungsempfanger, facturation, "
    "facturacion",
    "pickup": "pickup, pick up, origin, consignor, sender, shipper, from, abhol, abholung, absender, ramassage, "
    "enlevement, expediteur, recogida, remitente, पिकअप, પિકઅપ",
    "return": "return, returns, return to, rto, ret, retour, rucksendung, devolucion, रिटर्न, રિટર્ન",
    "supplier": "supplier, suppliers, vendor, vend, seller, stockist, distributor, manufacturer, supp, lieferant, "
    "lieferanten, fournisseur, proveedor, आपूर्तिकर्ता, विक्रेता, सप्लायर, સપ્લાયર, વેન્ડર, વિક્રેતા",
    "site": "site, warehouse, whse, wh, godown, depot, facility, plant, location, branch, dc, fc, fulfillment center, "
    "fulfilment centre, fulfillment center fc, centre, center, lager, werk, entrepot, almacen, गोदाम, ગોડાઉન, વેરહાઉસ",
    "hub": "hub",
    # what papers
    "order": "order, orders, ord, so, sales order, sale order, indent, bestell, bestellung, auftrag, auftrags, "
    "commande, cde, pedido, orden, ऑर्डर, आर्डर, आदेश, ઓર્ડર, ઑર્ડર",
    "shipment": "shipment, consignment, parcel, cn, sendung, expedition, colis",
    "docket": "docket, job, challan, booking, voucher, ticket, token, चालान, ચલણ",
    "trip": "trip, manifest, load, route, vehicle",
    "invoice": "invoice, inv, bill, tax invoice, rechnung, rechnungs, facture, factura, बिल, चालान बिल, इनवॉइस, બિલ, "
    "ઇન્વોઇસ",
    "po": "po, purchase order, purch order, purch doc, purchase, bestellung po",
    "asn": "asn, avis, inward, grn, receipt, despatch advice",
    "note": "delivery note, lieferschein, bon de livraison, bl, albaran, dc no, packing list",
    "document": "document, doc, source document, objtype",
    "line": "line, row, pos, position, lineitem no, ligne, linea, sub order, suborder, order item, order line, seq",
    "original": "original, orig, replacement, external, extern, externe",
    # who and where
    "number": "number, no, n, nr, num, nbr, nmbr, #, nummer, numero, id, code, kode, codigo, cd, key, uid, "
    "संख्या, नंबर, नं, नम्बर, क्रमांक, क्र, कोड, નંબર, નં, ક્રમાંક, કોડ",
    "ref": "ref, reference, referencia, referenz, संदर्भ, સંદર્ભ",
    "name": "name, nm, nom, nombre, contact person, contact name, person, attn, नाम, નામ",
    "first": "first, firstname, fname, vorname, prenom, given, custome first",
    "last": "last, lastname, lname, surname, nachname, apellido, apellidos, family",
    "phone": "phone, phones, mobile, mob, mbl, tel, telephone, cell, cellphone, ph, phn, contact, contacts, ctc, "
    "whatsapp, telefon, mobil, handy, kontakt, rufnummer, portable, telefono, movil, celular, phone number, "
    "मोबाइल, मोबाईल, फोन, दूरभाष, संपर्क, મોબાઇલ, મોબાઈલ, ફોન, સંપર્ક",
    "alt": "alternate, alternative, alt, second, secondary, other, addl, zweit, वैकल्पिक, दूसरा, બીજો, વૈકલ્પિક",
    "email": "email, e mail, mail, courriel, correo, correo electronico, ईमेल, ઈમેલ",
    "address": "address, addr, adress, add, adrs, adresse, anschrift, direccion, domicilio, पता, पते, સરનામું, સરનામુ, "
    "એડ્રેસ",
    "street": "street, str, strasse, road, door, house, house no, flat, building, street1, rue, calle",
    "landmark": "landmark, near, लैंडमार्क",
    "area": "area, locality, village, गाँव, गांव, ग्राम, ગામ",
    "city": "city, town, ort, stadt, ville, ciudad, poblacion, place, district, taluka, station, शहर, जिला, नगर, "
    "શહેર, જિલ્લો",
    "state": "state, province, provincia, region, bundesland, राज्य, રાજ્ય",
    "country": "country, land, pays, pais, देश, દેશ",
    "pin": "pin, pincode, pin code, pin cd, pin no, zip, zipcode, zip code, postcode, post code, postal, postal code, "
    "plz, postleitzahl, cp, code postal, codigo postal, पिन, पिनकोड, पिन कोड, પિન, પિનકોડ, પિન કોડ",
    "lat": "lat, latitude",
    "long": "long, lng, lon, longitude",
    # what goods
    "sku": "sku, skus, asin sku, item sku",
    "item": "item, items, itm, product, prod, prdct, article, artikel, art, material, goods, commodity, stock item, "
    "lineitem, stock, part, style, design, articulo, producto, produit, ware, said to contain, contents, वस्तु, सामान, "
    "माल, उत्पाद, आइटम, વસ્તુ, માલ, આઇટમ, ઉત્પાદન",
    "desc": "description, desc, descr, details, particulars, text, title, short text, bezeichnung, beschreibung, "
    "designation, libelle, descripcion, विवरण, વિગત",
    "qty": "qty, quantity, quantities, qnty, pcs, pieces, piece, units, nos, bags, count of items, how many, demand, "
    "menge, stuck, anzahl, stk, quantite, qte, cantidad, cant, unidades, मात्रा, नग, संख्या नग, જથ્થો, નંગ, માત્રા",
    "each": "unit, per unit, each, per piece, per pc, per item, pc, per qty, einzel, unitaire, unitario, प्रति",
    "price": "price, rate, cost, selling price, preis, prix, precio, ptr, pts, listed price, declared value, दर, मूल्य, "
    "भाव, કિંમત, ભાવ, દર",
    "amount": "amount, amt, value, val, betrag, summe, wert, montant, importe, monto, रकम, राशि, કિંમત કુલ, રકમ",
    "total": "total, grand, grand total, gesamt, sum, कुल, કુલ",
    "subtotal": "subtotal, sub total",
    "net": "net, gross, basic, base, netto, brutto, ttc, ht, inc, incl",
    "mrp": "mrp, m r p, maximum retail price, list price, compare at price, एमआरपी, એમઆરપી",
    "discount": "discount, disc, rabatt, remise, dto, descuento, छूट, ડિસ્કાઉન્ટ",
    "percent": "percent, percentage, pct, %",
    "tax": "tax, taxes, gst, vat, taxable, mwst, ust, tva, iva, कर, કર",
    "cgst": "cgst",
    "sgst": "sgst, utgst",
    "igst": "igst",
    "hsn": "hsn, sac, hsncode, hsn code",
    "gstin": "gstin, uin, gst number, gst no, pan, tin",
    "ean": "ean, upc, barcode, fsn, asin, isbn, gtin",
    "uom": "uom, unit of measure, oun, me, einheit, pack size, packing, pack",
    "currency": "currency, ccy, curr, crcy, wahrung, devise, moneda",
    "category": "category, categories, product group, kategorie, categorie, categoria, श्रेणी",
    "brand": "brand, marke, marque, marca, make",
    "batch": "batch, lot, charge nr, बैच, બેચ",
    "expiry": "expiry, expires, expiration, exp, bbd, best before, mhd, use by",
    "mfg": "mfg, mfd, manufacture, manufacturing, mfr",
    "serial": "serial, serials, sn, imei, sscc",
    "size": "size, colour, color, shade, variant, grosse, farbe",
    "free": "free, bonus, scheme, sample",
    # money and payment
    "cod": "cod, c o d, collect, collection, collectable, collectible, to collect, to be collected, cash on delivery, "
    "cashondelivery, balance due, balance, due amount, payable, nachnahme, contre remboursement, contra reembolso, "
    "contrareembolso, वसूली, वसूली राशि, ઉઘરાણી, વસૂલ",
    "pay": "payment, pay, pymt, pmt, paymode, paid, prepaid, zahlung, zahlungs, zahl, paiement, pago, भुगतान, पेमेंट, "
    "ચુકવણી, પેમેન્ટ",
    "pay mode": "zahlungsart, zahlart, zahlweise, zahlungsweise, paytype, paymenttype",
    "each price": "stuckpreis, stuckpreis netto",
    "item desc": "artikelbezeichnung",
    "item number": "artikelnummer, artnr, itemcode, productcode, item code",
    "mode": "mode, method, type, kind, term, terms, basis, art und weise, weise, forma, via, प्रकार, પ્રકાર",
    "freight": "freight, shipping charge, charges, charge, fee, fees, commission, contribution, tip, gift",
    # measures
    "weight": "weight, wt, wgt, gewicht, poids, peso, dead weight, वजन, વજન",
    "charged": "chargeable, charged, volumetric, vol wt, dim wt",
    "length": "length, lgth, len, lange, longueur, largo",
    "breadth": "breadth, width, bredth, wdth, breite, largeur, ancho",
    "height": "height, hght, ht cm, hohe, hauteur, alto",
    "volume": "volume, vol, cbm, cft",
    "kg": "kg, kgs, kilo, kilos, kilogram, kilograms, किलो, કિલો",
    "gram": "g, gm, gms, gram, grams, ग्राम वजन",
    "cm": "cm, cms",
    "mm": "mm",
    "inch": "inch, inches",
    "box": "box, boxes, carton, cartons, ctn, ctns, case, cases, bale, bales, pallet, pallets, pkg, pkgs, package, "
    "packages, packet, packets",
    # when
    "date": "date, dt, on, day, datum, termin, fecha, date de, दिनांक, तारीख, तिथि, તારીખ",
    "time": "time, datetime, at, slot, uhrzeit, heure, hora, समय, સમય",
    "by": "by, bis, before, till, until",
    "expected": "expected, expect, exptd, eta, edd, promise, promised, required, req, requested, needed, need, "
    "scheduled, schedule, planned, due, desired, wunsch, souhaite, souhaitee, prevu, prevue, prevista, previsto, "
    "eta dt, आने की, अपेक्षित, આવવાની",
    "arrival": "arrival, arrive, arriving, ankunft, arrivee, llegada",
    "made": "ordered, created, creation, placed, booked, modified, updated, made, agreement, start, purchased, closed",
    "dispatch": "dispatch, dispatched, despatch, despatched, desp, shipped, fulfilled, dsp",
    "received": "received, recd, rcvd, accepted, grn qty",
    # the rest that service fields have nothing for
    "status": "status, state of order, statut, estado, financial status, stage, phase, स्थिति, સ્થિતિ",
    "condition": "condition, quality",
    "remark": "remark, remarks, rmk, rmks, note, notes, comment, comments, instruction, instructions, message, "
    "narration, bemerkung, observaciones, observacion, remarque, टिप्पणी, ટિપ્પણી, નોંધ",
    "awb": "awb, waybill, tracking, lr, lrn, eway, e way, docket awb",
    "courier": "courier, carrier, transport, transporter, service, logistics, transit, transportation, express",
    "channel": "channel, marketplace, portal, platform, source",
    "reason": "reason, cause",
    "agent": "agent, salesman, executive, manager, handled, prepared, checked, operator, bearbeiter, owner",
    "window": "window, slot name, tat, shift, level",
    "priority": "priority, prio, urgency",
    "division": "division",
    "serialrow": "sr, sl, s no, sr no, sl no, srno, slno, sno, क्र सं, क्रमांक क्र, क्रम",
    "flag": "is, has, flag, whether",
    "shelf": "bin, rack, shelf, aisle, zone",
    "commercial": "commercial",
    "fragile": "fragile, gift wrap, insurance, insured",
    "size_of_case": "per box, per case, per carton, pcs per carton, units per box, units per case",
}

_SAYING_NOTHING: Final = (
    "of the a an and or for in per with as to optional required mandatory inr rs rupees dd mm yyyy hh ss yy header "
    "merchant your our dead primary full own master display sale sales operations operation internal billed short "
    "de du des del la le les el et y und der die das fur pro rechte ist का की के को व और ને ની નો નું માં"
)
SILENT: Final = frozenset(_SAYING_NOTHING.split())
"""Words that say nothing."""

PHRASES: Final[dict[str, str]] = {
    phrase: meaning for meaning, phrases in _MEANINGS.items() for phrase in phrases.split(", ")
}
"""What words, and words that stand together, mean: `pin code` is `pin`; a meaning may be of two parts."""
