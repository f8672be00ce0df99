"""Why a column may fill a place in the draft of a mapping, or fills none, for whoever answers its questions."""

from typing import Final

REASONS: Final = {
    "usual_name": "the usual name",
    "name_says": "the name says {names[0]}",
    "values_fit": "the values look right ({names[0]})",
    "no_values": "no value to look at",
    "only_values": "the name says nothing, but the values look right ({names[0]})",
    "name_and_phone": "its cells hold a name and a phone together, and nothing takes them apart: the sender must write "
    "each in its own",
    "name_and_address": "its cells hold a name and an address together: as an address they may go out whole, and the "
    "sender must write the name in its own",
    "not_found": "not found, and the service wants it",
    "part_of_address": "it is but a part of an address",
    "unit_beside": "but “{names[0]}” says of some rows that it counts no pieces ({names[1]}): it goes out as it is, "
    "and where one is several pieces, the sender must write pieces",
    "unit_named": "but its name says “{names[0]}”: it goes out as it is, and where one is several pieces, the sender "
    "must write pieces",
    "of_payment": "but it may be the day on which the money is due",
    "beside_address": "but “{names:joined ” and “}” beside it may be a part of it: keep what is, without the `?`",
    "below": "it stands below the table, beside “{names[0]}”",
    "above": "it stands above the table, beside “{names[0]}”",
    "bare_name": "but it may be the name of the goods: nothing of a person stands beside it",
    "of_the_buyer": "it is the buyer's, who may be another than the one who gets the goods",
    "of_which_address": "“{names:joined ” or “}” may be the address that it belongs to",
    "values_differ": "the name says so, but the values do not look like it ({names[0]})",
    "days_unread": "the name says so, and no single format that is known reads “{names:joined ” and “}”: write theirs, "
    "or no line",
    "ranges": "but some of its cells are ranges of cartons: each would go out as the id of one package",
    "says_who_pays": "“{names[0]}” stands above the table, for the whole file",
    "put_aside": "but “{names:joined ” or “}” is called so as well, and its values do not look like it",
    "no_phone": "none of its cells is an Indian mobile number, and the service takes no other",
    "no_pin": "none of its cells is an Indian PIN, and the service takes no other",
    "differs_in": "but one of these has several in “{names[0]}”: they may be together what is sent",
    "of_which_rows": "whether it is the document's or each row's cannot be told without the key",
    "for_all_orders": "it stands once for the file, and several orders may stand below it: is it each one's?",
    "price_of_one": "“{names[0]}” is this × “{names[1]}” on each row",
    "per_box": "but the amounts on the rows are this × “{names[0]}” × the price: it is what one box holds",
    "of_one_box_or_all": "but “{names[0]}” stands beside it, and nothing shows whether it counts what one box holds or "
    "what all hold: if one, add {names[1]}",
    "by_amount": "no column says of which orders cash is collected; if of those with “{names[0]}”",
    "packed": "but its cells hold items with their quantities: `lines_from: {{split: {names[0]}, …}}` takes them apart",
    "only_goods": "no other column names goods",
    "payment_and_amount": "but its cells hold a word and an amount together, and nothing takes them apart: the sender "
    "must write each in its own",
    "foreign": "but it is in another currency: the service counts in rupees",
    "parts": "but “{names:joined ” and “}” beside it may say which part of it counts, or what does not go out or was "
    "paid before: nothing takes that off",
    "contact": "but it is called a contact: who gets the goods may be another",
    "free_beside": "but “{names[0]}” counts goods that come with it: whether they are to be added is not said",
    "of_one_or_line": "but nothing shows whether it is the price of one or of the line of so many “{names[0]}”",
    "of_the_line": "but of the same goods it grows with “{names[0]}”: it may be the price of the whole line",
    "loose": "the name speaks of loose pieces: whether there are others in boxes, no column says",
    "loose_beside": "“{names[0]}” is not added, as no word of a mapping does that: ask the sender for a column of all "
    "pieces",
    "in_one_box": "what one box holds, × “{names[0]}”: no column says the quantity itself",
    "boxes_not_counted": "“{names[0]}” says what one box holds, and no column says how many boxes: ask the sender for "
    "a column of all pieces",
    "price_per": "but it is per “{names:joined ” or “}”, which may be another count than the quantity's",
    "several_in_one": "but its cell holds something else as well, as a day or another number, and would go out whole: "
    "nothing takes it apart",
    "measure_per": "but it is that of one {names[0]}, and nothing multiplies it by their number",
    "done": "cells in “{names:joined ” and “}” say of rows that they must not be sent: cancelled, returned, gone "
    "already, or exchanges, of which nobody would fetch the other part",
    "may_say_void": "nobody knows what the words in “{names:joined ” and “}” say: keep the words that say that an "
    "order must not be sent, and delete the column here if none does",
    "may_name_party": "but it may name the customer, or the supplier: no other column does",
    "twins": "they have the same columns, and one sheet of a file is read",
    "heads": "cells in “{names:joined ” and “}” may speak of other rows, which go out all the same: nothing takes "
    "those out, and the sender must say it in each of them",
    "may_be_party": "words in “{names:joined ” and “}” stand alone above other rows: customers' names, or headings? As "
    "a name none goes out, and other files hold other words: the sender must write it in a column of its own",
    "may_be_goods": "cells in “{names:joined ” and “}” stand with a quantity below the other rows, without what these "
    "have: keep what is no goods, and delete what is, so that its row is told",
    "waits": "days in “{names:joined ” and “}” may be such before which an order must wait, and nothing waits for "
    "them: without the `?` rows with one are left out; else delete the column here, and the sender leaves out what "
    "must wait",
    "charges": "cells in “{names:joined ” and “}” name charges, taxes or sums carried over, which are no goods",
    "no_payment": "an amount is collected, and no column says of which orders",
    "not_said_who_pays": 'no column says who pays: `{{constant: "false"}}` if all are prepaid',
    "no_quantity": "no column says how many: each line would go out without a quantity",
    "rivals": "“{names:joined ” or “}” may be meant",
    "differs_within": "it differs within one document",
    "key_doubted": "but rows with the same one have several in “{names[0]}”",
    "filled_where_cod": "filled where “{names[0]}” says COD",
    "filled_only_where_cod": "it is filled where “{names[0]}” says COD, and nowhere else",
    "filled_with_some": "it is filled with some words of “{names[0]}” and with no others",
    "filled_on_paid": "it is filled on paid orders as well; if it is what COD orders are charged, “{names[0]}” tells "
    "which",
    "left_out_on_paid": "orders that “{names[0]}” does not call COD have one as well: nothing is collected of them, "
    "and it goes out with COD orders alone",
    "if_collected": "if it is what the order is charged",
    "product": "it is “{names[0]}” × “{names[1]}” on each row",
    "product_less": "it is “{names[0]}” × “{names[1]}” on each row, less “{names[2]}”",
    "sum_of_lines": "it is what “{names[0]}” comes to for each document",
    "stated_total": "the sheet's own total of “{names[0]}”, which is not what its rows come to",
    "items_added_up": "no column says what COD orders are charged; if it is what their items come to",
    "no_amount": "no column says what COD orders are charged",
    "doubled": "several columns have this name: only one that stands once can be read",
    "empty": "the column is empty",
    "nameless": "a column without a name: is it one of the fields?",
    "counts_rows": "it counts rows or lines",
    "payer": "whoever pays: the service wants who gets the goods",
    "rate": "a rate: the service wants amounts",
    "status": "how far it is in the system that the file comes from",
    "printed_price": "the price printed on the goods, not what is paid",
    "currency": "the service counts in rupees",
    "other_number": "another number of the same goods",
    "of_one_box": "what one box holds",
    "boxes": "of boxes, not of pieces",
    "ids_or_count": "an order has ids of its packages or their number, never both: “{names[0]}” is likelier",
    "taken_off": "it is taken off the price, which goes out as it stands",
    "of_one_line": "of one line; the service has one for a whole notice",
    "free_goods": "goods that are not paid: whether they count as well is not said",
    "charged_weight": "the weight that is charged, not the goods'",
    "carrier": "how it travels: the service decides",
    "to_keep": "of other papers: it can be kept for reports",
    "papers_date": "a day of the papers, not of the delivery",
    "likelier": "“{names[0]}” is likelier",
    "some_amount": "an amount: whether of one, of the line or of the whole cannot be told",
    "no_field": "the service has no field for it",
    "no_match": "no field was found for it",
    "nothing": "its name is not known: is it one of the fields?",
}
