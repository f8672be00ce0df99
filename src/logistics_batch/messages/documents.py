"""What became of a document and its rows: sent, refused, in doubt, held, and what a person decided."""

from functools import partial
from typing import Final

from logistics_batch.messages.entry import Entry
from logistics_batch.messages.reasons import NO_REASON, OF_WHAT_IS_HELD, UNSENT, HeldDecision, Reason, WaitsFor

# Reasons that are alike in what follows from them.
_shown: Final = partial(Reason, waits_for=WaitsFor.SHOWING, may_exist=True)
_settled: Final = partial(Reason, waits_for=WaitsFor.SETTLING, may_exist=True, choices=())
_settled_by_a_person: Final = partial(_settled, resend=False)
_chosen: Final = partial(Reason, waits_for=WaitsFor.CHOICE, choices=UNSENT)
_behind_another: Final = partial(Reason, waits_for=WaitsFor.OTHERS, choices=UNSENT)

_LOOKED_UP: Final = "Nothing: the operator looks it up at the service and decides. Do not send it another way."
_OTHER_NUMBER: Final = "give it another number and drop the file again"
_WAIT: Final = "Nothing now: it is checked with the service later. Do not send it another way."
_CHECKED_LATER: Final = "Nothing: it is checked with the service at the next run, or by “settle --wait”."
_LOOK_AT_ORDER: Final = (
    "Look at the order at the service: decide “accept” if the change is there, else “drop” or “send-again”."
)
_LOOK_IT_UP: Final = (
    "Look the reference up at the service: decide “accept” if it is there, else “drop” or “send-again”."
)
_DROP_IT: Final = (
    "Decide “drop”. When the order is settled (“settle --wait”), drop the file again: it goes to its own number."
)
_ONCE_CHECKED: Final = "Nothing now: the order is checked with the service first. Then drop the file again."
_NO_LABEL: Final = "Use no label of that number for it. It may or may not have arrived."
_IF_CANCELLED: Final = "If this order was cancelled by hand after its answer was lost, check it at the service."
_HAS_REFERENCE: Final = (
    "Accepted: the service says that it has this reference, after an answer was lost. Its AWB number is not known."
)
_CORRECT: Final = (
    "Correct the row and drop the file again; only what changed goes out. "
    "If the row is right, ask the operator to have it sent again."
)
_BEFORE_CHANGE: Final = (
    "Nothing was sent: before its first change an order is looked at, and the service does not show that {number} is "
    "the order {reference}"
)
_LOOK_UP_ORDER: Final = "Look it up at the service: decide “send-again” if {number} is this order, else “drop”."
_ANSWERED: Final = "Nothing was sent: the AWB number {number}, with which {reference} was answered, is that of "
_SEARCHED: Final = "Look it up at the service: decide “accept” if it is there, “send-again” if it is not, or “drop”."
_OPERATOR_DECIDES: Final = "Nothing now: the operator decides."
_CHANGED: Final = "The service already accepted this document with other content."
_PUT_BACK: Final = (
    "If the change was a mistake, put back what was accepted and drop the file again; else ask the operator."
)
_RESTORE: Final = "Restore the accepted content, change it at the service, or drop this version."
_NUMBER_TAKEN: Final = f"If it is another order, {_OTHER_NUMBER}; else ask the operator."
_DECIDED: Final = "Decided by a person on {at:moment}: {reason}"
_TAKEN_BACK: Final = "If it is wanted after all, the operator decides “reopen” about {number}; then drop it again."

