/* The Explorers of a page: a control that moves shows the frame for where all controls stand. */
"use strict";

for (const box of document.querySelectorAll(".explorer")) {
  const [pieces, frames] = JSON.parse(box.querySelector("script").textContent);
  const picture = box.querySelector("svg"), words = box.querySelector("figcaption span");
  const controls = box.querySelector(".controls"), rows = controls.querySelectorAll("[type=range], [role=radiogroup]");
  const show = () => {
    let at = 0;
    for (const row of rows) {
      if (row.type === "range") {
        const value = row.dataset.values.split("|")[row.value];
        at = at * (+row.max + 1) + +row.value;
        row.style.setProperty("--at", row.value / row.max);
        row.setAttribute("aria-valuetext", value);
        row.parentNode.nextSibling.textContent = value;
      } else {
        const names = [...row.querySelectorAll("input")];
        at = at * names.length + names.findIndex(name => name.checked);
      }
    }
    const [drawn, sentence] = frames[at];
    if (sentence !== picture.getAttribute("aria-label")) {
      picture.setAttribute("aria-label", sentence);
      words.replaceChildren(...sentence.split(/\^(-?[\p{L}\p{N}]+(?:\.\d+)?)/u).map((part, raised) => {
        return raised % 2 ? Object.assign(document.createElement("sup"), {textContent: part}) : part;
      }));
    }
    picture.innerHTML = drawn.map(number => pieces[number]).join("");
  };
  controls.hidden = false;
  controls.addEventListener("input", show);
  addEventListener("pageshow", show);
}
