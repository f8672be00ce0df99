"use strict";
// What is marked data-live follows the ledger. Asked is only whether anything changed, and only while the page is seen:
// a page that is open all night keeps no connection, and does not grow.
const QUIET = 2000, LONGEST = 60000;
let mark = document.getElementById("main").dataset.mark, shown = Date.now(), pause = QUIET;
async function ask(address) {
  const answer = await fetch(address, { headers: { "X-Follows": "a page" } });
  if (answer.redirected) location.reload();  // nobody is signed in any more
  if (answer.redirected || !answer.ok) throw new Error(answer.status);
  return answer.text();
}
function renew(part, came) {
  const reached = "a, summary, [tabindex]";
  const place = [...part.querySelectorAll(reached)].indexOf(document.activeElement);
  const open = [...part.querySelectorAll("details")].map((each) => each.open);
  came.querySelectorAll("details").forEach((each, number) => { each.open = Boolean(open[number]); });
  const pairs = [...part.children].map((each, number) => [each, came.children[number]]);
  if (part.childElementCount !== came.childElementCount) part.replaceChildren(...came.childNodes);
  else for (const [each, next] of pairs) if (!each.isEqualNode(next)) each.replaceWith(next);
  if (place >= 0) part.querySelectorAll(reached)[place]?.focus({ preventScroll: true });
}
async function follow() {
  if (await ask("/live") === mark && Date.now() - shown < LONGEST) return;
  const began = Date.now();
  const page = new DOMParser().parseFromString(await ask(location.href), "text/html");
  if (!document.getSelection().isCollapsed) return;  // somebody marks words
  for (const part of document.querySelectorAll("[data-live]")) {
    const came = page.getElementById(part.id);
    if (came) renew(part, came);
  }
  mark = page.getElementById("main").dataset.mark;
  shown = Date.now();
  pause = Math.max(QUIET, 10 * (shown - began));  // a page that is much work is asked for more rarely
}
async function goOn() {
  try {
    if (!document.hidden) await follow();
  } catch {
    pause = Math.min(2 * pause, LONGEST);
  }
  if (mark) setTimeout(goOn, pause);
}
setTimeout(goOn, QUIET);