FATES: Final[dict[str, Entry]] = {
    # What is told where nothing else is known. Users see no rule.
    ".refused": Entry(
        "The service refused this document without saying why.",
        "Correct what the reason names and drop the file again.",
    ),
    ".invalid": Entry("This row cannot be sent as it is.", "Correct the row and drop the file again."),
    ".blocked": Entry(
        "Its document was not sent, for another of its rows.",
        "Correct the other rows of this document and drop the file again.",
    ),
    ".in_doubt": Entry("Sent, but no trustworthy answer came back; it may or may not have been taken.", _WAIT),
    ".held": Entry("A person must decide before this is sent.", _OPERATOR_DECIDES),
    ".held_with_file": Entry("Its file is held as a whole.", "Correct what the reason names and send the file again."),
    ".pending": Entry("Not sent yet.", "Nothing: the next run sends it."),
    ".planned": Entry("Not sent yet: it goes out with the next run.", "Nothing: the next run sends it."),
    ".sending": Entry("Sent, and no answer has been recorded yet.", _WAIT),
    ".no_awb_number": Entry("Accepted; the AWB number is not known."),
    ".would_go_out": Entry("It would go out.", "Nothing: the next run sends it."),
    ".would_ask_label": Entry("Its label would be asked for.", "Nothing: the next run sends it."),
    ".would_reconcile": Entry("It would be reconciled.", "Nothing: the next run sends it."),
    "unchanged": Entry("Accepted earlier, {run:run}; not sent again."),
    "unchanged.round": Entry(
        "Accepted in the round of {at:moment}, as corrected in {file} ({run:run}); not sent again."
    ),
    "accepted_before": Entry(
        '"{key}" was accepted before, through {file} on {at:moment} (number {number}).',
        "Leave the row out, if nothing else is to change in it.",
    ),
    "superseded": Entry("Replaced by {file} on {at:moment}."),
    "superseded.by_mapping": Entry("Made anew by the mapping as it was corrected since."),
}

