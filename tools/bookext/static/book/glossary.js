/* A word of the glossary says what it means where it stands: under the pointer, at the focus of the keyboard, at a tap.
   The pointer may move onto the box, Escape closes it, and nothing else is covered for longer (WCAG 1.4.13). */
"use strict";
(() => {
  const data = document.getElementById("glossary-words");
  if (!HTMLElement.prototype.showPopover) {       /* the words are links, as without JavaScript */
    return;
  }
  const words = JSON.parse(data.textContent);
  const WORD = 'a[href*="#term-"]:has(> .std-term)';
  const SOON = 200, LATER = 350;                  /* milliseconds until a box comes and goes with the pointer */
  const box = document.createElement("div");
  let link = null, timer = 0, touched = false, quiet = false;
  box.id = "glossary-word";
  box.className = "glossary-word";
  box.popover = "manual";

  function wordAt(node) {
    const found = node.closest?.(WORD);
    return found && !box.contains(found) && decodeURIComponent(found.hash.slice(1)) in words ? found : null;
  }

  function show(one) {
    if (link === one || !one.isConnected) {
      return;
    }
    hide();
    link = one;
    const [word, meaning] = words[decodeURIComponent(one.hash.slice(1))];
    box.innerHTML = `<p><strong>${word}</strong></p>${meaning}`;
    one.after(box);
    one.setAttribute("aria-describedby", box.id);
    box.showPopover();
    const line = one.getClientRects()[0];
    const above = line.bottom + box.offsetHeight + 8 > innerHeight && line.top > box.offsetHeight + 8;
    box.style.left = `${scrollX + Math.max(8, Math.min(line.left, document.documentElement.clientWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${scrollY + (above ? line.top - box.offsetHeight - 4 : line.bottom + 4)}px`;
  }

  function hide() {
    clearTimeout(timer);
    if (link) {
      link.removeAttribute("aria-describedby");
      link = null;
      box.remove();
    }
  }

  const focused = () => link?.matches(":focus-visible") || box.contains(document.activeElement);

  document.addEventListener("pointerover", ({target, pointerType}) => {
    if (pointerType === "touch") {
      return;
    }
    const word = wordAt(target);
    clearTimeout(timer);
    if (word && word !== link) {
      timer = setTimeout(show, SOON, word);
    } else if (link && !word && !box.contains(target) && !focused()) {
      timer = setTimeout(hide, LATER);
    }
  });

  document.addEventListener("focusin", ({target}) => {
    const word = wordAt(target);
    if (word?.matches(":focus-visible") && !quiet) {
      show(word);
    } else if (!box.contains(target)) {
      hide();
    }
  });

  document.addEventListener("pointerdown", ({pointerType}) => touched = pointerType === "touch", true);
  document.addEventListener("click", (event) => {
    const word = wordAt(event.target);
    if (word && word !== link && touched && event.detail > 0) {     /* a second tap follows the link */
      event.preventDefault();
      show(word);
    } else if (!word && !box.contains(event.target)) {
      hide();
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && link) {
      event.preventDefault();
      event.stopPropagation();
      const back = box.contains(document.activeElement) ? link : null;
      hide();
      quiet = true;
      back?.focus();
      quiet = false;
    }
  }, true);
})();
