"""How the book's extension makes pages light: formulas set by node, fonts cut, style sheets joined."""
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from bookext import faces, fonts, light, mathematics, styles
from fontTools.ttLib import TTFont
from sphinx.builders.html import BuildInfo

LINKS = (
    '<link rel="stylesheet" href="_static/a.css?v=1" />\n'
    '<link rel="stylesheet" href="_static/sphinx-design.min.css" />\n'
)
MATHJAX = (
    '<script>window.MathJax = {}</script>\n'
    '<script defer="defer" src="_static/mathjax/tex-chtml.js?v=2"></script>\n'
)


def inline(tex):
    return rf'<span class="math notranslate nohighlight">\({tex}\)</span>'


def displayed(tex):
    return (
        '<div class="math notranslate nohighlight" id="equation-a">\n'
        f'<span class="eqno">(1)<a href="#equation-a">#</a></span>\\[{tex}\\]</div>'
    )


def page(*formulas):
    return f"<html><head>{LINKS}{MATHJAX}</head><body>{' '.join(formulas)}</body></html>"


def typeset(folder, *pages, **tex):
    typesetter = mathematics.Typesetter(folder, tex)
    typesetter.learn([mathematics.formulas(one) for one in pages])
    return [typesetter.set(one) for one in pages]


def drawn(html):
    """The characters that a page draws, in order."""
    return "".join(chr(int(code, 16)) for code in re.findall(r'<mjx-c class="mjx-c([0-9A-F]+)', html))


def spoken(html):
    return re.findall(r"<mjx-assistive-mml.*?>(<math.*?</math>)", html)


def test_a_formula_is_drawn_and_spoken(tmp_path):
    found, = typeset(tmp_path, page(inline(r"\delta &lt; 1"), displayed("x^2")))
    assert drawn(found) == "𝛿<1𝑥2"
    assert spoken(found)[0] == "<math><mi>δ</mi><mo>&lt;</mo><mn>1</mn></math>"
    assert '<span class="eqno">(1)' in found and 'display="true"' in found
    assert not re.search(r"tabindex|MathJax\.|tex-chtml|\\\(|\\\[|style=\"position", found)


def test_an_environment_without_delimiters_is_displayed(tmp_path):
    body = '<div class="amsmath math notranslate nohighlight">\n\\begin{align}a&amp;=b\\\\c&amp;=d\\end{align}</div>'
    found, = typeset(tmp_path, page(body))
    assert drawn(found) == "𝑎=𝑏𝑐=𝑑" and 'display="true"' in found


def test_the_settings_of_the_book_hold(tmp_path):
    found, = typeset(tmp_path, page(inline(r"\eps")), macros={"eps": r"\varepsilon"})
    assert drawn(found) == "𝜀"


def test_a_definition_holds_on_its_page_and_on_no_other(tmp_path):
    first, second = typeset(tmp_path, page(inline(r"\newcommand{\R}{\mathbb{R}}"), inline(r"\R")), page(inline(r"\R")))
    assert drawn(first) == "ℝ" and "merror" not in first
    assert "color: red" in second


def test_equations_are_numbered_page_by_page_and_referred_to_before_and_after(tmp_path):
    body = inline(r"\eqref{b}")
    body += r'<div class="math notranslate nohighlight">\begin{equation}x\label{a}\end{equation}</div>'
    body += r'<div class="math notranslate nohighlight">\begin{equation}y\label{b}\end{equation}</div>'
    body += inline(r"\eqref{a}")
    for found in typeset(tmp_path, page(body), page(inline("z"), body), tags="ams"):
        assert drawn(found).removeprefix("𝑧") == "(2)𝑥(1)𝑦(2)(1)"
        for target in re.findall(r'href="#([^"]+)"', found.split("<body>")[1]):
            assert found.count(f'id="{unquote(target)}"') == 1


def test_what_is_known_is_not_set_again(tmp_path, monkeypatch):
    first = typeset(tmp_path, page(inline("x"), inline("y")))
    monkeypatch.setattr(mathematics, "node_version", lambda: "")
    assert typeset(tmp_path, page(inline("x"), inline("y"))) == first
    with pytest.raises(mathematics.NotSet):
        typeset(tmp_path, page(inline("x"), inline("z")))
    with pytest.raises(mathematics.NotSet):
        typeset(tmp_path, page(inline("x")), macros={"x": "z"})


