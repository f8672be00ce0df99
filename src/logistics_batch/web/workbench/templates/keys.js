"use strict";
// The key "/" leads to the box that finds anything; a barcode scanner types there and ends with Enter.
document.addEventListener("keydown", (pressed) => {
  const into = pressed.target;
  const writes = into instanceof HTMLInputElement || into instanceof HTMLTextAreaElement || into instanceof HTMLSelectElement;
  if (pressed.key !== "/" || writes || pressed.ctrlKey || pressed.metaKey || pressed.altKey) return;
  const box = document.getElementById("find");
  if (!box) return;
  pressed.preventDefault();
  box.focus();
  box.select();
});
