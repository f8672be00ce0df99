"""Why a name cannot be taken, and why a file is left where it lies."""

from typing import Final

from logistics_batch.messages.entry import Entry, Level

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
    **{code: Entry(words, level=Level.NOTE) for code, words in (_NOT_INPUT | _NOT_COMPLETE).items()},
}
