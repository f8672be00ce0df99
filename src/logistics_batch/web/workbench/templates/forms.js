"use strict";
// What is chosen or written shows at once: the form is sent, and the page that comes takes this one's place; the focus
// stays where it was, and what was written meanwhile stands there still.
// Whoever goes through a list with the arrow keys has chosen when they leave it.
let byKeys = false, waits = null, busy = false, changed = false, replaced = false, after = "";
const WRITTEN = "input:not([type=checkbox], [type=hidden]), textarea";
async function send(form) {
  waits = null;
  changed = busy;
  if (busy) return;
  busy = true;
  let next;
  try {
    const sent = new FormData(form);
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(sent) });
    const came = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
    if (!came) return location.reload();
    const open = [...document.querySelectorAll("details[open] > summary")].map((each) => each.textContent);
    const focus = document.activeElement || document.body;
    const typed = focus.closest("form[data-live]") ? undefined : focus.value;
    const written = [...form.elements].filter((each) => each.matches(WRITTEN) && each.value !== sent.get(each.name));
    const caret = focus.matches("input, textarea") ? focus.selectionStart : null;
    replaced = true;  // what is half written has not been left
    document.getElementById("main").replaceWith(came);
    replaced = false;
    for (const each of came.querySelectorAll("summary")) if (open.includes(each.textContent)) each.parentElement.open = true;
    next = document.getElementById(form.getAttribute("id"));  // form.id may be a field of that name
    for (const each of written) if (next?.elements[each.name]) next.elements[each.name].value = each.value;
    const again = focus.id && document.getElementById(focus.id);
    if (again && typed !== undefined) again.value = typed;
    if (again) again.focus();
    if (again && caret !== null) again.setSelectionRange(caret, caret);
  } finally {
    busy = false;
  }
  if (changed && next) return send(next);
  const button = after && document.getElementById(after);
  after = "";
  if (button) button.requestSubmit();
}
document.addEventListener("keydown", () => { byKeys = true; }, true);
document.addEventListener("pointerdown", () => { byKeys = false; }, true);
function left(event, isWritten) {
  const form = !replaced && event.target.closest("form[data-live]");
  const counts = form && event.target.matches(WRITTEN) === isWritten && !event.target.matches("[name^=skip-column], [name^=fill-]");
  return counts ? form : null;
}
document.addEventListener("change", (event) => {
  const form = left(event, false);
  if (form && byKeys && event.target instanceof HTMLSelectElement) waits = form;
  else if (form) send(form);
});
document.addEventListener("focusout", (event) => {
  const form = left(event, true);
  if (form && event.target.value !== event.target.defaultValue) send(form);
  else if (waits) setTimeout(() => { if (waits) send(waits); });
});
document.addEventListener("submit", (sent) => {
  const isLive = sent.target.matches("form[data-live]");
  if (!isLive && !busy) return;
  sent.preventDefault();
  if (isLive) send(sent.target);
  else after = sent.target.method === "get" ? sent.target.id : "";  // what changed meanwhile has to be looked at first
});
