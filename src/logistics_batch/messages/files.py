"""Why a file is held as a whole or left, or a place where files lie, or the disk of this machine, did not do its part.

Of places, what: the operation, as "sftp:bhiwandi: cannot list /in". place: host and port. server: the section of the
settings.
"""

from typing import Final

from logistics_batch.messages.entry import Entry

_OWN: Final = "{name} is one of our own reports: "
_DROP_THE_OTHER: Final = "Drop the spreadsheet that was meant."
_MOVED: Final = (
    'Check that columns have not moved and that this is the right sheet and file for the mapping "{mapping}"; if the '
    "values are right, ask the operator to correct the mapping. Then send the file again."
)
_NO_HEADER: Final = "Check that the file belongs to this mapping and that its header row is there."
_MISSING: Final = (
    "{sheet:sheet}: the required column{missing:|s} {missing:names 1000} {missing:is|are} missing; row {row}, which "
    "looks most like a header, has {seen:names 1000}."
)
_ONE_SHEET: Final = (
    "Send both sheets in one workbook, or ask the operator to correct the names of the sheets in the mapping."
)

FILES: Final[dict[str, Entry]] = {
    ".is_it_meant": Entry('Is "{seen}" meant as "{name}"?'),
    "header.doubled": Entry(
        "{sheet:sheet}: the header row {row} has the column {names:names 1000} more than once.",
        "Rename or remove one of the two columns.",
    ),
    "header.rivals": Entry(
        "{sheet:sheet}: the rows {rows:numbers} could each be the header row.",
        "Leave one header row, or ask the operator to give its number in the mapping (`sheet: {{header: N}}`).",
    ),
    "header.none": Entry(
        "No header row was found in the first {searched} rows: none has the columns {names:names 1000}.", _NO_HEADER
    ),
    "header.none_in_row": Entry(
        "No header row was found in row {row}: none has the columns {names:names 1000}.", _NO_HEADER
    ),
    "header.missing": Entry(
        _MISSING, "Add the column, or ask the operator to add the name it has here to the mapping."
    ),
    "header.missing_near": Entry(
        _MISSING, "{near:messages} Rename the column, or ask the operator to add its name to the mapping."
    ),
    "header|second_table": Entry(
        "{sheet:sheet}: {rows:row|rows} {rows:rows} below the header row {row} {rows:names|name} other columns, or in "
        "other places: a second table begins there.",
        "Send each table as a file of its own, or put its rows below the columns of the first header.",
    ),
    "sheet.near_miss": Entry(
        'The sheet "{sheet}" has rows and all columns but "{name}"; only one sheet of a file is read.',
        "Send it as a file of its own with this column, or ask the operator to name the sheet to read in the mapping "
        "(`sheet: {{name: …}}`).",
    ),
    "all_alike": Entry("All {rows} rows fail alike: {why:messages}{hints: messages}", _MOVED),
    "all_alike.in_column": Entry(
        'All {rows} rows fail alike in column "{column}": {why:messages}{hints: messages}', _MOVED
    ),
    ".see_cell": Entry("See cell {cell}."),
    ".see_cell_of_sheet": Entry('See cell {cell} on the sheet "{sheet}".'),
    ".such_values_in": Entry('Such values stand in column "{column}".'),
    "budget": Entry(
        "{invalid} of {rows} rows are invalid, more than the allowed {percent} %.{hints: messages}",
        "Correct the invalid rows and send all rows again, for none was sent. If many fail alike, look first whether a "
        "column has moved and whether this is the right sheet and file.",
    ),
    ".most_often": Entry("Most often, {times} times: {why:messages}"),
    ".most_often_in_column": Entry('Most often, {times} times: in column "{column}", {why:messages}'),
    "own_report.answers": Entry(
        f"{_OWN}a list of answers (NAME.result.csv).",
        "Correct the rows in NAME.result.xlsx or in the fix file, and drop that.",
    ),
    "own_report.reconciliation": Entry(f"{_OWN}a reconciliation report.", _DROP_THE_OTHER),
    "own_report.label_index": Entry(f"{_OWN}the index of a label bundle.", _DROP_THE_OTHER),
    "own_report.held_file": Entry(f"{_OWN}it says why another file was not processed.", _DROP_THE_OTHER),
    "file|program_error": Entry(
        "{name} cannot be taken: the program itself failed on it ({error}).",
        "Save it anew from your spreadsheet program and send that. The operator reports it with the log.",
    ),
    ".too_long_for_workbook": Entry(
        "", "A workbook ends at row 1,048,576: open NAME.result.csv, which has an answer for every row."
    ),
    "sheet.several": Entry(
        "The sheets {names:names} all have the columns of the mapping; only one sheet of a file is read.",
        "Send each sheet as a file of its own, or ask the operator to name the sheet in the mapping "
        "(`sheet: {{name: …}}`).",
    ),
    "sheet.not_called": Entry(
        'The mapping reads two sheets of one workbook, and no sheet is called "{name}"; there is {names:sheets}.',
        _ONE_SHEET,
    ),
    "sheet.no_other": Entry(
        "The mapping reads two sheets of one workbook, and there is no sheet beside that of the lines; there is "
        "{names:sheets}.",
        _ONE_SHEET,
    ),
}


