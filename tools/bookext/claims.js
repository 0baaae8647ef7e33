/* The filters of the page of claims: a verdict, and words that a row holds. */
"use strict";
(() => {
  const box = document.querySelector(".filters");
  const [field, said] = [box.querySelector("input"), box.querySelector("[role=status]")];
  const rows = [...document.querySelectorAll("table.claims tbody tr")];

  function show() {
    const verdict = box.querySelector("[aria-pressed=true]").dataset.verdict;
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !((verdict === "all" || row.querySelector(`.verdict.${verdict}`)) && words.every((word) => text.includes(word)));
    }
    const left = rows.filter((row) => !row.hidden).length;
    said.textContent = left === rows.length ? "" : say("{left} of {all} claims", {left, all: rows.length});
  }

  function press(one) {
    box.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", button === one));
    show();
  }

  function find() {                               /* a link to a claim shows it, whatever the filters were */
    const row = rows.find((one) => one.id && `#${one.id}` === location.hash);
    if (row?.hidden) {
      field.value = "";
      press(box.querySelector("button"));
      row.scrollIntoView();
    }
  }

  box.addEventListener("click", (event) => event.target.matches("button") && press(event.target));
  field.addEventListener("input", show);
  window.addEventListener("hashchange", find);
  box.hidden = false;
})();