ANSWERED: Final[dict[str, Entry]] = {
    "refused": Entry("The service refused it: {message}", _CORRECT),
    "refused.silent": Entry("The service refused it without a reason.", _CORRECT),
    "not_sent": Entry("Not sent yet: {why:messages}", "Nothing: the next run sends it."),
    "not_sent.yet": Entry("Not sent yet: it goes out with the next run.", "Nothing: the next run sends it."),
    ".key_refused": Entry("the service does not accept the API key (401)."),
    ".slow_down": Entry("the service asked to slow down (429)."),
    ".misaddressed": Entry("the service's address or path is wrong (answer {status})."),
    ".unreachable": Entry("the service could not be reached."),
    ".not_asked": Entry("asked what it has of it, the service answered {status} “{message}”."),
    ".not_asked_silent": Entry("asked what it has of it, the service answered {status}."),
    "retry": Reason(
        "Refused earlier; the operator has it sent again.",
        "Nothing: the next run sends it.",
        waits_for=WaitsFor.NEXT_RUN,
        choices=(),
    ),
    "earlier_ended": Reason(
        "The version before it is not at the service; this one goes out.",
        "Nothing: the next run sends it.",
        waits_for=WaitsFor.NEXT_RUN,
        choices=(),
    ),
    "in_doubt": _settled(
        "{why:messages} It may or may not have arrived.",
        _WAIT,
        "Nothing now: it is checked with the service later, or at once by “settle --wait”. Do not send it by hand.",
    ),
    ".no_answer": Entry("The service did not answer in time."),
    ".broken_off": Entry("The connection broke before the answer was complete."),
    ".web_page": Entry("A web page came back instead of an answer of the service."),
    ".proves_nothing": Entry("The service answered {status} “{message}”, which does not prove anything."),
    ".proves_nothing_silent": Entry("The service answered {status}, which does not prove anything."),
    ".other_invoice": Entry("The service answered with another invoice number ({number})."),
    ".other_goods": Entry("The service answered with goods that this order does not have."),
    ".others_order": Entry("The service accepted it with the AWB number of an order with another reference."),
    ".other_content": Entry("The service accepted it, but shows another order under its reference."),
    ".cancelled_order": Entry("The service accepted it, but shows it cancelled."),
    ".not_looked_at": Entry(
        "The service accepted it with AWB number {awb_number}, and could not be asked whether that is this order."
    ),
    ".acceptance_not_shown": Entry("The service accepted it and does not show it; its reference was sent before."),
    ".others_number": Entry("The service answered with the AWB number of another order ({awb_number})."),
    ".words_after_restore": Entry(
        "The service answered with “{message}”, and the ledger was restored from an older copy."
    ),
    "sender_died": _settled(
        "The program ended while this was being sent; whether it arrived is not known yet.",
        _WAIT,
        _CHECKED_LATER,
    ),
    "sender_lost": _settled_by_a_person(
        "The program ended while this was being sent; whether it arrived is not known yet.",
        _WAIT,
        _CHECKED_LATER,
    ),
    "mixed_up": _settled(
        f"The answer to it, with AWB number {{awb_number}}, was that of the order {{reference}}. {_NO_LABEL}",
        _WAIT,
        _CHECKED_LATER,
    ),
    "mixed_up.shown": _settled(
        f"The service shows it under AWB number {{awb_number}}: the answer to it was another order's. {_NO_LABEL}",
        _WAIT,
        _CHECKED_LATER,
    ),
    "restored": _settled_by_a_person(
        "It was in doubt when this copy of the ledger was made; it may have been settled, cancelled or dropped since.",
        _WAIT,
    ),
    "restored.released": _shown(
        "It was to be sent again when this copy of the ledger was made; it may have been sent since.{next: messages}",
        _OPERATOR_DECIDES,
        _SEARCHED,
    ),
    ".asked_next": Entry("The service is asked again from {at:moment} on, until {until:moment}."),
    "settled": Entry("Accepted; found at the service after an answer was lost."),
    "settled.has_reference": Entry(_HAS_REFERENCE),
    "settled.has_reference_again": Entry(f"{_HAS_REFERENCE} {_IF_CANCELLED}"),
    "settled.sent_again": Entry(f"Accepted; sent again. {_IF_CANCELLED}"),
    "possible_duplicate.marked": Entry(
        "Accepted; but the service shows {count} ASNs with its marker: it has them more than once.",
        "Nothing to send: tell the service's operator which ones to close.",
    ),
    "cancelled.by_hand": Entry("Cancelled by hand."),
    "cancelled.by_file": Entry("Cancelled by {file}."),
    "cancelled.elsewhere": Entry("The service shows it cancelled; it was not cancelled from here."),
    "decided": Entry(_DECIDED),
    "dropped": Entry(_DECIDED, _TAKEN_BACK),
    "dropped.order_ships": Entry(
        f"{_DECIDED}. The order as it was accepted still ships, with AWB number {{awb_number}}.", _TAKEN_BACK
    ),
    "dropped.order_ships_numberless": Entry(
        f"{_DECIDED}. The order as it was accepted still ships; its AWB number is not known.", _TAKEN_BACK
    ),
    "dropped.asn_stays": Entry(f"{_DECIDED}. The ASN stays at the service as it was accepted.", _TAKEN_BACK),
    "reopened.drop": Entry(f"{_DECIDED}. It was dropped before, and that is taken back.", "Drop the file again."),
}
"""What the service said, as far as it proves anything, and what was found out or decided afterwards. Those that begin
with a full stop stand within others."""

