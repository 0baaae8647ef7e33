/* Repairs of what the theme, docutils and pandas write, for keyboards and screen readers. Nothing here is needed to read. */
"use strict";

function each(selector, repair) {
  document.querySelectorAll(selector).forEach(repair);
}

/* the arrow that unfolds a chapter in the sidebar has no name of its own */
function nameSidebarArrows() {
  each("nav summary, .bd-sidebar summary", (summary) => {
    const link = summary.closest("li")?.querySelector("a");
    const part = link ? link.textContent.trim() : say("this part");
    summary.setAttribute("aria-label", say("Sections of {part}", {part}));
  });
}

/* the theme's logo and search stand outside every landmark */
function markSidebar() {
  each("#pst-primary-sidebar", (bar) => {
    bar.setAttribute("role", "complementary");
    bar.setAttribute("aria-label", say("The book"));
  });
}

/* these labels hide the words that are visible on the same buttons */
function unhideWords() {
  each(".search-button-field, .theme-switch-button, .cell summary", (button) => button.removeAttribute("aria-label"));
  each(".theme-switch-button", (button) => {
    if (!button.querySelector(".visually-hidden")) {
      button.insertAdjacentHTML("beforeend", `<span class="visually-hidden">${say("Light, dark or automatic")}</span>`);
    }
  });
}

/* pandas leaves the corner of a table an empty heading */
function emptyCorners() {
  each("table th", (heading) => {
    if (!heading.textContent.trim()) {
      heading.replaceWith(document.createElement("td"));
    }
  });
}

/* docutils nests two roles that exclude each other, and one that has been withdrawn */
function plainCitations() {
  each(".citation-list, .citation", (entry) => entry.removeAttribute("role"));
}

/* printed lines wrap on a narrow screen, but columns are no columns when they wrap */
function keepColumns() {
  each(".cell_output pre", (box) => {
    const aligned = box.textContent.split("\n").filter((line) => /\S {2,}\S/.test(line));
    box.classList.toggle("columns", aligned.length > 1);
  });
}

/* a formula in a line scrolls only where it is wider than the column; the others would, for a pixel of rounding */
function foldWideFormulas() {
  const formulas = [...document.querySelectorAll("article mjx-container:not([display])")];
  formulas.forEach((formula) => formula.classList.remove("wide"));
  const wide = formulas.filter((formula) => {
    const column = formula.closest("p, li, td, th, dd, dt, figcaption, h1, h2, h3");
    const withMarks = formula.closest(".glue") || formula;
    return column && withMarks.getBoundingClientRect().width > column.clientWidth;
  });
  wide.forEach((formula) => formula.classList.add("wide"));
}

/* what scrolls sideways must be reachable by keyboard, and nothing else; a pixel is a matter of rounding */
function reachScrollers() {
  each("article :is(div.math, mjx-container, pre, .results, .output.text_html, .pst-scrollable-table-container)", (box) => {
    if (box.scrollWidth > box.clientWidth + 1) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  });
}

/* paper is white, whatever the screen was */
function printInInk() {
  let onScreen;
  window.addEventListener("beforeprint", () => {
    onScreen = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = onScreen;
  });
}

/* the same place in the other language */
function keepPlace() {
  each("a[data-edition]", (link) => link.addEventListener("click", () => link.hash = location.hash));
}

/* the theme's button for it */
function printOnDemand() {
  each("[data-print]", (button) => button.addEventListener("click", () => window.print()));
}

printInInk();

document.addEventListener("DOMContentLoaded", () => {
  nameSidebarArrows();
  printOnDemand();
  keepPlace();
  markSidebar();
  unhideWords();
  emptyCorners();
  plainCitations();
  keepColumns();
});

window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  foldWideFormulas();
  reachScrollers();
  window.addEventListener("resize", () => {
    foldWideFormulas();
    reachScrollers();
  });
});