def test_the_sheet_has_the_rules_and_the_fonts_the_characters_of_the_pages(tmp_path):
    typesetter = mathematics.Typesetter(tmp_path, {})
    text = page(
        inline(r"\alpha + \left\{\frac12\right."), displayed(r"\sum_{k} \begin{pmatrix}1\\2\\3\\4\end{pmatrix}")
    )
    typesetter.learn([mathematics.formulas(text)])
    found = typesetter.set(text)
    sheet = mathematics.cut_sheet(typesetter.sheet, [found], tmp_path / "fonts")
    assert len(sheet) < len(typesetter.sheet) / 10
    for look in set(re.findall(r'<mjx-c class="([^"]+)"', found)):
        assert f"mjx-c.{look.replace(' ', '.')}::before" in sheet or f"mjx-c.{look.split()[0]}::before" in sheet
    files = re.findall(r'url\("([\w-]+\.woff2)\?v=\w{8}"\)', sheet)
    assert sorted(files) == sorted(path.name for path in (tmp_path / "fonts").iterdir())
    characters = {path.stem: TTFont(path).getBestCmap().keys() for path in (tmp_path / "fonts").iterdir()}
    assert ord("α") in characters["MathJax_Math-Italic"] and {0x239B, 0x239D} <= characters["MathJax_Size4-Regular"]
    assert ord("β") not in characters["MathJax_Math-Italic"]
    assert mathematics.cut_sheet(typesetter.sheet, [page()], tmp_path) == ""


def test_a_font_is_cut_to_the_same_bytes_again(tmp_path):
    source = mathematics.FONTS / "MathJax_Main-Regular.woff"
    assert (
        fonts.cut(source, {ord("a")}, tmp_path)
        == fonts.cut(source, {ord("a")}, tmp_path)
        != fonts.cut(source, {ord("b")}, tmp_path)
    )
    assert fonts.cut(source, {0x4E00}, tmp_path) == ""


def test_the_face_has_the_letters_of_the_text_and_no_others(tmp_path):
    pages = ["<head><title>Z</title></head><p>ab&amp;é</p><pre>q</pre><svg><text>w</text></svg>", "<p>ε</p>"]
    rules = faces.rules(pages, tmp_path)
    files = re.findall(r'url\("([\w-]+\.woff2)\?v=\w{8}"\)', rules)
    assert sorted(files) == sorted(path.name for path in tmp_path.iterdir())
    assert len(files) == len(faces.FACES) == rules.count("@font-face")
    for file in files:
        has = TTFont(tmp_path / file).getBestCmap().keys()
        assert set(map(ord, "ab&éε’")) <= has and not set(map(ord, "Zqw<")) & has


# --------------------------------------------------------------------------------------------------------- a whole site

ICONS = '.fa-sun{--fa:"\\f185"}.fa-cat{--fa:"\\f6be"}'
SHEETS = {
    "a.css": f'@import "b.css";{ICONS} p {{ background: url(file.png) }} /* gone */ q {{ content: "/* kept */" }}',
    "b.css": (
        '@font-face{font-family:I;src:url(vendor/fontawesome/webfonts/fa-solid-900.woff2) format("woff2")} '
        "b { color: red }"
    ),
    "sphinx-design.min.css": ".sd-card { color: green }",
}


@pytest.fixture
def site(tmp_path):
    """A built book of two pages, of which one has a formula."""
    site = tmp_path / "html"
    icons = site / styles.ICON_FONTS
    icons.mkdir(parents=True)
    (site / "_static/scripts").mkdir()
    (site / "_static/mathjax").mkdir()
    for name, text in SHEETS.items():
        (site / "_static" / name).write_text(text, encoding="utf-8")
    shutil.copy(theme_font(), icons)
    (icons / "fa-brands-400.ttf").touch()
    (site / ".buildinfo").write_text(
        "# Sphinx build info version 1\n# a hash\nconfig: 5f\ntags: 7a\n", encoding="utf-8"
    )
    (site / "part").mkdir()
    (site / "plain.html").write_text(
        f'<head>{LINKS}<script src="_static/doctools.js"></script></head><i class="fa-sun"></i>', encoding="utf-8"
    )
    (site / "part/set.html").write_text(page(inline("x")).replace("_static", "../_static"), encoding="utf-8")
    return site


