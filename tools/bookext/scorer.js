/* A word that names a section and a function leads to the section first. Sphinx's own numbers are 11 and 6 for a name, and 15 more for a module. */
var Scorer = {
  objNameMatch: 4,
  objPartialMatch: 2,
  objPrio: {0: 1, 1: 1, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
