/* Present a page, one thing at a time, large: by the key p, the button in the header, or page.html?present#anchor. */
"use strict";

(() => {
  const WORTH = "div.cell, div.proof, div.exercise, figure, .pst-scrollable-table-container, table, #what-you-will-be-able-to-do ul, .sections";
  const FOLDED = ".dropdown, .solution";
  const STEPS = {ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1, Home: -Infinity, End: Infinity};
  const LARGEST = 2.2, SMALLEST = 0.85;          // times the size of the page
  const gap = document.createComment("presented");
  let things = [], now = 0, dialog = null, full = false, article;

  function worthShowing() {
    const found = [];
    for (const one of article.querySelectorAll(WORTH)) {
      const silent = one.matches(".cell") && !one.querySelector(".cell_output");
      if (!silent && !one.closest(FOLDED) && !found.at(-1)?.contains(one)) {
        found.push(one);
      }
    }
    return found;
  }

  function headingOf(thing) {
    const section = thing.parentElement.closest("section:has(> :is(h1, h2, h3, h4))");
    const words = [...section.querySelector(":is(h1, h2, h3, h4)").childNodes].filter((part) => part.className !== "headerlink");
    return words.map((part) => part.textContent).join("").trim();
  }

  function putBack() {
    if (gap.isConnected) {
      gap.replaceWith(things[now]);
    }
  }

  function show(place) {
    putBack();
    now = Math.max(0, Math.min(place, things.length - 1));
    const [heading, stage, box, position, back, next] =
      ["heading", "stage", "fit", "position", "back", "next"].map((name) => dialog.querySelector(`.${name}`));
    heading.textContent = headingOf(things[now]);
    position.textContent = say("{number} of {all}", {number: now + 1, all: things.length});
    things[now].replaceWith(gap);
    box.replaceChildren(things[now]);
    back.disabled = now === 0;
    next.disabled = now === things.length - 1;
    if (document.activeElement === document.body) {
      stage.focus();
    }
    fit(stage, box);
  }

  /* many words become larger in a wider column, a picture or code with its words or output beside it: of a few ways the best one */
  function fit(stage, box) {
    const picture = box.querySelector(".explorer figure > svg, figure img");
    const ways = picture ? [[46, false], [68, true]] : [[46, false], [56, false], [68, false], [72, true]];
    const sizes = ways.map(([wide, beside]) => {
      const zoom = lay(stage, box, wide, beside);
      return zoom * (picture?.clientHeight ?? 1);
    });
    const best = sizes.findIndex((size) => size > 0.99 * Math.max(...sizes));
    box.style.zoom = lay(stage, box, ...ways[best]);
    stage.scrollTop = 0;
  }

  /* lay the thing out in so many rem, or more if its code would be cut; returns the zoom that makes it as large as the stage */
  function lay(stage, box, wide, beside) {
    box.style.zoom = 1;
    box.classList.toggle("beside", beside);
    box.style.setProperty("--wide", `${wide}rem`);
    for (let tries = 0, cut = 1; cut && tries < 3; tries++) {
      cut = Math.max(0, ...[...box.querySelectorAll("pre, .cell")].map((part) => part.scrollWidth - part.clientWidth));
      box.style.setProperty("--wide", `${box.offsetWidth + cut}px`);
    }
    const room = Math.min((stage.clientWidth - 8) / box.offsetWidth, (stage.clientHeight - 8) / box.offsetHeight);
    return Math.max(SMALLEST, Math.min(room, LARGEST));
  }

  function onKey(event) {
    const typing = event.target.matches("input, summary") && !event.key.startsWith("Page");
    if (event.key in STEPS && !typing && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      show(now + STEPS[event.key]);
    } else if (event.key === "Escape") {
      leave();
    } else if (event.key === "f") {
      fullScreen();
    }
  }

  /* a window that becomes as large as the screen covers every dialog that is open: open this one once more */
  async function fullScreen() {
    await document.documentElement.requestFullscreen?.().catch(() => {});
    if (dialog?.open) {
      dialog.close();
      dialog.showModal();
    } else if (document.fullscreenElement) {
      document.exitFullscreen();
    }
  }

  function open(place) {
    article.insertAdjacentHTML("beforeend", `<dialog class="present" aria-label="${say("Presenting this page")}">
      <p class="heading" id="present-heading"></p>
      <div class="stage" role="group" aria-labelledby="present-heading" tabindex="0" autofocus><div class="fit"></div></div>
      <div class="bar"><button class="back">← ${say("Back")}</button><p class="position" role="status"></p><button class="next">${say("Next")} →</button>
      <button class="full">${say("Full screen")}</button><button class="close">${say("Close")}</button></div></dialog>`);
    dialog = article.lastElementChild;
    const press = (name, work) => dialog.querySelector(`.${name}`).addEventListener("click", work);
    press("back", () => show(now - 1));
    press("next", () => show(now + 1));
    press("full", fullScreen);
    press("close", leave);
    dialog.addEventListener("keydown", onKey);
    dialog.addEventListener("close", () => dialog?.open || leave());
    dialog.showModal();
    show(place);
  }

  function leave() {
    if (dialog) {
      const was = dialog;
      dialog = null;
      putBack();
      was.close();
      was.remove();
      if (document.fullscreenElement) {
        document.exitFullscreen();
      }
      things[now].scrollIntoView({block: "center", behavior: "instant"});
    }
  }

  const begin = () => {
    const place = things.findIndex((thing) => thing.getBoundingClientRect().bottom > 100);
    open(place < 0 ? things.length - 1 : place);
    fullScreen();
  };

  /* who leaves the full screen leaves the talk; one that was left before this talk began says nothing about it */
  function onFullScreen() {
    const left = full && !document.fullscreenElement;
    full = Boolean(dialog && document.fullscreenElement);
    if (left) {
      leave();
    }
  }

  /* the thing at an anchor, or the first one after it */
  function placeOf(anchor) {
    const there = anchor && document.getElementById(decodeURIComponent(anchor));
    const follows = (thing) => there.compareDocumentPosition(thing) & Node.DOCUMENT_POSITION_FOLLOWING;
    const place = there ? things.findIndex((thing) => thing.contains(there) || follows(thing)) : 0;
    return place < 0 ? things.length - 1 : place;
  }

  document.addEventListener("DOMContentLoaded", () => {
    article = document.querySelector("article.bd-article");
    things = article ? worthShowing() : [];
    if (!things.length) {
      return;
    }
    const button = document.createElement("button");
    button.className = "btn btn-sm present-button";
    button.title = say("Present this page (p)");
    button.setAttribute("aria-label", say("Present this page"));
    const screen = "M1.5 2.5h13v9h-13zM8 11.5v3M5 14.5h6M6.8 5v4l3-2z";
    button.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${screen}"/></svg>`;
    button.addEventListener("click", begin);
    document.querySelector(".article-header-buttons")?.prepend(button);
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input:not([type=range], [type=radio]), textarea, select, [contenteditable]");
      const alone = !event.ctrlKey && !event.metaKey && !event.altKey && !document.querySelector("dialog[open]");
      if (event.key === "p" && alone && !typing) {
        begin();
      }
    });
    document.addEventListener("fullscreenchange", onFullScreen);
    window.addEventListener("beforeprint", leave);
    window.addEventListener("resize", () => dialog && fit(dialog.querySelector(".stage"), dialog.querySelector(".fit")));
  });

  window.addEventListener("load", async () => {
    await document.fonts.ready;
    if (things.length && new URLSearchParams(location.search).has("present")) {
      open(placeOf(location.hash.slice(1)));
    }
  });
})();
