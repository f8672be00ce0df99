"""What is wrong with a mapping file, what a draft of one asks, and what it says and need not, for whoever wrote it."""

from typing import Final

from logistics_batch.messages.drafts import REASONS
from logistics_batch.messages.entry import Entry

_REMOVE: Final = "Remove it."
_KEEP_ONE: Final = "Keep one of the two."
_AN_AMOUNT: Final = "and no amount to collect is mapped: no such order could be sent."
_MAP_COD: Final = "Map `is_cod`, as `is_cod: {{from: Payment}}`. Or keep the amount under `keep`."
_OR_KEEP: Final = "What the service has no place for stands under `keep`, for reports, or `ignore`."

_PARTS: Final = {
    "name": ("A name of blanks alone is no name.", "Write it as the sheet shows it."),
    "one_line": ("A line break or a tab cannot be sent.", "Write it on one line."),
    "lines_from": ("`lines_from` wants exactly one of `split` and `columns`.", ""),
    "on_alone": ("`on` belongs to `split`.", ""),
    "up_to_alone": ("`up_to` belongs to `columns`.", ""),
    "no_number": ("`{name}` has no place for the number.", "Write the number as {{n}}, as `SKU {{n}}`."),
    "pattern.columns": ("A pattern reads the pieces of one column.", "Name one column, or leave out `pattern`."),
    "pattern.brace": ("A brace of the pattern has no partner.", 'Write each part as "{{name}}".'),
    "pattern.no_part": ("The pattern names no part.", 'Write the parts in braces, as "{{sku}} x {{qty}}".'),
    "pattern.twice": ("The pattern names a part twice.", "Give each part a name of its own."),
    "pattern.touch": ("Two parts of the pattern touch each other.", "Write what stands between them."),
    "pattern.other": ("The patterns have different parts.", "Name the same parts in each of them."),
    "told_more": ("`{name}` needs to be told more.", "Write it as `{example}`."),
    "no_word": ("`{name}` is not known here.", "{nearest}"),
    "no_step": ("`{name}` is no way to read a cell.", "{nearest}"),
    "steps": ("One step cannot be `{names:joined ` and `}`.", "Write them as a list, one step after another."),
    "source": (
        "A field wants exactly one source; here stands {name}.",
        "Known: from, join, constant, run, sum, first, cell, beside.",
    ),
    "with_alone": ("`with` belongs to `join`.", ""),
    "less_alone": ("`less`, `plus` and `minus` belong to `sum`.", ""),
    "times_alone": ("`times` belongs to `from` or `sum`.", ""),
    "cartons_alone": ("`cartons` belongs to `from`, and not beside `times`.", ""),
    "under_alone": ("`under` belongs to `beside`.", ""),
    "address": ("`{name}` is no address of a cell.", "Write it as the spreadsheet program does, as C5."),
    "name_part": (
        "Each part of a key or of `join` is the name of a column, or one value outside the table; this is neither.",
        (
            "Write names alone, as `join: [Line 1, City]`, and a value outside the table as `{{cell: C5}}` or "
            "`{{beside: Invoice No}}`, with the first of its labels."
        ),
    ),
    "constant_alone": ("`{name}` needs no `read`, `default` or `required`.", ""),
    "sum_alone": ("`sum` reads its cells as numbers by itself; remove `read`.", ""),
    "delimiter": ("The delimiter is one character.", 'Write auto, tab, or one character such as ";" or "|".'),
    "encoding": (
        "`{name}` is no encoding that is known here.",
        "Write auto, or a name such as utf-8, cp1252 or utf-16.",
    ),
    "order_id_source": ("`order_id` wants exactly one of `from` and `ledger`.", ""),
    "lookup_file": ("The lookup file `{file}` cannot be read: {error}.", ""),
    "lookup_column": ("The lookup file `{file}` has not exactly one column `{name}`.", ""),
    "lookup_twice": ("The lookup file `{file}` gives `{name}` two answers.", "Keep one line of it."),
}
_TARGETS: Final = {
    "empty": ("`{key}` is empty.", "Write its value, or leave the line out."),
    "target": (
        "`{name}` is no target of `{operation}` under `{part}`.",
        f"Known: {{known:joined , }}{{more}}. {_OR_KEEP}",
    ),
    "required": ("`{name}` is required and not mapped.", "Add `{name}:` under `{part}`."),
    "either": ("`{names:joined ` or `}` is required and neither is mapped.", "Map one of them."),
    "of_label": (
        "`{name}` is required beside `awb_number` and not mapped.",
        "Add `{name}:` under `fields`, or map `order_numbers` alone.",
    ),
    "delete_items": (
        "Nothing says which items are to be deleted.",
        "Add `item_id:`, or `item_name:` for orders that were sent from here, under `lines`.",
    ),
    "order_id": (
        "`order_id` is missing: `{operation}` must say which order is meant.",
        "Add `order_id: {{from: AWB}}`, or `order_id: {{ledger: Order No}}` for reference numbers sent from here.",
    ),
    "no_order_id": ("`order_id` has no place in `{operation}`.", "It belongs to `{changes:joined `, `}`."),
    "asn_update": (
        "How the service finds the ASN to update is not documented (API §4.3), so nothing is updated.",
        'If the operator of the service confirms it, set service.asn.update_identity = "invoice_number".',
    ),
    "no_kits": ("`kits` has no place in `{operation}`.", "It belongs to `order.create`."),
    "kits_item": ("`item_name` is required and not mapped.", "Add `item_name:` under `lines`."),
    "key": ("`key` is missing.", "Name the columns whose values rows of one document share."),
    "key_twice": ("`{name}` is the same column as `{earlier}`.", "Name it once."),
    "key_constant": (
        "`{name}` tells one document from another; it cannot be the same for all, and in tomorrow's file.",
        "Take it from a column, or from above or below the table: `{{beside: LABEL}}`.",
    ),
    "kept_name": (
        "`{name}` is no name for what is kept.",
        "Write letters, digits, `_` and `-` alone, as `po_number`.",
    ),
    "taken": ("The name `{name}` is taken.", "Give it another name."),
    "cod": (f"`is_cod` is true, {_AN_AMOUNT}", "Map the amount, or correct `is_cod`."),
    "no_flag": ("`{amount}` is mapped, and `is_cod` is missing: no row with an amount could be sent.", _MAP_COD),
    "no_cod": (
        "`{amount}` is mapped, and `is_cod` is false for all rows: no row with an amount could be sent.",
        _MAP_COD,
    ),
}
_INSTEAD: Final = {
    "target.elsewhere": "It belongs under `{other}`.",
    "target.near": f"Did you mean `{{near}}`? {_OR_KEEP}",
    "target.near_elsewhere": f"Did you mean `{{near}}` under `{{other}}`? {_OR_KEEP}",
    "target.order_id": "Which order is meant stands at the top: `order_id: {{from: AWB}}`.",
    "target.none": f"It has none. {_OR_KEEP}",
}
_COLUMNS: Final = {
    "lines_missing": ("`lines_from` makes lines, and `lines` is missing.", "Map them under `lines`."),
    "by_line": (
        "`{name}` differs from line to line and cannot stand under `fields`.",
        "Use it under `lines` or `keep`.",
    ),
    "unused": ("`{name}` is not used.", "Use it as `{{from: {name}}}` in one of `{lines:joined `, `}`."),
    "unused_alone": ("`{name}` is not used.", "Use it as `{{from: {name}}}` in one of lines."),
    "numbered": (
        "`{name}` is not among the columns that `lines_from` makes.",
        "Add it: `columns: [{columns:joined , }, {name}]`.",
    ),
    "numbered_split": ("`{name}` is not among the columns that `lines_from` makes.", "Name the column itself."),
    "sheet_receipts": ("`lines_sheet` has no place in `receipt.read`: each of its rows stands alone.", _REMOVE),
    "sheet_lines_from": ("`lines_sheet` and `lines_from` cannot be used together.", _KEEP_ONE),
    "sheet_kits": ("`lines_sheet` and `kits` cannot be used together.", _KEEP_ONE),
    "sheet_lines": ("`lines_sheet` reads lines, and `lines` is missing.", "Map them under `lines`."),
    "sheet_key": (
        "`key` and the key of `lines_sheet` name {own} and {other} columns.",
        "Name as many, in the same order.",
    ),
    "sheet_above": ("What stands above the table cannot join two sheets.", "Name key columns that both sheets have."),
    "sheet_total": ("`control_total` reads one sheet and cannot be used with `lines_sheet`.", _REMOVE),
    "filled_near": ("`{name}` is filled down and read by nothing.", "Did you mean `{near}`?"),
    "left_out_blank": (
        "`{name}` is filled down, but rows in which it is blank are left out before that.",
        'Let blank cells fit as well: add "".',
    ),
    "slip": (
        "No field reads `{name}`.",
        "Did you mean `{near}`? If it is a column of its own, name it under `keep`, too.",
    ),
    "ignored": ("`{name}` is ignored and used.", _KEEP_ONE),
    "named_twice": (
        "`{name}` is both `{person}` and `{item}`: a column names a person or goods.",
        "Map another column to one of the two.",
    ),
    "total_made": (
        "`{name}` is made by `lines_from`; no total row has such a cell.",
        "Name a column of the sheet.",
    ),
    "total_also": ("No rule leaves rows out, so every row counts already.", _REMOVE),
    "total_documents": ("`receipt.read` has no documents: each of its rows stands alone.", "Write `says: rows`."),
}
_FIELDS: Final = {
    "of_document": ("`{source}` speaks of a whole document; it cannot stand under `lines`.", ""),
    "unit_of_name": ("`{column}` is in {said} by its name, and `{name}` wants {meant}.", "{instead:messages}"),
    "unit_of_result": ("`{operation}` wants {name}s in {meant}, and this gives {said}.", "{instead:messages}"),
    "unit": ("`{unit}` is no conversion.", "Write `g -> kg`. Known: {known:joined , }."),
    "dozens": ("`{word}` is twelve pieces and would be read as one.", "Write `{{suffix: {{{word}: 12}}}}`."),
    "dozens_price": (
        "`{word}` belongs to a price of twelve pieces, which would go out as that of one.",
        "Take a column of prices for one piece, or leave the price out.",
    ),
    "suffixes": (
        "{words:joined  and } are different units, and their numbers would be sent alike.",
        "Write how many each stands for, as `{{suffix: {{Nos: 1, Box: 10}}}}`, or keep the one that the sheets use.",
    ),
    "suffix_price": (
        "`{word}` belongs to a price, which cannot be multiplied by it.",
        "Take a column of prices for one piece.",
    ),
    "date": ("{fault}", ""),
    "dates": ("`{one}` and `{other}` read the same cell as different dates.", "Keep the one that the sheets use."),
    "joined_date": ("Joined columns cannot be read as a date.", "Use `from`."),
    "table": ("The table is empty.", "List each value that sheets hold, and what it means."),
    "table_blank": (
        "A blank cell is not looked up: an empty cell gives nothing.",
        "Write `default: {answer}` beside `read` instead.",
    ),
    "table_twice": ("`{key}` is listed with different answers; case does not matter here.", ""),
    "unfit": ("`{text}` is not allowed here: {why}", "{wanted}"),
    "blank": ("`{key}` is blank, and nothing blank is sent.", "Write a value."),
    "sum": ("A sum is a number, and `{name}` wants {form}.", "Use `from`."),
    "file_name": ("`file_name` is a text, and `{name}` wants {form}.", "Use `from`."),
    "business_date": ("`business_date` is a date, and `{name}` wants {form}.", "Use `from`."),
    "after": (
        "`{verb}` comes after `{given}`, which leaves it nothing to read.",
        "Keep the one that the column needs.",
    ),
    "gives": (
        "`{given}` does not give {form}, which `{name}` wants.",
        "Write `{fitting:joined ` or `}`, or leave `read` out.",
    ),
}
_UNITS: Final = {
    "convert": "Add `read: {{unit: {said} -> {meant}}}`.",
    "correct": "Write `{said} -> {meant}`.",
    "another": "Take another column.",
}
_WHERE: Final = "nothing in the file was found for `{field}`: where does it stand?"
_IS_VALUE: Final = "is the value of `{names:joined ` or `}` outside the table what `{field}` wants?"
_OR_SEVERAL: Final = (
    'or `{{join: [Date, Sr No], with: "-"}}` of columns that together tell one document from all others.'
)
_IS_IT: Final = "is `{names:joined ` or `}` the column of `{field}`?"
_DRAFTS: Final = {
    "missing": (
        _WHERE,
        (
            "For the `?` write the column's name; or write `{{beside: LABEL}}` for a value above or below the table, "
            "`{{cell: A1}}` for one above it that has no label, or `{{constant: …}}` for one that is the same in every "
            "file. "
            "If there is none, delete the line; where the service demands it, the mapping cannot do without."
        ),
    ),
    "no_key": (
        "no column was found whose value the rows of a document share: which one is the key?",
        "For the `?` write the column's name, or `{{beside: LABEL}}` for a value above or below the table.",
    ),
    "key": (
        "is `{names:joined ` or `}` the key?",
        "Write the column, or the value outside the table, that the rows of a document share, without the `?`.",
    ),
    "lookup": ("what does `{last}` mean for `{field}`?", 'Write "true" or "false" for the `?`.'),
    "when": (
        "on which orders does `{field}` count?",
        "Keep the words of payment that say so, without the `?`, and no others. For a lone `?` write them.",
    ),
    "date": (
        "how are the dates of `{field}` written, `{names:joined ` or `}`?",
        "Keep the right one, without the `?`, and delete the other.",
    ),
    "no_date": (
        "how are the dates of `{field}` written? No way that is known reads most of them.",
        (
            "Write their format for the `?`, as `%d/%m/%Y` or `%d %b %y`, several as a list. Where none reads them, "
            "delete the line and move the column to `ignore`: the orders go out without that date."
        ),
    ),
    "unit": (
        "is `{field}` to be read as `{names:joined ` or `}`?",
        "Take the `?` away, or write the unit that the sheet uses.",
    ),
    "which": (
        "which column is `{field}`, `{names:joined ` or `}`?",
        "Keep the right one, without the `?`, and move the others to `ignore`.",
    ),
    "suffix": (
        "how many is one `{last}` of `{field}`?",
        "Write the number for the `?`: 12 for a dozen, 2 for a pair, 1 for a piece.",
    ),
    "operation": (
        "do these rows make `{names:joined ` or `}`?",
        "Take the `?` away; if not, draft again with `mapping suggest FILE --operation …`.",
    ),
    "skip_rows_where": (
        "are rows with `{names:joined ` or `}` in `{column}` to be left out?",
        (
            "Take the `?` from each word whose rows are not to be sent, and delete the others. Or write "
            "`only_rows_where` with the words of the rows that are to be sent, as `{{{column}: [Pending]}}`."
        ),
    ),
    "sheet": (
        "the sheets `{names:joined ` and `}` have the same columns, and of a file one sheet is read: which one?",
        (
            "Keep its name, without the `?`; rows of the others are not sent. Where these are to go out, too, delete "
            "the line: a file with rows in several such sheets is held, and each must be sent as a file of its own."
        ),
    ),
    "join": (
        "are `{names:joined ` and `}` together `{field}`?",
        "Take the `?` from each column that belongs to it, and move the others to `ignore`.",
    ),
    "times": (
        "is `{field}` `{column}` × `{names:joined ` or `}`?",
        "Take the `?` away from both columns; if `{column}` counts what all boxes hold, delete `{last}`.",
    ),
    "cartons": (
        "is `{field}` `{column}` × as many cartons as `{names:joined ` or `}` names?",
        "Take the `?` away from both columns; if `{column}` counts what all cartons hold, delete `{last}`.",
    ),
    "is_it": (
        _IS_IT,
        (
            "Write the column's name without the `?`; if there is none, `{{beside: LABEL}}` for a value above the "
            "table or `{{constant: …}}`; delete the line if the service does not demand it."
        ),
    ),
    "missing.is_cod": (
        "no column was found for `{field}`: which orders are paid on delivery?",
        (
            'For the `?` write the column\'s name; or write `{{constant: "false"}}` if all are prepaid, or '
            '`{{constant: "true"}}` beside the amount as `cash_on_delivery` if all are paid on delivery. Deleting the '
            "line leaves it to the service."
        ),
    ),
    "is_it.is_cod": (
        _IS_IT,
        (
            'Write the column\'s name without the `?`, or `{{constant: "true"}}`. Beside `cash_on_delivery` the line '
            "cannot be missing; where no cash is collected, delete both."
        ),
    ),
    "is_it.cash_on_delivery": (
        _IS_IT,
        "Write the column's name without the `?`. No order that collects cash goes out without an amount.",
    ),
    "above": (
        _IS_VALUE,
        (
            "Take the `?` away; if it is not, write another `{{beside: LABEL}}` or `{{cell: C5}}`, `{{from: COLUMN}}`, "
            "or `{{constant: …}}` for what is alike in all files; delete the line if the service does not demand it."
        ),
    ),
}
_NUMBERS: Final = {
    "missing": (
        _WHERE,
        "For the `?` write the column's name, `{{beside: LABEL}}` for a value above or below the table, " + _OR_SEVERAL,
    ),
    "is_it": (
        _IS_IT,
        "Write the column's name without the `?`; if there is none, `{{beside: LABEL}}` for a value above the table, "
        + _OR_SEVERAL,
    ),
    "above": (
        _IS_VALUE,
        "Take the `?` away; if it is not, write another `{{beside: LABEL}}` or `{{cell: C5}}`, or `{{from: COLUMN}}`.",
    ),
}
"""What is asked about a document's own number: a constant would be tomorrow's, too."""
_ALSO_KEY: Final = "Write the same under `key`, of a join its columns."
_QUESTIONS: Final = _DRAFTS | {
    f"{code}.{field}": words for field in ("reference_number", "invoice_number") for code, words in _NUMBERS.items()
}
_DEFAULTS: Final = {
    "default": "`{key}` restates the default.",
    "default.required": "`required: true` restates the default: `{operation}` demands `{name}`.",
    "default.text": "`text` restates the default: every cell is read as its trimmed text.",
    "default.step": "`{step}` restates the default: `{name}` is read so.",
    "default.lookup": "The lookup restates the default: these words are known of `{name}`.",
    "default.rows": "`{pattern}` restates the default: such rows are known to be no data.",
}
_FORMS: Final = {
    "flag": ("true or false", 'Write "true" or "false".'),
    "payment": ("true or false", 'Write "true" or "false".'),
    "money": ("an amount", 'Write an amount, as "0.00".'),
    "decimal": ("a number", 'Write a number, as "0.75".'),
    "percent": ("a percentage", 'Write a percentage, as "5".'),
    "degrees": ("degrees", 'Write degrees, as "12.9716".'),
    "quantity": ("a quantity", 'Write a whole number from 1 on, as "1".'),
    "count": ("a count", 'Write a whole number, as "0".'),
    "mobile": ("a mobile number", "Write the ten digits of a mobile number."),
    "pincode": ("a PIN", "Write the six digits of a PIN."),
    "date": ("a date", 'Write a date, as "2026-11-03".'),
    "moment": ("a date and time", 'Write a date, as "2026-11-03".'),
}
"""What a target wants, by the form of its value."""

