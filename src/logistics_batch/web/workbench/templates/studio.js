"use strict";
// A choice shows at once: the form is sent, and the page that comes takes this one's place; the focus stays where it was.
// Whoever goes through a list with the arrow keys has chosen when they leave it.
let byKeys = false, waits = null, busy = false, after = "";
async function send(form) {
  waits = null;
  if (busy) return;
  busy = true;
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    const came = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
    if (!came) return location.reload();
    const open = [...document.querySelectorAll("details[open] > summary")].map((each) => each.textContent);
    const focus = document.activeElement || document.body;
    const typed = focus.closest("form[data-live]") ? undefined : focus.value;
    document.getElementById("main").replaceWith(came);
    for (const each of came.querySelectorAll("summary")) if (open.includes(each.textContent)) each.parentElement.open = true;
    const again = focus.id && document.getElementById(focus.id);
    if (again && typed !== undefined) again.value = typed;
    if (again) again.focus();
  } finally {
    busy = false;
  }
  const next = after && document.getElementById(after);
  after = "";
  if (next) next.requestSubmit();
}
document.addEventListener("keydown", () => { byKeys = true; }, true);
document.addEventListener("pointerdown", () => { byKeys = false; }, true);
document.addEventListener("change", (changed) => {
  const form = changed.target.closest("form[data-live]");
  if (form && byKeys && changed.target instanceof HTMLSelectElement) waits = form;
  else if (form && !changed.target.matches("[name^=skip-column], [name^=fill-]")) send(form);
});
document.addEventListener("focusout", () => { if (waits) setTimeout(() => { if (waits) send(waits); }); });
document.addEventListener("submit", (sent) => {
  const isLive = sent.target.matches("form[data-live]");
  if (!isLive && !busy) return;
  sent.preventDefault();
  if (isLive) send(sent.target);
  else after = sent.target.method === "get" ? sent.target.id : "";  // what changed meanwhile has to be looked at first
});
