/* On the page that searches: the first words of each page that was found. Without this, Sphinx would fetch the pages. */
"use strict";
(() => {
  const words = JSON.parse(document.getElementById("summaries").textContent);

  function tell(item) {
    const link = item.querySelector("a");
    const page = link?.pathname && Object.keys(words).find((name) => link.pathname.endsWith(`/${name}.html`));
    if (page && !link.hash && !item.querySelector(".context")) {
      item.insertAdjacentHTML("beforeend", '<p class="context"></p>');
      item.lastElementChild.textContent = words[page];
    }
  }

  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((node) => node.nodeName === "LI" && tell(node))))
    .observe(document.getElementById("search-results"), {childList: true, subtree: true});
})();
