"""The HTML page is self-contained, and no input is interpreted as markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from proofka.properties.verdict import Result, TimingLemma, Trace, states_of
from proofka.reports.html import to_html
from proofka.reports.html.page import events
from tests.reports import samples
from tests.reports.golden_files import matches

PAGE = to_html(samples.DEPLOYMENT, samples.RESULT, command=samples.COMMAND)
HOSTILE = to_html(samples.HOSTILE_DEPLOYMENT, samples.HOSTILE_RESULT, command=samples.HOSTILE)
VOID = {"meta", "br", "path", "line", "circle"}


class Reader(HTMLParser):
    """The elements of a page in order, and the elements that were not closed."""

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
def test_page_is_well_formed_and_loads_nothing(page: str) -> None:
    read = Reader(page)
    assert not read.open
    assert not read.attributes("src")
    assert all(link.startswith("#") for link in read.attributes("href"))
    assert not re.search(r"url\((?!#)|@import|https?://", page)


@pytest.mark.parametrize("page", [PAGE, HOSTILE], ids=["plain", "hostile"])
def test_only_the_own_script_may_run(page: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html.unescape(policy)
    assert policy.startswith("default-src &#39;none&#39;;")


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
    """The states in the data of the script equal :func:`states_of`."""
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
    assert '<li class="fault">power-loss</li><li class="fault">2 slow-follower</li>' in tree
    assert '<li class="fault"><a href="#t1">kill</a></li>' in tree
    assert "no fault at all" in tree


def test_page_explains_a_pass_with_its_nearest_miss() -> None:
    why_not = PAGE[PAGE.index('id="why-not"') : PAGE.index('id="assumptions"')]
    assert "<dt>near miss</dt><dd>with processing=handed-off, no-skip is violated by {consumer-crash}</dd>" in why_not
    assert "<dd>98,123 states; any 2 faults</dd>" in why_not
    assert "not reached: an offset read twice" in why_not


def test_lemmas_are_part_of_why_not() -> None:
    lemma = TimingLemma(("a",), ("b",), "30,000 (retention.ms) > 1,000")
    result = replace(samples.HARMLESS, verdicts=(replace(samples.HOLDS, lemmas=(lemma,)),))
    page = to_html(samples.DEPLOYMENT, result, command=samples.COMMAND)
    assert "<dt>lemma</dt><dd>30,000 (retention.ms) &gt; 1,000</dd>" in page
    assert "holds in time" in page


def test_bounds_stand_beside_the_verdicts() -> None:
    bounds = PAGE[PAGE.index('<section id="bounds"') : PAGE.index('<section id="traces"')]
    assert "<li>sizes: records 2, log 3, sends 2</li>" in bounds
    assert "<li>cut short: larger log would explore more (no-acked-loss, no-loss and recoverability)</li>" in bounds
    assert "states per number of faults: 120, 98,003, 1,136,444" in bounds


def test_paper_has_the_first_trace_of_required_properties_and_names_the_others() -> None:
    printed = re.findall(r'<article class="trace on-paper" id="(t\d)"', PAGE)
    assert printed == ["t1"]
    further = PAGE[PAGE.index('<div class="further">') : PAGE.index('<section id="fault-trees"')]
    assert re.findall(r'<tr><td class="number">(\d)</td>', further) == ["2", "3", "4"]
    assert "<code>proofka check orders.yaml --json RESULT.json</code>" in further
    unasked = tuple(replace(verdict, required=False) for verdict in samples.RESULT.verdicts)
    page = to_html(samples.DEPLOYMENT, replace(samples.RESULT, verdicts=unasked), command=samples.COMMAND)
    assert re.findall(r'<article class="trace on-paper" id="(t\d)"', page) == ["t1", "t4"]


def test_a_long_diagram_is_in_parts_that_fit_on_paper() -> None:
    steps = tuple(replace(samples.SEND, text=f"step {number}") for number in range(1, 101))
    verdict = replace(samples.VIOLATED, cut_sets=((),), traces=(Trace((), steps, "fails", samples.START),))
    page = to_html(samples.DEPLOYMENT, replace(samples.HARMLESS, verdicts=(verdict,)), command=samples.COMMAND)
    read = Reader(page)
    assert [int(start) for start in read.attributes("start")] == [1, 27, 53, 79]
    tops = [[int(one) for one in box.split()] for box in read.attributes("viewbox") if not box.startswith("0 0 8 ")]
    assert [(top, top + height) for _, top, _, height in tops] == [(0, 860), (860, 1720), (1720, 2580), (2580, 3324)]
    assert len([name for name in read.attributes("id") if name.startswith("t1-s")]) == 100
    assert page.count('<circle class="mark"') == 100
    assert [one.get("start") for name, one in read.elements if name == "ol" and one.get("class") == "steps"]


def test_page_without_violations_has_no_traces() -> None:
    page = to_html(samples.DEPLOYMENT, samples.HARMLESS, command=samples.COMMAND)
    assert 'id="traces"' not in page
    assert "<svg" not in page


def test_verdicts_link_their_own_traces() -> None:
    """Two properties share the first trace; the third has its own trace."""
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