_HINTS: Final = {
    "lookup_pattern": (
        "A lookup compares whole cells, so that `{key}` stands for no other cell than this one.",
        (
            'List each word as the sheets write it; `"*"` alone stands for every other one. Patterns are for rows: '
            "`skip_rows_where`, `only_rows_where`, `when`."
        ),
    ),
    "packages": (
        "`packages_count` and `{ids}` are both read: an order that has both is not sent, for the service rejects it.",
        "Keep the one that the sheets fill; the other one belongs under `ignore` or `keep`.",
    ),
    "rule_once": (
        "Only the first row of a document may say `{name}`: it is not in `fill_down`, and the key is.",
        "Name it in `fill_down` if it counts for the whole document, as for cancelled orders; not if each row has one.",
    ),
    "equal_lines": (
        "No column says how many, so that each row is one piece; of a document with equal rows nothing is sent.",
        (
            "If each piece has a row of its own, write `checks: {{equal_rows: allow}}`; if not, read the quantity, or "
            "write `checks: {{equal_rows: block}}`."
        ),
    ),
}
"""What a mapping says and may not mean."""

MAPPINGS: Final[dict[str, Entry]] = {
    f"mapping.{code}": Entry(*words)
    for code, words in {
        **_PARTS,
        **_TARGETS,
        **{code: (_TARGETS["target"][0], remedy) for code, remedy in _INSTEAD.items()},
        **_COLUMNS,
        **_FIELDS,
        **{f"instead.{code}": (words, "") for code, words in _UNITS.items()},
        **{f"reason.{code}": (words, "") for code, words in REASONS.items()},
        **{f"form.{form}": words for form, words in _FORMS.items()},
        "draft.also_key": (_ALSO_KEY, ""),
        **{f"draft.{code}": (f"The draft asks: {asked}", remedy) for code, (asked, remedy) in _QUESTIONS.items()},
    }.items()
} | {
    **{f"mapping.{code}": Entry(words, _REMOVE) for code, words in _DEFAULTS.items()},
    **{f"mapping.{code}": Entry(*words) for code, words in _HINTS.items()},
}
