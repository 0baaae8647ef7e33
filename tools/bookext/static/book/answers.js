/* Exercises that are answered on the page, questions that want a guess first, and what a reader has done so far.
   What is right, and what each mistake is told, is declared for `provable_privacy/entries.py`, and judged here in the same way. */
"use strict";

const answers = (() => {
  class Wrong extends Error {}
  class Missing extends Error {}

  /* ---- a number as people type it: 1/3, ln 3, e^-2, inf, 1e-5, 2.5%; nothing is run as code ---- */

  const TOKEN = /\s*(?:(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)|(?:np\.|math\.)?(inf|infinity|∞|sqrt|√|exp|ln|log|pi|π|e)(?![a-z])|(\*\*|[-+−*×·/^()%]))\s*/iy;
  const CONSTANTS = {e: Math.E, pi: Math.PI, π: Math.PI, inf: Infinity, infinity: Infinity, "∞": Infinity};
  const FUNCTIONS = {ln: Math.log, log: Math.log, exp: Math.exp, sqrt: Math.sqrt, "√": Math.sqrt};
  const SAME = {"**": "^", "−": "-", "×": "*", "·": "*"};

  function number(text) {
    const not = (why) => new Wrong(`“${text.trim().slice(0, 40)}” ${why}`);
    if (/\d,\d/.test(text)) {
      throw not(say("has a comma: write the decimal point as in 0.5, and 1234 without any mark"));
    }
    const strange = not(say("is no number: write it as in 0.25, 1/3, ln 3, e^-2, sqrt(2), 1e-5, 2.5% or inf"));
    const parts = [];
    for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
      const found = TOKEN.exec(text);
      if (!found || parts.length > 40) {
        throw strange;
      }
      const part = (found[1] ?? found[2] ?? found[3]).toLowerCase();
      parts.push(SAME[part] ?? part);
    }
    const infinite = parts.some((part) => CONSTANTS[part] === Infinity);
    const value = sum(parts);
    if (parts.length || Number.isNaN(value) || !(Number.isFinite(value) || infinite)) {
      throw strange;
    }
    return value;
  }

  function sum(parts) {
    let value = product(parts);
    while (parts[0] === "+" || parts[0] === "-") {
      value = parts.shift() === "+" ? value + product(parts) : value - product(parts);
    }
    return value;
  }

  function product(parts) {
    let value = signed(parts);
    while (parts[0] === "*" || parts[0] === "/") {
      value = parts.shift() === "*" ? value * signed(parts) : value / signed(parts);
    }
    return value;
  }

  function signed(parts) {
    if (parts[0] === "-" || parts[0] === "+") {
      return parts.shift() === "-" ? -signed(parts) : signed(parts);
    }
    const value = atom(parts);
    return parts[0] === "^" ? value ** (parts.shift() && signed(parts)) : value;
  }

  function atom(parts) {
    const first = parts.shift() ?? "";
    let value = NaN;
    if (first === "(") {
      value = sum(parts);
      value = parts.shift() === ")" ? value : NaN;
    } else if (Object.hasOwn(FUNCTIONS, first)) {
      value = FUNCTIONS[first](parts[0] === "(" ? atom(parts) : signed(parts));
    } else {
      value = Object.hasOwn(CONSTANTS, first) ? CONSTANTS[first] : /^[\d.]/.test(first) ? Number(first) : NaN;
    }
    return parts[0] === "%" ? value / (parts.shift() && 100) : value;
  }

  /* as Python writes it with the format g */
  function shown(value) {
    if (!Number.isFinite(value)) {
      return value < 0 ? "-inf" : "inf";
    }
    const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
    const [exact, up] = [60, 5].map((decimals) => value.toExponential(decimals));
    const even = /\.\d{4}[02468]50*e/.test(exact);          /* a half goes to the even digit */
    const [digits, power] = (even ? exact.replace(/50*e/, "e") : up).split("e");
    if (power < -4 || power > 5) {
      return `${short(digits)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
    }
    return short(Number(`${digits}e${power}`).toPrecision(6));
  }

  /* ---- the judge: an entry, and what was said: a text, for a set a list or null, for several entries a list ---- */

  const judges = {Number: judgeNumber, OneOf: judgeWord, TrueFalse: judgeTruth, AnyOf: judgeSet, Together: judgeParts};
  const real = (value) => (value === "inf" ? Infinity : value);
  const list = (values) => [values].flat(Infinity).map(real);

  function sentence(words, said) {
    const shape = words.includes("{said}") ? words : words ? `${say("not {said};")} ${words}` : say("not {said}");
    return shape.replaceAll("{said}", () => said);
  }

  function judgeNumber(entry, text) {
    if (!text.trim()) {
      throw new Missing();
    }
    let said = number(text);
    if (entry.whole && Number.isFinite(said) && !Number.isInteger(said)) {
      throw new Wrong(say("expected a whole number, got {said}: which does what is asked, {low} or {high}?",
        {said: shown(said), low: Math.floor(said), high: Math.ceil(said)}));
    }
    said = entry.unsigned ? Math.abs(said) : said;
    const right = real(entry.right);
    const allowed = Math.max(entry.tolerance, Number.isFinite(right) ? entry.relative * Math.abs(right) : 0);
    if (said === right || Math.abs(said - right) <= allowed || list(entry.also).includes(said)) {
      return;
    }
    if (!entry.mistakes.some(([, values]) => list(values).includes(said))) {
      refuseRounded(said, right, allowed);
    }
    throw new Wrong(sentence(wordsFor(entry, said, right), shown(said)));
  }

  function refuseRounded(said, right, allowed) {
    const round = (value, decimals) => (decimals < 0 ? Math.round(value * 10 ** decimals) / 10 ** decimals : Number(value.toFixed(decimals)));
    if (!Number.isFinite(right) || !Number.isFinite(said) || Number.isInteger(right)) {
      return;
    }
    for (let decimals = 1 - Math.floor(Math.log10(Math.abs(right))); decimals < 12; decimals++) {
      const rounded = Math.abs(said - round(said, decimals)) < 1e-12 * Math.max(1, Math.abs(said));
      if (rounded && Math.abs(said - right) <= 0.5001 * 10 ** -decimals) {
        const needed = allowed ? Math.max(Math.ceil(-Math.log10(2 * allowed)), decimals + 1) : decimals + 6;
        const asked = needed < 1 ? say("{said} is right, but rounded too far; give all digits before the point", {said: shown(said)})
          : needed === 1 ? say("{said} is right, but rounded too far; give 1 digit after the point", {said: shown(said)})
          : say("{said} is right, but rounded too far; give {needed} digits after the point", {said: shown(said), needed});
        throw new Wrong(asked);
      }
    }
  }

  function wordsFor(entry, said, right) {
    const shows = (value) => {
      const allowed = Number.isFinite(value) ? Math.max(entry.tolerance, Math.max(entry.relative, entry.near) * Math.abs(value)) : 0;
      const closer = !Number.isFinite(right) || Math.abs(said - value) <= Math.abs(said - right);
      return said === value || closer && Math.abs(said - value) <= allowed;
    };
    const [low, high, outside] = entry.between;
    return entry.mistakes.find(([, values]) => list(values).some(shows))?.[0]
      ?? (entry.between.length && !(real(low) <= said && said <= real(high)) ? outside : (said < right ? entry.below : entry.above) || entry.hint);
  }

  function judgeWord(entry, said) {
    const word = said.toLowerCase();
    if (!word) {
      throw new Missing();
    }
    if (word !== entry.right.toLowerCase()) {
      const known = entry.mistakes.find(([wrong]) => wrong.toLowerCase() === word);
      throw new Wrong(sentence(known ? known[1] : entry.hint, word));
    }
  }

  function judgeTruth(entry, said) {
    if (!said) {
      throw new Missing();
    }
    if ((said === "True") !== entry.right) {
      throw new Wrong(entry.why);
    }
  }

  function judgeSet(entry, said) {
    if (said === null) {
      throw new Missing();
    }
    const right = entry.right.map(String);
    for (const [item, why] of entry.of) {
      if (said.includes(item) !== right.includes(item)) {
        const words = right.includes(item) ? entry.belongs : entry.not_;
        throw new Wrong(words.replace("{item}", () => item).replace("{why}", () => why));
      }
    }
  }

  function judgeParts(entry, said) {
    judgeAll(entry.parts, said);
  }

  function judgeAll(pairs, said) {
    const missing = [];
    pairs.forEach(([name, entry], place) => {
      try {
        judges[entry.kind](entry, said[place]);
      } catch (found) {
        const words = [name, found.message].filter(Boolean).join(": ");
        if (!(found instanceof Missing)) {
          throw Object.assign(found, {message: words, path: [place, ...(found.path ?? [])]});
        }
        missing.push(words);
      }
    });
    if (missing.length) {
      throw new Missing(missing.length < pairs.length || missing.some((one) => one.includes(": ")) ? missing.join(", ") : "");
    }
  }

  /* the mark, the words, and the place of the entry that is wrong, with that of its part */
  function verdict([praise, pairs], said) {
    try {
      judgeAll(pairs, said);
      return {mark: "✓", words: praise};
    } catch (found) {
      if (found instanceof Missing) {
        return {mark: "○", words: found.message ? say("{names} not attempted yet; the rest is right", {names: found.message}) : say("not attempted yet")};
      }
      if (found instanceof Wrong) {
        return {mark: "✗", words: found.message, path: found.path};
      }
      throw found;
    }
  }

  /* ---- what is kept: in this browser, or as long as the page is open ---- */

  const KEY = "provable-privacy";
  let kept = {done: [], said: {}};

  function load() {
    try {
      const found = JSON.parse(localStorage.getItem(KEY));
      if (Array.isArray(found?.done) && found.said && typeof found.said === "object") {
        kept = found;
      }
    } catch { /* no storage, or not ours */ }
    return kept;
  }

  function keep(change) {
    change(load());
    try {
      localStorage.setItem(KEY, JSON.stringify(kept));
    } catch { /* the page knows it all the same */ }
  }

  /* ---- the form of an exercise ---- */

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => value !== undefined && element.setAttribute(name, value));
    element.append(...children);
    return element;
  }

  /* a letter that is typed is no command to the page */
  function quiet(element) {
    element.addEventListener("keydown", (event) => event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.stopPropagation());
    return element;
  }

  function numberField(entry, id, form) {
    const value = make("span", {id: `${id}-value`, class: "value"});
    const field = quiet(make("input", {id, form, type: "text", maxlength: 60, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      "aria-describedby": value.id}));
    field.addEventListener("input", () => {
      value.textContent = "";
      try {
        value.textContent = /^\s*[-−]?[\d.]*\s*$/.test(field.value) ? "" : `= ${shown(number(field.value))}`;
      } catch { /* it is told when the answer is checked */ }
    });
    return {node: make("span", {class: "number"}, field, value), label: id, fields: [field], read: () => field.value};
  }

  function choiceFields(words, type, id, form) {
    const fields = words.map((word, place) => make("input", {id: `${id}-${place}`, name: id, form, type, value: word}));
    const labels = fields.map((field, place) => make("label", {}, field, make("span", {}, words[place])));
    return {node: make("span", {class: "choices"}, ...labels), fields, checked: () => fields.filter((field) => field.checked).map((field) => field.value)};
  }

  function wordField(entry, id, form) {
    const field = choiceFields(entry.of ?? ["True", "False"], "radio", id, form);
    return {...field, role: "radiogroup", read: () => field.checked()[0] ?? ""};
  }

  function setField(entry, id, form) {
    const none = say("none of them");
    const field = choiceFields([...entry.of.map(([item]) => item), none], "checkbox", id, form);
    field.node.addEventListener("change", ({target}) => field.fields.forEach((other) => {
      other.checked &&= other === target || (target.value === none) === (other.value === none);
    }));
    return {...field, role: "group", read: () => (field.checked().length ? field.checked().filter((item) => item !== none) : null)};
  }

  function partFields(entry, id, form) {
    const parts = entry.parts.map(([name, part], place) => [name, FIELDS[part.kind](part, `${id}-${place}`, form)]);
    const nodes = parts.map(([name, part]) => make("span", {class: "part"}, make("label", {for: part.label}, name), part.node));
    return {node: make("span", {class: "parts"}, ...nodes), role: "group", fields: parts.flatMap(([, part]) => part.fields), read: () => parts.map(([, part]) => part.read())};
  }

  const FIELDS = {Number: numberField, OneOf: wordField, TrueFalse: wordField, AnyOf: setField, Together: partFields};

  /* a line of the form: under its text, where the exercise lists its names, else in the form itself */
  function row(name, entry, id, exercise, form) {
    const field = FIELDS[entry.kind](entry, id, form.id);
    const item = [...exercise.querySelectorAll("li")].find((one) => one.querySelector("code, em")?.textContent === name && one.textContent.trim().startsWith(name));
    const words = /^\w+$/.test(name) ? make("code", {class: "literal"}, name) : name || say("Your answer");
    const label = make(field.label ? "label" : "span", {id: `${id}-name`, for: field.label, class: item || !name ? "visually-hidden" : "name"}, words);
    const node = make("div", {class: "entry", role: field.role, "aria-labelledby": field.role && `${id}-name`}, label, field.node);
    (item ?? form).append(node);
    return {...field, node};
  }

  function ask(exercise, declared) {
    const id = exercise.id, form = make("form", {id: `${id}-form`, class: "answer", novalidate: ""});
    const rows = declared[1].map(([name, entry], place) => row(name, entry, `${id}-${place}`, exercise, form));
    const said = make("p", {role: "status", id: `${id}-said`});
    form.append(make("div", {class: "end"}, make("button", {}, say("Check")), said));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const {mark, words, path = []} = verdict(declared, rows.map((one) => one.read()));
      said.className = {"✓": "right", "✗": "wrong", "○": "open"}[mark];
      said.replaceChildren(`${mark} ${words}`);
      rows.forEach(({node, fields}, here) => {
        node.classList.toggle("wrong", here === path[0]);
        fields.filter((field) => field.type === "text").forEach((field, part) => {
          field.setAttribute("aria-invalid", here === path[0] && part === (path[1] ?? part));
        });
      });
      if (mark === "✓") {
        setDone(id, true);
      }
    });
    const cell = [...exercise.querySelectorAll(".cell")].find((one) => /\bcheck\.\w+\(/.test(one.textContent));
    cell.after(form);
    cell.classList.add(/\b(lambda|def)\b/.test(cell.textContent) ? "posed" : "stub");      /* what a question is about stays */
  }

  /* ---- what is done ---- */

  function setDone(label, done) {
    keep((all) => {
      all.done = [...all.done.filter((one) => one !== label), ...(done ? [label] : [])];
    });
    count();
  }

  /* an exercise that is answered elsewhere: its reader says when it is done */
  function offerDone(exercise) {
    const button = make("button", {type: "button", class: "done"}, say("Done"));
    button.addEventListener("click", () => setDone(exercise.id, button.getAttribute("aria-pressed") !== "true"));
    (exercise.querySelector("section") ?? exercise).append(button);
  }

  /* "4 of 7" at the head, on cards and on the map, and a mark at each exercise that is done */
  function count() {
    const {done} = load();
    document.querySelectorAll(".progress-note").forEach((note) => note.remove());
    for (const [link, labels] of Object.entries(data.places)) {
      const number = labels.filter((label) => done.includes(label)).length, words = say("{number} of {all}", {number, all: labels.length});
      if (!link) {
        head(number, labels.length, say("{number} of {all} exercises done", {number, all: labels.length}));
      } else if (number) {
        document.querySelectorAll(`.section-map a[href="${link}"]`).forEach((box) => box.append(make("small", {class: "progress-note"}, `✓ ${words}`)));
        document.querySelectorAll(`.sections > li:has(> p a[href="${link}"]) > .facts`).forEach((facts) => facts.append(make("span", {class: "progress-note"}, ` ✓ ${say("{number} of {all} done", {number, all: labels.length})}`)));
      }
    }
    document.querySelectorAll(".exercise.admonition").forEach((exercise) => {
      const right = done.includes(exercise.id);
      exercise.querySelector("button.done")?.setAttribute("aria-pressed", right);
      if (right) {
        exercise.querySelector(".admonition-title").append(make("span", {class: "progress-note"}, ` ✓ ${say("done")}`));
      }
    });
  }

  function head(number, all, words) {
    const forget = make("button", {type: "button"}, say("Forget"));
    forget.addEventListener("click", () => {
      if (confirm(say("Forget what you have done and guessed on these pages?"))) {
        keep((kept) => {
          kept.done = kept.done.filter((label) => !data.places[""].includes(label));
          kept.said = Object.fromEntries(Object.entries(kept.said).filter(([key]) => !key.startsWith(data.prefix)));
        });
        location.reload();
      }
    });
    const known = number || Object.keys(kept.said).some((key) => key.startsWith(data.prefix));
    if (known || data.prefix.endsWith("#")) {
      const bar = make("progress", {max: all, value: number, "aria-hidden": "true"});
      const place = document.querySelector("article .section-map") ?? document.querySelector("article h1");
      place.after(make("p", {class: "progress-note head"}, bar, ` ${words} `, ...(known ? [forget] : [])));
    }
  }

  /* ---- first a guess, then the answer ---- */

  const YES_OR_NO = /^(Is|Are|Does|Do|Did|Can|Could|Will|Would|Must|May|Should|Has|Have|Was|Were|Right|Enough|Harmless)\b/;
  const EITHER = /^([^,.]+) or ([^,.?]+)(?:,[^?]*)?\?$/;
  const CHINESE = /[\u4e00-\u9fff]/;

  /* the two answers between which a question chooses, or none */
  function choicesOf(question) {
    if (CHINESE.test(question)) {
      const asked = question.split(/[？?]/).filter((one) => one.trim());
      return asked.length === 1 && /吗$/.test(asked[0]) ? ["是", "否"] : [];
    }
    const last = question.split(/(?<=[.!?:”"]) /).at(-1);
    if (YES_OR_NO.test(last)) {
      return question.split("?").length === 2 && !/\bor\b/.test(last) ? ["Yes", "No"] : [];
    }
    return EITHER.exec(last)?.slice(1, 3) ?? [];
  }

  /* `place(node)` puts the form and later the guess; `open()` shows the answer */
  function guessFirst(key, label, action, choices, place, open) {
    const form = make("form", {class: "guess"});
    const note = make("p", {role: "status"});
    const field = quiet(make("input", {type: "text", "aria-label": label, placeholder: label, maxlength: 200, autocomplete: "off"}));
    const give = (words) => {
      const line = make("p", {class: "given", tabindex: -1}, `${label}: ${words || say("none")}`);
      form.isConnected ? form.replaceWith(line) : place(line);
      return line;
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const words = event.submitter?.value || field.value.trim();
      if (!words && !note.textContent) {
        note.textContent = say("Write one line first. Or press once more, and see it without a guess.");
        field.focus();
        return;
      }
      keep((all) => {
        all.said[key] = words;
      });
      const line = give(words);
      open();
      line.focus();
      count();
    });
    if (Object.hasOwn(kept.said, key)) {
      give(String(kept.said[key]).slice(0, 200));
      return;
    }
    const buttons = choices.map((word) => make("button", {value: word}, word));
    form.append(...(buttons.length ? [make("span", {role: "group", "aria-label": label}, ...buttons)] : [field, make("button", {}, action), note]));
    place(form);
    return form;
  }

  function checkYourself() {
    document.querySelectorAll("#check-yourself > .admonition.dropdown").forEach((box) => {
      const title = box.querySelector(".admonition-title"), question = title.textContent.replace(/\s+/g, " ").trim();
      const form = guessFirst(`${data.prefix}${question.slice(0, 60)}`, say("Your answer"), say("Show the answer"), choicesOf(question),
        (node) => title.after(node), () => title.click());
      if (form) {
        box.addEventListener("click", (event) => {
          if (form.isConnected && title.contains(event.target)) {
            event.stopPropagation();
            form.querySelector("input, button").focus();
          }
        }, true);
      }
    });
  }

  const GUESS = /(?:^|[.?!:,;] |\band |\bnow )guess\b|(?:^|[.?!] )before you (?:look|run|read|move)\b|猜/i;

  /* the first output after a paragraph that asks for a guess, unless it is far, moves, or is that of imports */
  function outputAfter(paragraph) {
    let words = 0;
    for (let next = paragraph.nextElementSibling; next && words < 4; next = next.nextElementSibling) {
      if (next.matches("section, h2, h3, h4, .exercise")) {
        return null;
      }
      if (!next.matches(".cell")) {
        words += 1;
      } else if (/^(import|from) /m.test(next.querySelector(".cell_input")?.textContent ?? "")) {
        return null;
      } else if (next.querySelector(".cell_output")) {
        return next.querySelector(".explorer") ? null : next.querySelector(".cell_output");
      }
    }
    return null;
  }

  function guessBefore() {
    document.querySelectorAll("article section > p").forEach((paragraph) => {
      const asks = GUESS.test(paragraph.textContent.replace(/\s+/g, " ")) && !paragraph.closest(".admonition");
      const output = asks && outputAfter(paragraph);
      if (output && !output.parentElement.matches(".waiting")) {
        const cell = output.parentElement;
        const form = guessFirst(data.prefix + cell.id, say("Your guess"), say("Show the output"), [], (node) => output.before(node), () => {
          cell.classList.remove("waiting");
          window.dispatchEvent(new Event("resize"));          /* what scrolls is found again */
        });
        cell.classList.toggle("waiting", Boolean(form));
      }
    });
  }

  const block = document.getElementById("answers-data"), data = block && JSON.parse(block.textContent);
  if (data) {
    load();
    document.querySelectorAll(".exercise.admonition").forEach((exercise) => {
      const declared = data.answers[exercise.id];
      declared ? ask(exercise, declared) : offerDone(exercise);
    });
    const how = document.querySelector("#exercises > p")?.firstChild, open = say("To answer, open");
    if (how?.data?.startsWith(open) && Object.keys(data.answers).length) {
      how.data = say("Where there is a form, answer on this page. For the other exercises, open") + how.data.slice(open.length);
    }
    checkYourself();
    guessBefore();
    count();
  }
  return {number, shown, verdict, choicesOf};
})();
