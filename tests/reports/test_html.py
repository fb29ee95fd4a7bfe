"""The HTML page: one file that asks nobody for anything, and nothing of the input read as markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from properties.verdict import Result, states_of
from reports.html import to_html
from reports.html.page import events, near_misses
from tests.reports import samples
from tests.reports.golden_files import matches

PAGE = to_html(samples.DEPLOYMENT, samples.RESULT, command=samples.COMMAND)
HOSTILE = to_html(samples.HOSTILE_DEPLOYMENT, samples.HOSTILE_RESULT, command=samples.HOSTILE)
VOID = {"meta", "br", "path", "line", "circle"}


class Reader(HTMLParser):
    """The elements of a page, in order, and which were not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def attributes(self, name: str) -> list[str]:
        return [value for _, attrs in self.elements if (value := attrs.get(name)) is not None]


@pytest.mark.parametrize("page", [PAGE, HOSTILE], ids=["plain", "hostile"])
def test_it_is_well_formed_and_asks_for_nothing(page: str) -> None:
    read = Reader(page)
    assert not read.open
    assert not read.attributes("src")
    assert all(link.startswith("#") for link in read.attributes("href"))
    assert not re.search(r"url\((?!#)|@import|https?://", page)


def test_every_link_leads_somewhere() -> None:
    read = Reader(PAGE)
    names = read.attributes("id")
    assert len(names) == len(set(names))
    assert {link[1:] for link in read.attributes("href")} <= set(names)


def test_input_is_no_markup() -> None:
    tags = {tag for tag, _ in Reader(HOSTILE).elements}
    assert "i" not in tags
    assert "\x1b" not in HOSTILE
    assert {"i", "b"}.isdisjoint(
        tag for tag, _ in Reader(to_html(samples.DEPLOYMENT, samples.RESULT, command="<b>")).elements
    )


def test_states_are_those_of_the_trace() -> None:
    """What the script puts together is what :func:`states_of` says."""
    texts = re.findall(r'<script type="application/json" class="states">(.*?)</script>', PAGE)
    data = json.loads(texts[0])
    state = {what: value for what, _, value, *_ in data["start"]}
    for shown, changes in zip(list(states_of(samples.KILL_TRACE))[1:], data["steps"], strict=True):
        state.update({what: value for what, value, *_ in changes})
        assert state == {one.what: one.value for one in shown}
    assert data["steps"][1][0] == ["broker 1's log", "[1]", ["1"]]


def test_script_data_cannot_end_the_script() -> None:
    data = re.findall(r'class="states">(.*?)</script>', HOSTILE, re.DOTALL)
    assert data
    assert all("<" not in one for one in data)


def test_fault_trees_have_a_leaf_for_each_fault() -> None:
    assert events((("power-loss", 1), ("slow-follower", 2))) == ["power-loss", "2 slow-follower"]
    tree = PAGE[PAGE.index('id="fault-trees"') : PAGE.index('id="why-not"')]
    assert tree.count("<figure") == 3
    assert "<li>power-loss</li><li>2 slow-follower</li>" in tree
    assert "no fault at all" in tree


def test_a_pass_says_why_not_and_what_is_nearest() -> None:
    holding = next(verdict for verdict in samples.RESULT.verdicts if verdict.property == "no-skip")
    assert list(near_misses(holding, samples.RESULT)) == [
        "with processing=handed-off, no-skip is violated by {consumer-crash}"
    ]
    why_not = PAGE[PAGE.index('id="why-not"') : PAGE.index('id="assumptions"')]
    assert "near miss" in why_not
    assert "not reached: an offset read twice" in why_not


def test_without_violations_there_are_no_traces() -> None:
    page = to_html(samples.DEPLOYMENT, samples.HARMLESS, command=samples.COMMAND)
    assert 'id="traces"' not in page
    assert "<svg" not in page


def test_verdicts_link_their_own_traces() -> None:
    """Two properties share the first trace; the third has one of its own."""
    rows = re.findall(r'<th scope="row">([a-z-]+).*?</tr>', PAGE, re.DOTALL)
    cells = re.findall(r"<tr>\n<th scope=\"row\">.*?</tr>", PAGE, re.DOTALL)
    links = [re.findall(r'href="#(t\d+)"', cell) for cell in cells]
    assert dict(zip(rows, links, strict=True))["no-loss"] == ["t1"]
    assert dict(zip(rows, links, strict=True))["no-acked-loss"] == ["t1", "t2", "t3"]
    assert dict(zip(rows, links, strict=True))["exactly-once-effect"] == ["t4"]


def test_a_result_of_nothing() -> None:
    assert "<h1>" in to_html(samples.DEPLOYMENT, Result((), samples.ENGINE, (), samples.VERSIONS), command="x")


def test_golden() -> None:
    matches("result.html", PAGE)
