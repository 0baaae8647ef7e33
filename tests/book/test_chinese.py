"""The Chinese pages beside the English ones: the same places, the same numbers, and a page that reads well."""
import re

import lxml.html
import pytest
from bookext.cache import is_built
from bookext.translation import agree
from test_site import LIMIT_KB, PAGES, ROOT, Reader, address, browser, serve  # noqa: F401 (three fixtures)
from weighing import asked_for, weight

SECTIONS = [page for page in PAGES if re.fullmatch(r"chapters/\w+/(?!index)\w+", page)]
SAMPLE = (
    "intro", "chapters/sparse_vector/index", "chapters/sparse_vector/above_threshold", "reference/glossary",
    "reference/claims", "course/plans/attacks", "search",
)
ALL = [page if page in SAMPLE else pytest.param(page, marks=pytest.mark.slow) for page in PAGES if page != "404"]


@pytest.fixture(scope="module")
def chinese(site):
    """The Chinese pages where they are published."""
    if not is_built(ROOT, "zh/html") or not (site / "zh").is_dir():
        pytest.skip("the Chinese edition is not built as its sources are: make zh")
    return site / "zh"


def places(page):
    """What an address on a page may lead to, outside of the sidebars."""
    article = lxml.html.parse(page).getroot().find(".//article")
    written = re.compile(r"MathJax|mjx|id\d|index-|solution-|toggle|book-words")
    return {one for one in article.xpath(".//@id") if not written.match(one)}


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ("404", "genindex", "py-modindex", "search")])
def test_both_editions_have_the_same_places(page, site, chinese):
    english, own = (places(folder / f"{page}.html") for folder in (site, chinese))
    if page == "reference/glossary":             # a word with Latin letters in Chinese, as f-差分隐私, has its own name
        english, own = ({one for one in found if not one.startswith("term-")} for found in (english, own))
    assert english == own


@pytest.mark.parametrize("page", ALL)
def test_a_chinese_page_has_no_fault_that_an_english_one_may_not_have(page, browser, chinese, address):  # noqa: F811
    reader = Reader(browser)
    assert reader.complaints(f"{address}zh/{page}.html") == []
    assert reader.page.locator("html").get_attribute("lang") == "zh-CN"
    reader.context.close()


@pytest.mark.parametrize("page", [*ALL, "search.html?q=拉普拉斯机制的噪声"])
def test_a_chinese_page_is_as_light_as_an_english_one(page, browser, chinese, address, site):  # noqa: F811
    asked = asked_for(browser, f"{address}zh/{page}" + (".html" if "?" not in page else ""))
    assert sum(weight(site / file) for file in asked) <= LIMIT_KB


@pytest.mark.parametrize("page", SECTIONS)
def test_both_editions_have_computed_the_same_numbers(page, chinese):
    assert agree.compared(page) == []


@pytest.mark.parametrize(("question", "place"), [
    ("稀疏向量", "sparse_vector"), ("噪", ".html"), ("拉普拉斯机制", "laplace"), ("隐私预算", "glossary"),
])
def test_chinese_is_found(question, place, browser, chinese, address):  # noqa: F811
    page = browser.new_page()
    page.goto(f"{address}zh/search.html?q={question}")
    page.locator("#search-results .context[data-filled]").first.wait_for()
    links = [link.get_attribute("href") for link in page.locator("#search-results li > a").all()]
    assert any(place in link for link in links[:3])
    assert page.locator("#search-results mark").count()
    page.close()


def test_each_page_leads_to_itself_in_the_other_language(browser, chinese, address):  # noqa: F811
    page = browser.new_page()
    page.goto(f"{address}chapters/mechanisms/laplace.html#lap-clip")
    page.locator("a[data-edition]").click()
    page.wait_for_url("**/zh/chapters/mechanisms/laplace.html#lap-clip")
    page.locator("a[data-edition]").click()
    page.wait_for_url(f"{address}chapters/mechanisms/laplace.html#lap-clip")
    page.close()