_NOT_INPUT: Final = {
    "left.name": "{fault:messages}; rename it",
    "left.lock": "it is the lock file of an open office program",
    "left.dot": "its name begins with a dot",
    "left.upload": "it is an unfinished upload",
    "left.download": "it is an unfinished download",
    "left.acknowledgement": "it is one of our acknowledgements",
    "left.quarantine_note": "it is our note about a file in quarantine",
    "left.result_list": "it is one of our result lists; correct and drop the workbook or the fix file instead",
    "left.link": "it is a link, and links are not followed",
    "left.folder": "it is a folder, and what is in it is not read; drop the files themselves",
    "left.special": "it is a pipe, a socket or a device, and no file",
    "left.own_results": "our results are written into this folder; drop a corrected one under another name",
    "left.done_file": "it is the done-file of {of}",
    "left.misnamed": "its name fits no job that looks there: the patterns are {patterns:list 20}. Rename it",
    "left.misnamed.near": "its name fits no job that looks there, but nearly {near}. Rename it",
    "left.misnamed.kind": "its name fits no job that looks there: files there are called {patterns:list 20}. A new "
    "name alone does not make another file of a {ending} file: save it under such a name from your spreadsheet program",
    "left.pattern": "its name fits none of the patterns {patterns:list 1000}",
}
_NOT_COMPLETE: Final = {
    "left.no_done_file": "its done-file {done} is not there yet",
    "left.listings": "it has not been seen in {listings} listings yet",
    "left.changes": "it still changes: size or time of change were not alike in the last listings",
    "left.unstable": "{why}",
    "left.no_archive_end": "it begins as a workbook or archive, and its end is missing",
    "left.no_line_end": "its last line does not end",
}

LEFT: Final[dict[str, Entry]] = {
    "name.none": Entry("it has no name"),
    "name.slash": Entry("its name holds a slash"),
    "name.backslash": Entry("its name holds a backslash"),
    "name.control": Entry("its name holds a control character"),
    "name.unicode": Entry("its name is not valid Unicode"),
    "name.long": Entry("its name is longer than {most} characters"),
    **{code: Entry(words) for code, words in (_NOT_INPUT | _NOT_COMPLETE).items()},
}

_AGAIN: Final = "The next run tries again; if it goes on, ask the server's operator."
_LOGIN: Final = "Check username and key_file or password_file under [sftp.{server}]."
_SHOWS: Final = "{store}: the server {place} shows the host key {shown}, "

