// Keys for people who decide all day; every page works without them.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = document.activeElement;
  if (event.key === "Escape") {
    const open = at && at.closest("details[data-key][open]");
    if (open) { open.open = false; open.querySelector("summary").focus(); }
    return;
  }
  if (at && at.matches("input, textarea, select")) return;
  const rows = [...document.querySelectorAll("[data-row]")];
  if (rows.length && (event.key === "j" || event.key === "k")) {
    const here = rows.indexOf(at);
    const next = event.key === "j" ? here + 1 : Math.max(here, 1) - 1;
    rows[Math.min(next, rows.length - 1)].focus();
    event.preventDefault();
    return;
  }
  if (event.key === "u") {
    const back = document.querySelector("[data-back]");
    if (back) back.click();
    return;
  }
  const chosen = [...document.querySelectorAll("details[data-key]")].find((each) => each.dataset.key === event.key);
  if (chosen) {
    for (const each of document.querySelectorAll("details[data-key]")) each.open = each === chosen;
    chosen.querySelector("[data-first]").focus();
    event.preventDefault();
  }
});
