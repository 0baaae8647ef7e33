/* The page that searches: ranks the places of the book that search/index.js tells of, and shows the passage that fits. */
"use strict";

const bookSearch = (() => {
  const AT_ONCE = 8;                              /* places shown at first, and with each press of the button */
  const EXCERPT = 260;                            /* letters */
  const SAME = new Map(Object.entries({          /* letters by their names, and what no rule of root() brings together */
    α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", ϵ: "epsilon", η: "eta", θ: "theta", κ: "kappa", λ: "lambda",
    μ: "mu", π: "pi", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi", χ: "chi", ω: "omega",
    chose: "choose", chosen: "choose", choice: "choose", choices: "choose", analysis: "analyse", anonymity: "anonymise", anonymous: "anonymise",
  }));
  const HAN = /\p{Script=Han}/u;
  const KINDS = [                                 /* how much a page counts, and what every section has */
    [/^reference\/(questions|glossary)/, 1.4], [/^chapters\//, 1], [/^intro/, 0.9], [/^reference\/notation/, 0.8], [/./, 0.5],
  ];
  const EVERYWHERE = /^(Exercise|Exercises|Check yourself|Lessons|Claims you will meet|Where this comes from|In practice)\b/;

  /* small letters without marks, as in search.py; then one form for British and American, one and many, -ing and -ed */
  function wordsOf(text) {
    const runs = text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").match(/[\u3400-\u9fff]+|(?:(?![\u3400-\u9fff])[\p{L}\p{N}])+/gu) ?? [];
    return runs.flatMap(pairs);
  }

  /* Chinese has no blanks: it is compared by pairs of neighbouring characters */
  function pairs(word) {
    return HAN.test(word) && word.length > 1 ? [...word].slice(1).map((one, place) => word[place] + one) : [word];
  }

  function root(word) {
    let one = SAME.get(word) ?? word;
    one = one.replace(/(.{3})our/, "$1or").replace(/(cent|met|fib|theat)re/, "$1er").replace(/amme(?=s?$)/, "am").replace(/ogue(?=s?$)/, "og")
      .replace(/ence(?=s?$)/, "ense").replace(/is(e|es|ed|er|ers|ing|ation|ations|able)$/, "iz$1").replace(/ys(e|es|ed|er|ers|ing)$/, "yz$1");
    one = one.replace(/ies$/, "y").replace(/(.{2}[^su])s$/, "$1");
    one = one.replace(/(.{3})(?:ation|ated|ating|ator|ate)$/, "$1").replace(/(.{3}t)ion$/, "$1").replace(/(.{3})(?:ing|ed|ly)$/, "$1").replace(/(.{3})e$/, "$1");
    return one.replace(/([b-df-hj-np-tv-z])\1$/, "$1");
  }

  let book;
  let roots;                                      /* root -> where the words of the book stand that have it */

  function open(data) {
    book = data;
    roots = new Map();
    learn(data);
    book.titles = book.places.map(([, , title]) => wordsOf(title).map(root));
    const first = new Map();                      /* a page's own title */
    book.places.forEach(([page], place) => first.has(page) || first.set(page, place));
    book.first = first;
  }

  function learn({words, where}) {
    words.split(" ").forEach((word, number) => {
      const one = root(word);
      roots.set(one, [...(roots.get(one) ?? []), where[number]]);
    });
  }

  function placesOf(steps, tell) {
    let place = 0;
    for (const step of steps) {
      place += step >> 1;
      tell(place, step & 1);
    }
  }

  function says(word) {
    return HAN.test(word) ? ![...word].some((one) => book.empty.includes(one)) : !book.stop.includes(word) && !/^([a-z]|\d+)$/.test(word);
  }

  /* what a question asks for: its words that say something, as roots */
  function wanted(question) {
    const all = [...new Set(wordsOf(question))];
    const telling = all.filter(says);
    return [...new Set((telling.length ? telling : all).map(root))];
  }

  function begins(one, term) {
    return HAN.test(term) ? one.includes(term) : one.startsWith(term);
  }

  /* place -> how well a root fits it: 1 where it stands, more where often */
  function fits(term) {
    const found = new Map();
    const tell = (share) => (place, often) => found.set(place, Math.max(found.get(place) ?? 0, share * (often ? 1.5 : 1)));
    if (roots.has(term)) {
      roots.get(term).forEach((steps) => placesOf(steps, tell(1)));
    } else if (term.length > 2 || HAN.test(term)) {         /* a word that is only begun, or a part of a Chinese one */
      roots.forEach((lists, one) => begins(one, term) && lists.forEach((steps) => placesOf(steps, tell(0.7))));
    }
    return found;
  }

  /* the places that have words of the question, the best first */
  function rank(question) {
    const terms = wanted(question);
    const count = book.places.length;
    const mean = book.lengths.reduce((sum, one) => sum + one, 0) / count;
    const scores = new Map();
    let whole = 0;
    for (const term of terms) {
      const found = fits(term);
      const weight = Math.log(1 + count / (1 + found.size));
      whole += weight;
      found.forEach((fit, place) => {
        const [page] = book.places[place];
        const long = 0.6 + 0.4 * book.lengths[place] / mean;
        let score = fit / long;
        if (book.titles[place].some((one) => one === term)) {
          score += 3;
        }
        if (book.titles[book.first.get(page)].includes(term)) {
          score += 1;
        }
        const old = scores.get(place) ?? {score: 0, had: 0};
        scores.set(place, {score: old.score + weight * score, had: old.had + weight});
      });
    }
    const ranked = [...scores].map(([place, {score, had}]) => {
      const [page, , title] = book.places[place];
      const telling = book.titles[place].filter((one) => says(one) && !HAN.test(one));
      const named = telling.filter((one) => terms.includes(one)).length / Math.max(telling.length, 1);
      const kind = KINDS.find(([name]) => name.test(book.pages[page]))[1]
        * (EVERYWHERE.test(title.replace(/^[\d.]+ /, "")) || book.pages[page] === "reference/glossary" && named < 1 ? 0.6 : 1);
      const first = terms.includes(telling[0]) ? 1.3 : 1;
      const wholePage = named && book.first.get(page) === place ? 1.4 : 1;
      return {place, score: score * kind * first * wholePage * (0.5 + named) * (had / whole) ** 2, all: had > 0.999 * whole};
    });
    ranked.sort((one, other) => other.all - one.all || other.score - one.score || one.place - other.place);
    return {terms, ranked};
  }

  /* ---- what is shown ---- */

  const waiting = new Map();                      /* file -> what to do with its texts */
  const texts = new Map();

  function withTexts(place, use) {
    const file = book.files.filter((first) => first <= place).length - 1;
    const take = (passages) => use(passages[place - book.files[file]]);
    if (texts.has(file)) {
      take(texts.get(file));
    } else if (waiting.has(file)) {
      waiting.get(file).push(take);
    } else {
      waiting.set(file, [take]);
      load(file);
    }
  }

  function load(file) {
    const script = document.createElement("script");
    script.src = new URL(`${file}.js?v=${book.mark}`, folder);
    document.head.append(script);
  }

  const folder = new URL("../search/", document.currentScript.src);

  function bears(word, terms) {
    const one = root(wordsOf(word)[0] ?? "");
    return terms.some((term) => one === term || !roots.has(term) && begins(one, term));
  }

  /* the stretch of a place's text that has most of the words, and the marks in it */
  function excerpt(passages, terms) {
    const words = (text) => [...text.matchAll(/(?=([\u3400-\u9fff]{1,2}))|((?:(?![\u3400-\u9fff])[\p{L}\p{M}\p{N}])+)/gu)]
      .map((found) => ({0: found[1] ?? found[2], index: found.index}));
    let best = {worth: -1};
    passages.forEach((passage) => {
      const hits = words(passage).filter((hit) => bears(hit[0], terms));
      hits.concat(hits.length ? [] : [{index: 0, 0: ""}]).forEach(({index}) => {
        const near = hits.filter((hit) => hit.index >= index && hit.index < index + EXCERPT * 0.8);
        const worth = new Set(near.map((hit) => root(wordsOf(hit[0])[0]))).size + near.length / 100;
        if (worth > best.worth) {
          best = {worth, passage, index};
        }
      });
    });
    if (best.passage === undefined) {
      return [];
    }
    const {passage, index} = best;
    let from = passage.length <= EXCERPT ? 0 : Math.max(passage.lastIndexOf(". ", index), passage.lastIndexOf("? ", index)) + 2;
    from = from < 2 ? 0 : from;
    if (index - from > EXCERPT / 2) {
      from = passage.indexOf(" ", index - EXCERPT / 3) + 1;
    }
    let to = passage.length;
    if (to - from > EXCERPT) {
      to = passage.lastIndexOf(" ", from + EXCERPT);
    }
    const parts = from > 0 && !/[.?] $/.test(passage.slice(0, from)) ? ["… "] : [];
    let at = from;
    words(passage).filter((hit) => hit.index >= from && hit.index < to && bears(hit[0], terms)).forEach((hit) => {
      if (hit.index < at) {
        return;                                   /* the pair before it has its first character */
      }
      const mark = document.createElement("mark");
      mark.textContent = hit[0];
      parts.push(passage.slice(at, hit.index), mark);
      at = hit.index + hit[0].length;
    });
    parts.push(passage.slice(at, to), to < passage.length ? " …" : "");
    return parts;
  }

  function show(list, {place}, terms) {
    const [page, anchor, title] = book.places[place];
    const item = document.createElement("li");
    const link = document.createElement("a");
    const isPage = book.first.get(page) === place;
    link.href = `${book.pages[page]}.html${isPage ? "" : `#${anchor}`}`;
    link.textContent = title;
    item.append(link);
    if (!isPage) {
      const where = document.createElement("p");
      where.className = "where";
      where.textContent = book.places[book.first.get(page)][2];
      item.append(where);
    }
    const words = document.createElement("p");
    words.className = "context";
    item.append(words);
    list.append(item);
    withTexts(place, (passages) => {
      words.append(...excerpt(passages, terms));
      words.dataset.filled = "";
    });
  }

  function start(data) {
    open(data);
    const field = document.querySelector(".bd-search-container input[name=q]");
    const [status, list, more] = ["status", "results", "more"].map((name) => document.getElementById(`search-${name}`));
    const question = new URLSearchParams(location.search).get("q")?.trim() ?? "";
    field.value = question;
    if (!question) {
      field.focus();
      return;
    }
    missing = new Set(wanted(question).filter((term) => HAN.test(term)).map((term) => term.codePointAt(0) % book.pairs));
    missing.forEach((number) => load(`pairs${number}`));
    goOn = () => missing.size || answer(question, status, list, more);
    goOn();
  }

  let missing;                                    /* the files of pairs that are on their way */
  let goOn;                                       /* what waits for them */

  function answer(question, status, list, more) {
    const {terms, ranked} = rank(question);
    const all = ranked.filter((one) => one.all).length;
    status.textContent = !ranked.length ? say("Nothing found for “{question}”.", {question})
      : all === 1 ? say("1 place found for “{question}”.", {question})
      : all ? say("{all} places found for “{question}”.", {all, question})
      : say("No place has all words of “{question}”. These have some of them.", {question});
    document.title = `${question} - ${document.title}`;
    const rest = all >= AT_ONCE ? ranked.filter((one) => one.all) : ranked;
    function next() {
      rest.splice(0, AT_ONCE).forEach((one) => show(list, one, terms));
      more.hidden = !rest.length;
    }
    more.addEventListener("click", () => {
      const seen = list.children.length;
      next();
      list.children[seen].querySelector("a").focus();
    });
    next();
  }

  return {
    start,
    pairs(file, words) {
      learn(words);
      missing.delete(file);
      goOn();
    },
    texts(file, passages) {
      texts.set(file, passages);
      waiting.get(file).forEach((take) => take(passages));
    },
  };
})();