HELD_AFTER_SENDING: Final[dict[str, Entry]] = {
    "another_order": Reason(
        "The service says that it changed another order ({awb_number}).", _LOOKED_UP, _LOOK_AT_ORDER, may_exist=True
    ),
    "another_order.sent": Reason(
        "Sent {at:moment} to the AWB number {number}, no trustworthy answer; {seen}, which it may have changed.",
        _LOOKED_UP,
        "Look at both orders at the service and put them right there; then decide “drop”.",
        may_exist=True,
    ),
    "found_cancelled": Reason(
        "The order reached the service (AWB {awb_number}) and was cancelled there.",
        f"If it is still wanted, {_OTHER_NUMBER}, or ask the operator.",
        "If it is still wanted, decide “send-again” with --reissue, else “drop”.",
        may_exist=True,
    ),
    "found_cancelled.numberless": Reason(
        "The order reached the service (AWB not known) and was cancelled there.",
        f"If it is still wanted, {_OTHER_NUMBER}, or ask the operator.",
        "If it is still wanted, decide “send-again” with --reissue, else “drop”.",
        may_exist=True,
    ),
    "not_all_shown": _shown(
        "Sent without an answer; the service showed only a part of what it has under this invoice number."
        "{next: messages}",
        _LOOKED_UP,
        "Look all of it up at the service: decide “accept” if it is there, “send-again” if it is not, or “drop”.",
    ),
    "not_all_shown.before": _shown(
        "Sent without an answer; what the service had under this invoice number before that is not known."
        "{next: messages}",
        _LOOKED_UP,
        _SEARCHED,
    ),
    "not_distinct": Reason(
        "Sent without an answer; what the service shows may as well be another ASN of ours with this invoice number.",
        _LOOKED_UP,
        "Look at the service whether it has one for each: decide “accept” if it has, else “send-again” or “drop”.",
        may_exist=True,
    ),
    "not_found": _shown(
        "Sent {at:moment}, no answer; not found in {searches} searches until {until:moment}.{next: messages}",
        _LOOKED_UP,
        "Decide “send-again” if the service does not have it, “accept” if it has, or “drop”.",
    ),
    "not_found.order": _shown(
        "Sent {attempts} times without a trustworthy answer; the service does not have it.{next: messages}",
        _LOOKED_UP,
        "Decide “send-again” or “drop”.",
    ),
    "not_shown": _shown(
        "Sent {at:moment}, no trustworthy answer; {seen}.{next: messages}",
        _LOOKED_UP,
        "Look at the order or ASN at the service: decide “accept” if the change is there, else “send-again” or “drop”.",
    ),
    "possible_duplicate": Reason(
        "The service has {count} new ASNs with this invoice number and content.",
        _LOOKED_UP,
        "Check at the service which are wanted, then decide “accept”.",
        may_exist=True,
    ),
    "reference_taken": Reason(
        "The service says that it has an order under this reference already, from before this one was sent.",
        _NUMBER_TAKEN,
        "Compare both orders; give this one another reference, or decide “drop”.",
    ),
    "reference_taken.other_content": Reason(
        "The service has an order under this reference, but with other content than was sent from here.",
        _NUMBER_TAKEN,
        "Compare them at the service: decide “accept” if it is this one, changed or taken in part; if it is somebody "
        "else's, give this one another reference and decide “drop”.",
        may_exist=True,
    ),
    "refused_after_doubt": _shown(
        "An earlier attempt had no answer, and the service now said: {message}{next: messages}",
        _LOOKED_UP,
        _LOOK_IT_UP,
    ),
    "refused_after_doubt.change": _shown(
        "An earlier attempt had no answer, and the service now said: {message}{next: messages}",
        _LOOKED_UP,
        _LOOK_AT_ORDER,
    ),
    "refused_after_doubt.not_shown": _shown(
        "The service refused it in words for a taken reference, but does not show the order: {message}{next: messages}",
        _LOOKED_UP,
        _LOOK_IT_UP,
    ),
    "search_not_believed": _shown(
        "Sent without an answer and not found; but another ASN, which it has accepted, is not found either."
        "{next: messages}",
        _LOOKED_UP,
        _SEARCHED,
    ),
    "search_not_believed.nothing_known": _shown(
        "Sent without an answer and not found; but no ASN is known yet that the service certainly shows."
        "{next: messages}",
        _LOOKED_UP,
        _SEARCHED,
    ),
    "unknown": _shown(
        "Sent without a trustworthy answer, and asking the service gave no certainty.{next: messages}",
        _LOOKED_UP,
        "Look the reference up at the service: decide “accept” if it is there, “send-again” if it is not.",
    ),
}
"""Something of it may exist at the service; a person decides."""

