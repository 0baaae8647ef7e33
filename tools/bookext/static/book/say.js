/* What the scripts say, in the language of the page: its words stand in the page itself; without them it is English. */
"use strict";

const bookWords = JSON.parse(globalThis.document?.getElementById("book-words")?.textContent ?? "{}");

function say(text, values = {}) {
  return (bookWords[text] ?? text).replace(/\{(\w+)\}/g, (field, name) => values[name] ?? field);
}
