"""What a run has to say besides the answers of its files."""

from typing import Final

from logistics_batch.messages.entry import Entry

_AS_WRITTEN: Final = "The answers to {name} (run {run}) stay as they were written: its original is not here."
_WRITTEN_ELSEWHERE: Final = "The next run on the machine that took the file writes them; else copy its var/files here."

_OF_ANOTHER_KEY: Final = (
    "What `doctor --staging` showed was seen with another API key, which may be another account's: it does not count."
)
_RUN_IT_AGAIN: Final = "Run `logistics-batch doctor --staging` with the key of today."
_USED_LAST: Final = "The ledger was used last as {path} on {host}."
_ONE_OF_THEM: Final = (
    "If it was copied, let only one of the two send: neither knows what the other sent. If it was moved, nothing is to "
    "be done."
)

_FILES: Final = {
    "file.none": "No file was found.",
    "file.left": "{name} is left: {why:messages}.",
    "file.left_alike": "{count:,} files are left: {why:messages}. They are: {names:list 100}{more:messages}.",
    ".and_more": " and {count:,} more",
    "file.left_now": "{name} is left for the next run: {why:messages}",
    "file.left_moving": "{name} is left for the next run: {why:messages}, and it still moves.",
    "file.gone": "{name} was gone when it was to be fetched.",
    "file.replaced": "{name}: another file came under this name meanwhile; it is left for the next run.",
    "file.misnamed": "{name} was moved to {folder}, with a note: its name fits no job.",
    "file.goes_on": "{name} goes on where it was interrupted.",
    "file.made_anew": "{name} was interrupted, and its mapping was changed since: what had not been sent was made anew "
    "by it.{stay:messages}",
    ".documents_stay": " Documents that had been sent stay as they were: {count:,}.",
}
_ANSWERS: Final = {
    "answers.called": "The answers to {name} are called {stem}.* in {place}: {own}.* answers a file that came later.",
    "answers.called_by_mapping": "The answers to {name} are called {own}.* in {place}, for the same bytes are answered "
    "there by another mapping, too.",
    "answers.moved": "{own}.* in {place} answers {name}. What lay there, for another file, was moved: it is "
    "called {stem}.* now.",
    "answers.fix_changed": "{changed} in {place} was changed since it was written. It was moved to {moved}; what is to "
    "be corrected by now stands in {changed}, unless nothing is left.",
    "answers.without_columns": "The answers to {name} (run {run}) were written without the sender's columns: its "
    "original is not here. Copy var/files of the machine that took it here, then `logistics-batch runs report {run}`.",
    "answers.program_failed": "The answers to {name} were written without the sender's columns: {why:messages}",
    "answers.purged": "The answers to {name} (run {run}) stay as they are: it was purged.",
    "answers.elsewhere": f"{_AS_WRITTEN} {_WRITTEN_ELSEWHERE}",
    "answers.taken_out": "{name}: {what:messages}",
    "answers.unwritten": "{why}",
}
_TAKEN_OUT: Final = {
    "taken_out.formulas": "Formulas that look at other files, fetch something or start a program were replaced by "
    "their values.",
    "taken_out.links": "Links to anything but https pages and mail addresses were taken out; the texts stay.",
    "taken_out.other_workbooks": "Connections to other workbooks and programs were taken out.",
    "taken_out.data_queries": "Data queries and what refreshes by itself were taken out; the fetched rows stay.",
    "taken_out.programs": "Macros, add-ins and own menus were taken out.",
    "taken_out.parts": "Parts that cannot be seen in any sheet were taken out.",
}
_SENDING: Final = {
    "sending.preview": "Dry run: nothing was sent or written.",
    "sending.slowed": "The service asked {times} times to slow down (429): {came:messages}{then:messages}; nothing was "
    "lost by that.",
    ".calls_came_down": "calls came down to {rate} a second",
    ".calls_waited": "calls waited",
    ".calls_at_the_end": " and were at {rate} a second at the end",
    "sending.paused": "The run paused {times:,} {times:time|times}, {seconds:,} s in all, the time between its tries "
    "included.",
    "sending.unlooked": "Changed though the service does not show whose the AWB number is: {count:,} "
    "{count:order|orders}.",
    "sending.other_key": f"{_OF_ANOTHER_KEY} {_RUN_IT_AGAIN}",
    "sending.broke_off": "A run broke off while it sent {count:,} {count:document|documents} of {files:list 3}"
    "{more:messages}: in doubt, and looked for at the service.",
    "sending.never_sent": "{count:,} {count:document|documents} of {name}{others:messages} {count:was|were} never "
    "sent, for the run {run} ({job}) stopped early: `logistics-batch retry {run}` sends what is left.",
    ".other_files": " and {count:,} other {count:file|files}",
    "sending.released": "Of earlier files, released by a person, went out with this run: {fates:list 20}.",
    "sending.released_one": "{reference}, released by a person: {fate}.{why: messages}",
    "asns.not_found_yet": "{missing} of {all} accepted ASNs are not found yet by their markers.",
    "asns.doubled": "{count} accepted ASNs stand more than once at the service; their rows say what to do.",
}
_LEDGER: Final = {
    "ledger.moved": f"{_USED_LAST} {_ONE_OF_THEM}",
    "ledger.other_address": "The ledger holds {count:,} {count:document|documents} of {account} and none of {own}: "
    "if that is the same service, what went there is not known here. `logistics-batch doctor` says what to do.",
    "ledger.open_elsewhere": "{count:,} {count:document|documents} of {account} {count:is|are} still open; "
    "settling under {own} leaves {count:it|them}.",
}

_PRINT_AGAIN: Final = "`logistics-batch labels --bundle {bundle}/{file} --print {queue}` prints the file again."
_LOOK_FIRST: Final = f"See `lpstat -W all -o {{queue}}` and the printer. If its labels did not come out: {_PRINT_AGAIN}"
_PRINTING: Final = {
    "printing.waiting": Entry(
        "{file} is not printed yet: job {number} waits in the print queue {queue}.{said: }",
        "It is printed when the printer goes on. Do not print the file again before that job is cancelled: "
        "`cancel {number}`.",
    ),
    "printing.refused": Entry(
        "{file} was not printed: the print queue {queue} did not take it, gave it up or was told to.{said: }",
        f"See to the printer. {_PRINT_AGAIN}",
    ),
    "printing.unknown": Entry(
        "Whether {file} was printed is not known: the print queue {queue} did not say how it ended.{said: }",
        _LOOK_FIRST,
    ),
}

RUNS: Final[dict[str, Entry]] = {
    "answers.not_at_hand": Entry(_AS_WRITTEN, _WRITTEN_ELSEWHERE),
    "facts.other_key": Entry(_OF_ANOTHER_KEY, _RUN_IT_AGAIN),
    **_PRINTING,
    "ledger.elsewhere": Entry(_USED_LAST, _ONE_OF_THEM),
    **{code: Entry(words) for code, words in (_FILES | _ANSWERS | _TAKEN_OUT | _SENDING | _LEDGER).items()},
}
