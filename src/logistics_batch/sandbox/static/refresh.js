// Loads the page again every few seconds while the button is pressed; not while somebody types, reads a detail or selects.
"use strict";
const SECONDS = 5;
const KEY = "sandbox-refresh";
const button = document.getElementById("refresh");

function isOn() {
  return localStorage.getItem(KEY) === "on";
}

function show() {
  button.setAttribute("aria-pressed", String(isOn()));
  button.textContent = isOn() ? `Refreshing every ${SECONDS} s` : "Auto-refresh";
}

function isBusy() {
  const typing = document.activeElement instanceof HTMLInputElement;
  const reading = document.querySelector("details[open]") !== null;
  return document.hidden || typing || reading || String(getSelection()) !== "";
}

button.hidden = false;
button.title = `Load this page again every ${SECONDS} seconds`;
button.addEventListener("click", () => {
  localStorage.setItem(KEY, isOn() ? "off" : "on");
  show();
});
show();
setInterval(() => {
  if (isOn() && !isBusy()) {
    location.reload();
  }
}, SECONDS * 1000);