def theme_font():
    import pydata_sphinx_theme
    theme = Path(pydata_sphinx_theme.__file__).parent
    return next(theme.rglob("fa-solid-900.woff2"))


def finish(site):
    config = SimpleNamespace(language="en", mathjax3_config=None)
    light.finish(SimpleNamespace(outdir=str(site), builder=SimpleNamespace(format="html"), config=config), None)
    return [(site / name).read_text(encoding="utf-8") for name in ("plain.html", "part/set.html", styles.JOINED)]


def test_pages_ask_for_one_sheet_in_the_old_order(site):
    plain, deep, sheet = finish(site)
    for up, text in (("", plain), ("../", deep)):
        assert re.findall(r'<link [^>]*href="([^"?]*)', text) == [f"{up}{styles.JOINED}"]
    assert '<script defer src="_static/doctools.js">' in plain
    assert sheet.index("b { color") < sheet.index("p { background") < sheet.index("mjx-")
    assert 'url("../file.png")' in sheet and "gone" not in sheet and "/* kept */" in sheet and "sd-card" not in sheet
    assert ".fa-sun" in sheet and ".fa-cat" not in sheet
    icons = TTFont(site / "_static/light/fa-solid-900.woff2").getBestCmap().keys()
    assert icons == {0xF185}
    assert not any((site / gone).exists() for gone in ("_static/mathjax", f"{styles.ICON_FONTS}/fa-brands-400.ttf"))


def test_a_sheet_stays_for_the_class_that_it_is_for(site):
    with (site / "plain.html").open("a", encoding="utf-8") as file:
        file.write('<p class="a sd-card"></p>')
    assert "sd-card" in finish(site)[2]


def test_rules_for_classes_that_nothing_has_are_left_out():
    sheet = (
        ".seen{a:1}.gone{a:2}.gone p,.seen b,p:not(.gone){a:3}@media print{.gone{a:4}.seen .said{a:5}}"
        '@keyframes k{from{a:6}50.5%{a:7}}p::before{content:"} .gone {"}[data-x=".gone"]{a:8}:is(.gone,.seen) i{a:9}'
        ".w-1\\/2{a:10}.w-1\\/3{a:11}:is(:not(.gone),.gone) u,.gone{a:12}"
    )
    assert styles.without_idle_rules(sheet, ['<p class="x seen w-1/2">gone</p>'], ['add("said")']) == (
        ".seen{a:1}.seen b,p:not(.gone){a:3}@media print{.seen .said{a:5}}"
        '@keyframes k{from{a:6}50.5%{a:7}}p::before{content:"} .gone {"}[data-x=".gone"]{a:8}:is(.gone,.seen) i{a:9}'
        ".w-1\\/2{a:10}:is(:not(.gone),.gone) u,.gone{a:12}"
    )


def test_a_page_written_later_joins_the_others(site):
    first = finish(site)
    assert finish(site) == first                 # nothing was written
    shutil.copy(theme_font(), site / styles.ICON_FONTS)
    (site / "plain.html").write_text(page(inline("y")), encoding="utf-8")
    plain, deep, sheet = finish(site)
    assert drawn(plain) == "𝑦" and drawn(deep) == "𝑥" and all(f"mjx-c1D46{code}" in sheet for code in "56")
    marks = {re.search(r"book\.css\?v=(\w+)", text)[1] for text in (plain, deep)}
    assert len(marks) == 1 and not any(mark in first[0] for mark in marks)


@pytest.mark.parametrize("fault", ["missing", "broken"])
def test_without_node_the_browser_sets_the_formulas(site, fault, monkeypatch, caplog):
    if fault == "missing":
        monkeypatch.setattr(mathematics, "node_version", lambda: "")
    else:
        monkeypatch.setattr(mathematics, "WHEEL", site)
    said = []
    monkeypatch.setattr(light.logger, "info", said.append)
    _, deep, sheet = finish(site)
    assert inline("x") in deep and "tex-chtml.js" in deep and (site / "_static/mathjax").exists() and "mjx" not in sheet
    assert len(said) == 1 and said[0].startswith("formulas are left to the browser of the reader: ")
    with (site / ".buildinfo").open(encoding="utf-8") as file:
        assert BuildInfo.load(file).config_hash != "5f"          # the next build writes all pages, and tries again