HELD_BEFORE_SENDING: Final[dict[str, Entry]] = {
    "already_present": Reason(
        "The service already has an ASN with this invoice number and content.",
        _LOOKED_UP,
        "If it is this one, decide “accept”; if another one is wanted, decide “send-again”.",
    ),
    "anothers_number": Reason(
        "Nothing was sent: {number} is not known any more to be the AWB number of the order {reference}.",
        _ONCE_CHECKED,
        _DROP_IT,
        waits_for=WaitsFor.OTHERS,
        choices=(HeldDecision.DROP,),
    ),
    "anothers_number.shown": Reason(
        f"{_ANSWERED}the order {{shown}}.",
        _ONCE_CHECKED,
        _DROP_IT,
        waits_for=WaitsFor.OTHERS,
        choices=(HeldDecision.DROP,),
    ),
    "anothers_number.another": Reason(
        f"{_ANSWERED}another order.", _ONCE_CHECKED, _DROP_IT, waits_for=WaitsFor.OTHERS, choices=(HeldDecision.DROP,)
    ),
    "approval": Reason(
        "It goes out when a person has approved it.",
        "Nothing: it goes out when the operator has approved it.",
        "“held show” tells what would go out, “held decide” approves or drops it.",
        waits_for=WaitsFor.APPROVAL,
        choices=(HeldDecision.APPROVE, *OF_WHAT_IS_HELD),
    ),
    "cancelled": _chosen(
        "This order was accepted earlier and has been cancelled since.",
        f"If it is wanted again, {_OTHER_NUMBER}, or ask the operator.",
        "To use the reference again, decide “send-again” with --reissue.",
    ),
    "changed_after_acceptance": Reason(_CHANGED, _PUT_BACK, _RESTORE, waits_for=WaitsFor.CHOICE, choices=UNSENT),
    "changed_after_acceptance.no_update": _chosen(
        f"{_CHANGED} It is not updated: {{why:messages}}",
        _PUT_BACK,
        _RESTORE,
    ),
    ".nothing_to_compare": Entry("what was accepted earlier is no longer kept, and cannot be compared."),
    ".awb_unknown": Entry("the AWB number of the order is not known."),
    ".awb_unusable": Entry("the AWB number of the order cannot stand in a call."),
    ".asn_identity": Entry(
        "what identifies an ASN is not documented (API §4.3), and service.asn.update_identity not set."
    ),
    ".cannot_change": Entry("{fields} cannot be changed in an order that was accepted (API §4.7)."),
    ".line_gone": Entry("{items} is no longer in it; what becomes of its line is not documented."),
    ".other_items": Entry("its items are not the same; add or delete them with a mapping for that (API §4.8, §4.9)."),
    ".items_changed": Entry(
        "items of it were added or deleted by another file; bring this change by such a file, too (API §4.7 to §4.9)."
    ),
    ".item_id_unknown": Entry("the id of its item {item} is not known for certain."),
    ".value_gone": Entry("{fields} has no value any more, and an update takes none away."),
    ".invoice_shared": Entry("another ASN has the same invoice number."),
    ".of_field": Entry("{field}: {said:messages}"),
    "contract": Reason(
        "The document is not sent, for it breaks the contract of the service. {said:messages}",
        "Ask the operator: the row or the mapping has to be corrected.",
        "Drop it (decide “drop”), correct the row, or the mapping, and send the row again.",
    ),
    "dropped_in_doubt": Reason(
        "A later change of this had no answer and was dropped, so what the service has now is not known.",
        _LOOKED_UP,
        "Look at the order: if this content is not there and is wanted, decide “send-again”, else “drop”.",
        waits_for=WaitsFor.REPEAT,
    ),
    "earlier_held": _behind_another(
        "An earlier version waits for a decision.",
        "Nothing now: the operator decides about the earlier version first.",
        "Decide about the earlier version first.",
    ),
    "earlier_in_doubt": _behind_another(
        "An earlier version was sent and its answer is not known yet.",
        "Nothing now: the earlier version is checked with the service first.",
        "Wait until the earlier version is settled, then decide.",
    ),
    "not_answered": Reason(
        "Nothing was sent: the service was asked first what it has of this, and answered: {message}",
        _LOOKED_UP,
        "Look it up at the service: decide “send-again” if it does not have it, “accept” if it has, or “drop”.",
    ),
    "older_file": Reason(
        "This very file was processed before, and a later file changed the same thing since.",
        "Nothing, if the later file is right; if this one is, ask the operator.",
        "If the older content is wanted again, decide “send-again”; if the file came by mistake, “drop”.",
        waits_for=WaitsFor.REPEAT,
        choices=UNSENT,
    ),
    "older_file.other_order": Reason(
        "This very file was processed before, when {other} had the reference; another order has it now.",
        "Nothing, if the file was dropped twice; if the new order is to change too, ask the operator.",
        "If the order that has it now is to change, decide “send-again”; if the file came by mistake, decide “drop”.",
        waits_for=WaitsFor.REPEAT,
        choices=UNSENT,
    ),
    "order_in_doubt": _behind_another(
        "Another change of this order was sent and its answer is not known yet.",
        "Nothing now: the other change of this order is checked with the service first.",
        "Wait until the other change is settled, then decide.",
    ),
    "order_not_shown": Reason(f"{_BEFORE_CHANGE}.", _LOOKED_UP, _LOOK_UP_ORDER, waits_for=WaitsFor.OTHERS),
    "order_not_shown.said": Reason(
        f"{_BEFORE_CHANGE} ({{said}}).", _LOOKED_UP, _LOOK_UP_ORDER, waits_for=WaitsFor.OTHERS
    ),
    "other_address": Reason(
        "It was planned for another address of the service than that of the settings; nothing of it was sent.",
        "Nothing now: the operator decides.",
        "If that address was mistyped, decide “drop”; if it is right, write service.base_url so again.",
        waits_for=WaitsFor.CHOICE,
        choices=(HeldDecision.DROP,),
    ),
    "other_address.in_use": Reason(
        "It waits at another address of the service than that of the settings, which has accepted others."
        "{why: messages}",
        "Nothing now: the operator decides.",
        "Write service.base_url so again, and decide there.",
        waits_for=WaitsFor.CHOICE,
        choices=(),
    ),
    "other_grouping": Reason(
        "Some rows of this were sent by the mapping as it was before, in other documents.",
        "Nothing now: the operator decides, for some rows of it were sent in another order.",
        "Look at the results of those rows; if all of it is to go out, decide “send-again”, else “drop”.",
        waits_for=WaitsFor.CHOICE,
    ),
    "other_spelling": _chosen(
        '"{key}" differs only in {ways} from "{other}" ({file}, row {row}), which {alive}: are they one?',
        f"If they are one, write it as it is there; if it is another order, {_OTHER_NUMBER}.",
        "If they are one, decide “drop”; if they are two, decide “send-again”: then this one goes out as well.",
    ),
    "reopened": Reason(
        "It was sent without an answer and dropped, and that was taken back; whether the service has it is not known.",
        _LOOKED_UP,
        "Look at the service: decide “accept” if it is there, “send-again” if it is not and is wanted, else “drop”.",
        waits_for=WaitsFor.REPEAT,
    ),
    "same_bytes": _chosen(
        "The very same file came before as “{file}” (row {row}), and made “{other}” of these rows: is it wanted twice?",
        "Nothing, if the file was dropped twice by mistake; if the goods come once more, tell the operator.",
        "If the file came by mistake, decide “drop”; if these goods come once more, decide “send-again”.",
    ),
    "two_files": _chosen(
        "{file} (row {row}) says something else about it, and neither of the two has gone out: which one counts?",
        "Nothing now: the operator decides which of the two files counts. Tell them if you know.",
        "Decide “drop” for the one that is wrong, then “send-again” for the other.",
    ),
    "undone_since": Reason(
        "This was accepted before, and a later file added or deleted items of this order since.",
        f"If it is wanted once more, {_OTHER_NUMBER}, or ask the operator.",
        "If it is wanted once more, decide “send-again”; if the file came by mistake, “drop”.",
        waits_for=WaitsFor.REPEAT,
    ),
}
"""Nothing of it was sent; a person decides, or something else ends first."""

DOCUMENTS: Final = FATES | ANSWERED | HELD_AFTER_SENDING | HELD_BEFORE_SENDING

REASONS: Final = {code: entry for code, entry in DOCUMENTS.items() if isinstance(entry, Reason)}
"""Why documents wait, go out again or are in doubt: a new reason is one entry above."""


def reason_of(code: str) -> Reason:
    """What follows from the code of a document; nothing does from that of one which has its end."""
    return REASONS.get(code, NO_REASON)
