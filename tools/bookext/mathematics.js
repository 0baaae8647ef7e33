/* Set formulas with the MathJax of an installed wheel, whose folder is the argument.
   In:  {tex: settings, together: [[formula, displayed], …], alone: [pages whose formulas define or number something, each as such a list]}
   Out: {sheet: every rule that MathJax has, together: [html, …], alone: [[html, …], …]} */
"use strict";

const [folder] = process.argv.slice(2);
const {tex, together, alone} = JSON.parse(require("fs").readFileSync(0, "utf8"));

async function main() {
  const MathJax = await require(`${folder}/node-main.js`).init({
    loader: {paths: {mathjax: folder}, load: ["input/tex", "output/chtml", "adaptors/liteDOM", "a11y/assistive-mml"]},
    chtml: {adaptiveCSS: false, fontURL: "fonts"},
    tex,
  });

  async function setAll(formulas) {
    const found = [];
    for (const [formula, display] of formulas) {
      const node = await MathJax.tex2chtmlPromise(formula, {display, em: 16, ex: 8, containerWidth: 1280});
      found.push(MathJax.startup.adaptor.outerHTML(node));
    }
    return found;
  }

  /* a page of its own: fresh definitions and numbers, and a second time for references to what comes later */
  async function setPage(formulas) {
    MathJax.startup.getComponents();
    const first = await setAll(formulas);
    const input = MathJax.startup.document.inputJax[0];
    const {options, tags} = input.parseOptions;
    const labels = tags.allLabels;
    if (!Object.keys(labels).length) {
      return first;
    }
    input.reset();
    tags.allLabels = labels;
    options.ignoreDuplicateLabels = true;
    return setAll(formulas);
  }

  const sheet = MathJax.startup.adaptor.textContent(MathJax.chtmlStylesheet());
  const out = {sheet, together: await setAll(together), alone: []};
  for (const page of alone) {
    out.alone.push(await setPage(page));
  }
  return JSON.stringify(out);
}

main().then((out) => process.stdout.write(out), (trouble) => {
  console.error(trouble);
  process.exitCode = 1;
});
