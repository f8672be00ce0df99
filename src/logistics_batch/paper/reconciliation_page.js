// The list of exceptions: sort, filter, group, drill down, export. It reads what the page brought along and asks nobody.
// Texts of files only ever become text nodes and attributes, never markup.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const FIELDS = Object.keys(data.columns);
  const cell = (field, row) => data.columns[field].words[data.columns[field].at[row]];
  const NUMBERS = new Set([
    "qty_announced", "qty_returned", "qty_received", "qty_delta", "delta_percent", "qty_affected", "price_announced",
    "price_returned", "price_delta", "impact_inr", "days_overdue", "nights_open", "claim_days_left",
  ]);
  const TITLES = {
    impact_inr: "INR at stake", code: "Class", severity: "Severity", invoice_number: "Invoice", sku_name: "SKU",
    supplier: "Supplier", site: "Site", qty_delta: "Difference", qty_affected: "Units concerned", days_overdue: "Days overdue",
    bucket: "Age", due_date: "Due", first_seen: "First seen", state: "Since last time", nights_open: "Nights open", owner: "Owner", analyst_status: "Status",
    file_name: "Source file", receipt_file: "Receipts file",
  };
  const COLUMNS = [
    ["code", "Class"], ["impact_inr", "INR at stake"], ["invoice_number", "Invoice · SKU"], ["supplier", "Supplier · site"],
    ["qty_delta", "Difference"], ["reason", "What we see"], ["days_overdue", "Age"], ["state", "Since last time"],
    ["file_name", "Source"],
  ];
  const LISTS = [
    ["open", "Open"], ["accepted", "Accepted"], ["not checked", "Not checked"], ["resolved", "Resolved"],
  ];
  const FILTERS = ["code", "severity", "supplier", "site", "bucket", "state", "owner", "file_name"];
  const GROUPS = ["code", "severity", "supplier", "site", "bucket", "state", "owner", "file_name"];
  const SEVERITIES = ["critical", "high", "medium", "low"];
  const PAGE = 100, PRINTED = 1000;
  const state = { list: "open", search: "", filters: {}, sort: "", down: false, group: "", page: 0, open: new Set(), groups: new Map() };
  let limit = PAGE, wanted = [];

  // --- numbers and words -------------------------------------------------------------------------------------------
  const grouped = (digits, lakh) => {
    const tail = digits.slice(-3), head = digits.slice(0, -3);
    return head ? head.replace(lakh ? /\B(?=(\d{2})+$)/g : /\B(?=(\d{3})+$)/g, ",") + "," + tail : tail;
  };
  const spoken = (text, lakh) => {
    const [, sign, whole, rest] = /^(-?)(\d+)(\.\d+)?$/.exec(text) || [];
    return whole === undefined ? text : sign + grouped(whole, lakh) + (rest || "");
  };
  const rupees = (text) => (text ? "₹\u00a0" + spoken(text, true) : "");
  const signed = (text) => (text && !text.startsWith("-") && Number(text) ? "+" : "") + spoken(text, false);
  const worth = (rows) => {
    const paise = rows.reduce((sum, row) => sum + Math.round(Number(cell("impact_inr", row) || 0) * 100), 0);
    const priced = rows.some((row) => cell("impact_inr", row));
    return priced || !rows.length ? rupees((paise / 100).toFixed(2)) + " at stake" : "no price known";
  };
  const counted = (n, noun) => spoken(String(n), false) + " " + noun + (n === 1 ? "" : "s");

  // --- making elements ---------------------------------------------------------------------------------------------
  const make = (name, look, ...children) => {
    const made = document.createElement(name);
    if (look) made.className = look;
    made.append(...children);
    return made;
  };
  const word = (text, look) => make("bdi", look, text);
  const button = (look, label, act) => {
    const made = make("button", look, label);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  };

  // --- which rows, in which order ----------------------------------------------------------------------------------
  const all = Array.from({ length: data.rows }, (_, row) => row);
  const byList = Object.fromEntries(LISTS.map(([name]) => [name, []]));
  all.forEach((row) => byList[cell("standing", row)].push(row));
  const hay = new Map();
  const haystack = (row) => {
    if (!hay.has(row)) hay.set(row, FIELDS.map((field) => cell(field, row)).join("\n").toLowerCase());
    return hay.get(row);
  };
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const ranks = new Map();
  const rank = (field) => {
    // Each word of a column is compared once; rows are then sorted by plain numbers. What is empty stands last.
    if (!ranks.has(field)) {
      const { words } = data.columns[field];
      const order = words.map((_, place) => place);
      const severity = (place) => SEVERITIES.indexOf(words[place]);
      if (NUMBERS.has(field)) order.sort((a, b) => Number(words[a]) - Number(words[b]));
      else if (field === "severity") order.sort((a, b) => severity(a) - severity(b));
      else order.sort((a, b) => collator.compare(words[a], words[b]));
      const places = new Array(words.length);
      order.forEach((place, nth) => { places[place] = words[place] === "" ? -1 : nth; });
      ranks.set(field, places);
    }
    return ranks.get(field);
  };
  const sorted = (rows) => {
    if (!state.sort) return rows;
    const places = rank(state.sort), { at } = data.columns[state.sort], turn = state.down ? -1 : 1;
    return rows.slice().sort((a, b) => {
      const x = places[at[a]], y = places[at[b]];
      if (x === y) return a - b;
      if (x < 0 || y < 0) return y - x;
      return turn * (x - y);
    });
  };
  const selected = () => {
    const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = byList[state.list].filter((row) =>
      Object.entries(state.filters).every(([field, value]) => cell(field, row) === value) &&
      words.every((one) => haystack(row).includes(one)));
    return sorted(kept);
  };

  // --- one row -----------------------------------------------------------------------------------------------------
  const cut = (text, most) => (text.length > most ? text.slice(0, most) + "…" : text);
  const stack = (...texts) => make("span", "stack", ...texts.filter(Boolean).map((text, nth) => word(cut(text, 120), nth ? "faint" : "")));
  const where = (...parts) => make("span", "where", ...parts.filter(([text]) => text).flatMap(([text, label], nth) => [nth ? " · " : "", label || "", word(cut(text, 120))]));
  const source = (row) => where([cell("file_name", row)], [cell("sheet", row)], [cell("rows", row), "row "]);
  const receipt = (row) => where([cell("receipt_file", row)], [cell("receipt_rows", row), "row "]);
  const stateOf = (row) => {
    const gone = cell("gone_since", row), day = gone || (cell("state", row) === "new" ? "" : cell("first_seen", row));
    const made = stack(gone ? cell("standing", row) : cell("state", row), cell("owner", row), cell("analyst_status", row));
    if (day) made.append(make("span", "faint nowrap", (gone ? "" : "since ") + day));
    return made;
  };
  const values = {
    code: (row) => {
      const made = button("drill", word(cell("code", row), "code " + cell("severity", row)), () => toggle(row));
      made.dataset.row = row;
      made.setAttribute("aria-expanded", state.open.has(row));
      return make("span", "stack", made, word(cell("severity", row), "faint"));
    },
    impact_inr: (row) => word(rupees(cell("impact_inr", row)) || "no price", cell("impact_inr", row) ? "money" : "faint"),
    invoice_number: (row) => stack(cell("invoice_number", row), cell("sku_name", row)),
    supplier: (row) => stack(cell("supplier", row), cell("site", row)),
    qty_delta: (row) => word(signed(cell("qty_delta", row))),
    reason: (row) => word(cut(cell("reason", row), 400)),
    days_overdue: (row) => stack(cell("bucket", row) === "not due" ? "not due" : cell("bucket", row) + " days", cell("due_date", row)),
    state: stateOf,
    file_name: (row) => (cell("file_name", row) ? source(row) : receipt(row)),
  };
  const looks = { impact_inr: "n", qty_delta: "n", reason: "t" };
  const line = (row) => {
    const made = make("tr", "line");
    COLUMNS.forEach(([field, title]) => {
      const td = make("td", looks[field] || "", values[field](row));
      td.dataset.label = title;
      made.append(td);
    });
    return made;
  };
  const facts = (title, pairs) => {
    const list = make("dl", "");
    pairs.filter(([, value]) => value).forEach(([name, value]) => list.append(make("dt", "", name), make("dd", "", value instanceof Node ? value : word(value))));
    return list.childElementCount ? [make("section", "", make("h4", "", title), list)] : [];
  };
  const detail = (row) => {
    const get = (field) => cell(field, row), meaning = data.meanings[get("code")] || { says: "", do: "" };
    const box = make("div", "detail",
      ...facts("What it is", [["What we see", get("reason")], ["Also", get("also")], ["INR by class", get("also") && get("impact_by_class")], ["It says", meaning.says], ["What to do", meaning.do], ["What became of it", get("became")], ["Remark", get("remark")]]),
      ...facts("Where it comes from", [["File", get("file_name")], ["Sheet", get("sheet")], ["Row", get("rows")], ["Run", get("run")],
        ["Receipts", get("receipt_file") && receipt(row)], ["Matched by", get("match_tier")]]),
      ...facts("Legs", [["Ordered", spoken(get("qty_ordered"))], ["Announced", spoken(get("qty_announced"))], ["In service", spoken(get("qty_returned"))], ["Received", spoken(get("qty_received"))],
        ["Difference", signed(get("qty_delta")) + (get("delta_percent") ? " (" + Number(get("delta_percent")).toFixed(1) + " %)" : "")],
        ["Units concerned", spoken(get("qty_affected"))], ["Price announced", rupees(get("price_announced"))], ["Price in service", rupees(get("price_returned"))],
        ["SKU found instead", get("found_sku")]]),
      ...facts("The ASN", [["Supplier", get("supplier")], ["Site", get("site")], ["Batch", get("batch")], ["Due", get("due_date")], ["Days overdue", get("days_overdue")],
        ["Status", get("asn_status")], ["Id in the service", get("record_id")]]),
      ...facts("Analysts", [["Owner", get("owner")], ["Reason", get("analyst_reason")], ["Reason qty", get("reason_qty")], ["Comment", get("comment")], ["Status", get("analyst_status")],
        ["First seen", get("first_seen")], ["Nights open", get("nights_open")], ["Last seen", get("last_seen")], ["exception_id", get("exception_id")]]));
    const td = make("td", "", box);
    td.colSpan = COLUMNS.length;
    return make("tr", "more", td);
  };

  // --- the whole list ----------------------------------------------------------------------------------------------
  const body = $("lines");
  const put = (target, rows) => rows.forEach((row) => {
    target.append(line(row));
    if (state.open.has(row)) target.append(detail(row));
  });
  const partition = (rows) => {
    const found = new Map();
    rows.forEach((row) => { const name = cell(state.group, row); if (!found.has(name)) found.set(name, []); found.get(name).push(row); });
    return found;
  };
  const putGroups = (target) => partition(wanted).forEach((rows, name) => {
    const shown = state.groups.get(name) || 0;
    const made = button("group", "", () => { state.groups.set(name, shown ? 0 : limit); draw(); focusOn("[data-group]", (one) => one.dataset.group === name); });
    made.append(word(name || "(none)"), make("span", "faint", ` · ${counted(rows.length, "line")} · ${worth(rows)}`));
    made.dataset.group = name;
    made.setAttribute("aria-expanded", shown > 0);
    const td = make("td", "", made);
    td.colSpan = COLUMNS.length;
    target.append(make("tr", "head", td));
    put(target, rows.slice(0, shown));
    if (shown && rows.length > shown) {
      const more = make("td", "", button("quiet", `Show ${counted(Math.min(limit, rows.length - shown), "more line")}`, () => { state.groups.set(name, shown + limit); draw(); }));
      more.colSpan = COLUMNS.length;
      target.append(make("tr", "", more));
    }
  });
  const draw = () => {
    const rows = document.createDocumentFragment();
    const pages = state.group ? 1 : Math.max(1, Math.ceil(wanted.length / limit));
    state.page = Math.min(state.page, pages - 1);
    if (!wanted.length) {
      const td = make("td", "none", byList[state.list].length ? "No line fits this search and these filters." : "Nothing stands on this list.");
      td.colSpan = COLUMNS.length;
      rows.append(make("tr", "", td));
    } else if (state.group) putGroups(rows);
    else put(rows, wanted.slice(state.page * limit, (state.page + 1) * limit));
    body.replaceChildren(rows);
    $("pages").hidden = pages < 2;
    $("page").textContent = `Page ${state.page + 1} of ${pages}`;
    $("before").disabled = state.page === 0;
    $("after").disabled = state.page === pages - 1;
    document.querySelectorAll("#list th[data-field]").forEach((th) => {
      if (th.dataset.field === state.sort) th.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
  };
  const select = () => {
    wanted = selected();
    state.page = 0;
    const list = byList[state.list].length;
    $("count").textContent = (wanted.length === list ? counted(list, "line") : `${spoken(String(wanted.length))} of ${counted(list, "line")}`) + ` · ${worth(wanted)}`;
    $("reset").hidden = !state.search && !Object.keys(state.filters).length;
    document.querySelectorAll(".bar").forEach((bar) => bar.classList.toggle("chosen", state.filters[bar.dataset.field] === bar.dataset.value));
    draw();
  };
  const focusOn = (kind, fits) => { const found = [...body.querySelectorAll(kind)].find(fits); if (found) found.focus(); };
  const toggle = (row) => {
    if (!state.open.delete(row)) state.open.add(row);
    draw();
    focusOn(".drill", (one) => Number(one.dataset.row) === row);
  };

  // --- controls ----------------------------------------------------------------------------------------------------
  const fill = (field) => {
    const tally = new Map();
    byList[state.list].forEach((row) => { const value = cell(field, row); tally.set(value, (tally.get(value) || 0) + 1); });
    const box = $("by-" + field), order = [...tally.keys()].sort(field === "severity" ? (a, b) => SEVERITIES.indexOf(a) - SEVERITIES.indexOf(b) : collator.compare);
    box.replaceChildren(new Option("all", "*"), ...order.map((value) => new Option(`${cut(value || "(none)", 60)} (${tally.get(value)})`, "=" + value)));
    const chosen = state.filters[field];
    if (chosen !== undefined && !tally.has(chosen)) delete state.filters[field];
    box.value = state.filters[field] === undefined ? "*" : "=" + state.filters[field];
    box.parentElement.hidden = tally.size < 2 && state.filters[field] === undefined;
  };
  const filter = (field, value) => {
    if (value === undefined) delete state.filters[field]; else state.filters[field] = value;
    $("by-" + field).value = value === undefined ? "*" : "=" + value;
    select();
  };
  const sort = (field, down) => {
    state.sort = field;
    state.down = down;
    $("sort").value = field;
    $("turn").textContent = down ? "↓ descending" : "↑ ascending";
    $("turn").disabled = !field;
    wanted = selected();
    draw();
  };
  const press = (field) => sort(field, state.sort === field ? !state.down : NUMBERS.has(field));
  const show = (list) => {
    state.list = list;
    document.querySelectorAll("[data-list]").forEach((one) => one.setAttribute("aria-pressed", one.dataset.list === list));
    FILTERS.forEach(fill);
    select();
  };
  const picker = (id, label, options, act) => {
    const box = make("select", "", ...options.map(([value, text]) => new Option(text, value)));
    box.id = id;
    box.addEventListener("change", () => act(box.value));
    return make("label", "", make("span", "", label), box);
  };
  const guarded = (text) => {
    const risky = /^[=+\-@\t\r]/.test(text) && !/^-[0-9]+(\.[0-9]+)?$/.test(text);
    return '"' + ((risky ? "'" : "") + text).replaceAll('"', '""') + '"';
  };
  const exported = () => {
    const lines = [FIELDS, ...wanted.map((row) => FIELDS.map((field) => cell(field, row)))];
    const text = "\ufeff" + lines.map((texts) => texts.map(guarded).join(",")).join("\r\n") + "\r\n";
    const link = make("a", "");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    link.download = data.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  const controls = () => {
    const tabs = $("tabs");
    LISTS.filter(([name]) => name === "open" || byList[name].length).forEach(([name, title]) => {
      const made = button("tab", `${title} ${spoken(String(byList[name].length))}`, () => show(name));
      made.dataset.list = name;
      tabs.append(made);
    });
    const bar = $("controls");
    FILTERS.forEach((field) => bar.append(picker("by-" + field, TITLES[field], [], (value) => filter(field, value === "*" ? undefined : value.slice(1)))));
    bar.append(picker("group", "Group by", [["", "nothing"], ...GROUPS.map((field) => [field, TITLES[field]])], (value) => {
      state.group = value;
      state.groups.clear();
      draw();
    }));
    bar.append(picker("sort", "Sort by", [["", "INR, then age"], ...Object.entries(TITLES)], (value) => sort(value, NUMBERS.has(value))));
    const turn = button("quiet", "↑ ascending", () => sort(state.sort, !state.down));
    turn.id = "turn";
    turn.disabled = true;
    bar.append(turn);
    $("search").addEventListener("input", () => { state.search = $("search").value; select(); });
    $("export").addEventListener("click", exported);
    $("reset").addEventListener("click", () => {
      state.search = $("search").value = "";
      state.filters = {};
      FILTERS.forEach(fill);
      select();
    });
    $("before").addEventListener("click", () => { state.page -= 1; draw(); $("list").scrollIntoView(); });
    $("after").addEventListener("click", () => { state.page += 1; draw(); $("list").scrollIntoView(); });
  };
  const headings = () => document.querySelectorAll("#list th[data-field]").forEach((th) => {
    const made = button("", th.textContent, () => press(th.dataset.field));
    th.replaceChildren(made);
  });
  const bars = () => document.querySelectorAll(".bar").forEach((bar) => {
    const choose = () => { show("open"); filter(bar.dataset.field, state.filters[bar.dataset.field] === bar.dataset.value ? undefined : bar.dataset.value); };
    bar.setAttribute("role", "button");
    bar.setAttribute("tabindex", "0");
    bar.addEventListener("click", choose);
    bar.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } });
  });
  const keys = (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing) { event.preventDefault(); $("search").focus(); }
    if (event.key === "Escape" && event.target === $("search")) { $("search").value = state.search = ""; select(); }
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.closest("#lines button")) {
      const stops = [...body.querySelectorAll(".drill, .group")], next = stops[stops.indexOf(event.target.closest("button")) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) { event.preventDefault(); next.focus(); }
    }
  };
  document.addEventListener("keydown", keys);
  const printed = () => {
    limit = PRINTED;
    draw();
    const rest = state.group ? 0 : wanted.length - PRINTED;
    $("printed").textContent = rest > 0 ? `${spoken(String(PRINTED))} of ${counted(wanted.length, "line")} are printed; all stand in reconciliation.csv and in the workbook.` : "";
  };
  addEventListener("beforeprint", printed);
  addEventListener("afterprint", () => { limit = PAGE; $("printed").textContent = ""; draw(); });
  controls();
  headings();
  bars();
  $("tools").hidden = false;
  show("open");
})();