STORES: Final[dict[str, Entry]] = {
    "store.name": Entry(
        "{store}: cannot {operation} {path}: {why:messages}.", "Rename the file or folder on the server."
    ),
    "store.leads_out": Entry(
        "{store}: cannot {operation} {path}: a link leads out of the folder.",
        "Put a real folder in the place of the link, or configure the folder it points to.",
    ),
    "store.listing": Entry(
        "{what}: it was left off after {count:,} names, for {why}; what else lies there is not known.",
        "Move what is done with out of that folder, or let the job read one that holds its own files only.",
    ),
    "store.missing": Entry("{what}: it is not there.", "Check the path in the job file, or create the folder."),
    "store.forbidden": Entry("{what}: permission denied.", "Give the user that runs logistics-batch the right to it."),
    "store.forbidden_there": Entry(
        "{what}: permission denied.", "Ask the server's operator to give {user} the right to it."
    ),
    "store.link": Entry("{what}: it is a link, and links are not followed.", "Put the file itself there."),
    "store.link_there": Entry("{path} is a link, and links are not followed.", "Put the file there."),
    "store.machine": Entry("{what}: {reason}.", "Correct that on the machine, then run again."),
    "store.too_large": Entry("{store}: {path} has {size:,} bytes, at most {most:,} are read."),
    "store.no_free_name": Entry("{store}: cannot move {path}: no free name is left in {folder}."),
    "store.no_folder": Entry(
        "{store}: cannot move {path}: {folder} cannot be reached.",
        "See that the folder, and what it lies on, is there.",
    ),
    "store.unstable": Entry(
        "{store}: {path} is not at rest: {why}.",
        "It is left where it lies; the next run takes it when its upload has ended.",
    ),
    "store.disk": Entry(
        "Cannot write {path}: {reason}.",
        "Free some space or correct the rights of that folder; the file still lies at its source.",
    ),
    "store.disk_full": Entry("Cannot write {path}: no space left.", "Free some space; the file was not lost."),
    "store.weak": Entry(
        "{what}: what the server {place} offers can be broken, so nothing was logged in to: {reason}.",
        "Ask the server's operator to update it, or to switch one of the taken ones on.",
    ),
    "store.login": Entry("{what}: the server {place} does not let user {user} in.", _LOGIN),
    "store.host": Entry("{what}: the host {host} is not known.", "Check host under [sftp.{server}]."),
    "store.no_way": Entry("{what}: {place} cannot be reached ({reason}).", f"Check the network and host. {_AGAIN}"),
    "store.port": Entry("{what}: nothing listens at {place}.", f"Check host and port. {_AGAIN}"),
    "store.deadline": Entry("{what}: the transfer took longer than {deadline:g} s.", _AGAIN),
    "store.silent": Entry("{what}: {place} did not answer for {timeout:g} s.", _AGAIN),
    "store.dropped": Entry("{what}: the connection to {place} broke ({reason}).", _AGAIN),
    "store.server": Entry(
        "{what}: the server refused ({reason}).",
        "Its disk may be full, its quota used up, or writing there forbidden: ask its operator.",
    ),
    "host_key.unpinned": Entry(
        f"{_SHOWS}and no key is pinned for it. No login was tried.",
        "Compare the fingerprint with the one that the server's operator tells you. If they are equal, put this line "
        'under [sftp.{server}] in logistics-batch.toml:\nhost_key = "{line}"',
    ),
    "host_key.changed": Entry(
        f"{_SHOWS}but pinned is {{known}}. The server has changed, or somebody stands between. No login was tried.",
        "Ask the server's operator, by telephone, whether the key was changed. Only then replace the pinned key:\n"
        'host_key = "{line}"',
    ),
    "host_key.form": Entry(
        '{store}: the pinned host key is not of the form "ssh-ed25519 AAAA…".',
        "Take the line from `ssh-keyscan -p {port} {host}` without the host's name, and compare its fingerprint.",
    ),
    "host_key.file": Entry(
        "{store}: cannot read the known_hosts file {file}: {reason}.",
        "Correct the path, or pin the key itself as host_key.",
    ),
    "login_key.none": Entry("[sftp.{server}] has neither key_file nor password_file.", "Set one of them."),
    "login_key.open": Entry(
        "[sftp.{server}]: the key file {file} can be read by other users of this machine.", "chmod 600 {file}"
    ),
    "login_key.unusable": Entry(
        "[sftp.{server}]: {file} is no private key that can be used: it has a passphrase or is a public key.",
        "Make one without a passphrase: ssh-keygen -t ed25519 -N '' -f FILE",
    ),
    "login_key.unread": Entry("[sftp.{server}]: cannot read the key file {file}: {reason}."),
    "pgp.library": Entry(
        "[pgp] is set, but the PGP library is not installed.",
        "Install the extra: pip install 'logistics-batch[pgp]'.",
    ),
    "pgp.key": Entry(
        "pgp.key_file: {file} is no usable private key.",
        "Export the private key again (gpg --armor --export-secret-keys) and check its passphrase.",
    ),
}
