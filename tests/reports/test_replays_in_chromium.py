"""The outcomes of replays on the HTML page in a browser: beside the trace and its steps, on paper and a telephone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.properties.reproduced import Fact
from proofka.properties.verdict import Result
from tests.reports import samples
from tests.reports.test_html_in_chromium import CHROMIUM, Opened, printed

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (Debian: apt install chromium)")
api = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install 'proofka[dev]')")

WIDE = "WWWW mmmm " * 9 + "end"
"""An observation of several lines, of the widest letters."""

CUT_OFF = """() => [...document.querySelectorAll(".steps li")]
    .filter(step => step.scrollHeight > step.clientHeight + 1 || step.scrollWidth > step.clientWidth + 1)
    .map(step => step.textContent)"""
"""Script that returns the steps whose text is not whole."""


@pytest.fixture(scope="module")
def browser() -> Iterator[api.Browser]:
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def with_facts(*texts: str) -> Result:
    """Return a result with these observations at the second step of its first trace."""
    facts = tuple(Fact(2, "log of broker 1", text, float(at)) for at, text in enumerate(texts))
    return replace(samples.RESULT, reproductions=(replace(samples.REPRODUCED, facts=facts),))


def test_observations_are_beside_their_steps(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.REPLAYED)
    steps = opened.page.locator("#t1 .steps li")
    assert [step.locator(".facts > span").all_inner_texts() for step in steps.all()] == [
        ["proxy: request with record 1 from the producer to broker 1"],
        ["log of broker 1: 0: record 1 (epoch 0)", "delivery report: record 1: stored at offset 0"],
        [],
        ["controller: leader 2, epoch 1, ISR [2, 3]"],
    ]
    assert opened.page.locator("#t2-s3 + .facts").inner_text() == "✗ diverged here"
    assert opened.page.evaluate(CUT_OFF) == []
    assert opened.said == []


@pytest.mark.parametrize("texts", [("short",) * 6, (WIDE,), ("x" * 200,)], ids=["many", "wide", "one word"])
@pytest.mark.parametrize("width", [390, 1000, 1400])
def test_long_observations_are_whole(browser: api.Browser, tmp_path: Path, texts: tuple[str, ...], width: int) -> None:
    opened = Opened(browser, tmp_path, with_facts(*texts))
    opened.page.set_viewport_size({"width": width, "height": 900})
    assert opened.page.evaluate(CUT_OFF) == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_marks_stay_beside_their_steps(browser: api.Browser, tmp_path: Path) -> None:
    """The rows of the diagram are as high as the steps with their observations."""
    opened = Opened(browser, tmp_path, with_facts("short", WIDE))
    for number in range(1, 5):
        mark = opened.page.locator(f"#t1 .mark[data-step='{number}']").bounding_box()
        row = opened.page.locator(f"#t1 .steps li:has(#t1-s{number})").bounding_box()
        assert mark is not None
        assert row is not None
        assert abs(mark["y"] + mark["height"] / 2 - row["y"] - row["height"] / 2) < 2


def test_a_trace_names_the_end_of_its_replay(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.REPLAYED)
    for trace, said, why in (
        ("t1", "✓ reproduced on Apache Kafka 4.0.2, 2026-11-27, with java 4.0.2, 14 s", samples.REPRODUCED.evidence[0]),
        ("t2", "✗ diverged at step 3 on Apache Kafka 4.0.2, 2026-11-27", f"observed: {samples.DIVERGED.observed}"),
        ("t4", "? not steerable at step 2 on Apache Kafka 4.0, 2026-11-28", f"reason: {samples.NOT_STEERABLE.reason}"),
    ):
        told = opened.page.locator(f"#{trace} .replay").inner_text()
        assert said in told
        assert why in told
    assert "broker replica.lag.time.max.ms=120000 instead of 30000" in opened.page.locator("#t1 .replay").inner_text()


def test_paper_has_the_evidence_and_every_outcome(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.REPLAYED)
    text = " ".join(printed(opened))
    for said in (
        "✓ reproduced on Apache Kafka 4.0.2, 2026-11-27",
        samples.REPRODUCED.evidence[0],
        "delivery report: record 1: stored at offset 0",
        "broker replica.lag.time.max.ms=120000 instead of 30000",
        "✗ diverged at step 3 on Apache Kafka 4.0.2, 2026-11-27",
        "? not steerable at step 2 on Apache Kafka 4.0, 2026-11-28",
    ):
        assert said in text


def test_a_telephone_shows_all_without_scrolling_sideways(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.REPLAYED)
    opened.page.set_viewport_size({"width": 390, "height": 844})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.page.locator("#t1-s2 + .facts").is_visible()
