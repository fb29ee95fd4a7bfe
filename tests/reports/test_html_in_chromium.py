"""The HTML page in a browser: it opens, steps, shows the state at each step, and is accessible."""

from __future__ import annotations

import io
import re
import shutil
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.properties.verdict import Change, Prevention, Result, Status, Trace, states_of
from proofka.reports.html import to_html
from tests.reports import samples

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (Debian: apt install chromium)")
api = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install 'proofka[dev]')")

LONG = 300


@pytest.fixture(scope="module")
def browser() -> Iterator[api.Browser]:
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


class Opened:
    """The page of a result in a tab, and the messages of the console."""

    def __init__(
        self, browser: api.Browser, folder: Path, result: Result, anchor: str = "", scheme: str = "light"
    ) -> None:
        file = folder / "report.html"
        file.write_text(to_html(samples.DEPLOYMENT, result, command=samples.COMMAND), encoding="utf-8")
        self.page = browser.new_page(color_scheme=scheme, viewport={"width": 1400, "height": 900})
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri() + anchor)

    def chosen(self, trace: str = "t1") -> int:
        return int(self.page.locator(f"#{trace} .steps a[aria-current=step] .at").inner_text())

    def addressed(self, anchor: str) -> bool:
        """Wait until the address of the page names this step."""
        self.page.wait_for_function("anchor => location.hash === anchor", arg=f"#{anchor}")
        return True

    def state(self, trace: str = "t1") -> str:
        return str(self.page.locator(f"#{trace} .state").inner_text())


def test_page_opens_without_messages_and_loads_no_other_file(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT)
    assert opened.said == []
    assert opened.asked == [(tmp_path / "report.html").as_uri()]
    assert opened.page.locator("h1").inner_text() == "orders"
    assert opened.page.locator("article.trace").count() == 4


def test_arrow_keys_step_and_the_address_follows(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT)
    assert opened.chosen() == 4  # a reader wants to see the end first
    opened.page.locator("#t1-s1").click()
    assert opened.chosen() == 1
    assert opened.addressed("t1-s1")
    for key, step in (
        ("ArrowDown", 2),
        ("ArrowRight", 3),
        ("ArrowUp", 2),
        ("End", 4),
        ("ArrowDown", 4),
        ("Home", 1),
        ("ArrowLeft", 1),
    ):
        opened.page.keyboard.press(key)
        assert opened.chosen() == step
        assert opened.addressed(f"t1-s{step}")
    assert opened.page.locator("#t1 .mark.chosen").get_attribute("data-step") == "1"
    assert opened.chosen("t2") == 3  # another trace keeps its chosen step
    opened.page.locator("#t1-s3").click()
    colours = [
        opened.page.evaluate(f"getComputedStyle(document.querySelector('{which}')).stroke")
        for which in ("#t1 .mark.fault.chosen", "#t3 .mark.fault")
    ]
    assert colours[0] == colours[1] == "rgb(179, 38, 30)", "a fault that is chosen stays one"
    assert opened.said == []


def test_arrow_keys_work_after_a_link_to_a_trace(browser: api.Browser, tmp_path: Path) -> None:
    """A second click on the same link, which does not change the address, works as well."""
    opened = Opened(browser, tmp_path, samples.RESULT)
    link = opened.page.locator("a[href='#t2']").first
    for step in (2, 1):
        link.click()
        opened.page.keyboard.press("ArrowUp")
        assert opened.chosen("t2") == step
        assert opened.addressed(f"t2-s{step}")
    assert opened.chosen("t1") == 4
    assert opened.said == []


def test_tab_stops_once_in_each_trace(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT)
    opened.page.locator("#t1 .wide").focus()
    opened.page.keyboard.press("ArrowUp")
    assert opened.chosen() == 3
    assert opened.page.evaluate("document.activeElement.id") == "t1-s3"
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.closest('article').id") == "t2"
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.id") == "t2-s3", "the step that is chosen there"
    opened.page.keyboard.press("Shift+Tab")
    opened.page.keyboard.press("Shift+Tab")
    assert opened.page.evaluate("document.activeElement.id") == "t1-s3"


def test_a_permalink_opens_at_its_step(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT, anchor="#t2-s2")
    assert opened.chosen("t2") == 2
    assert opened.page.evaluate("document.activeElement.id") == "t2-s2"
    title, step = (opened.page.locator(name).bounding_box() for name in ("#t2-title", "#t2-s2"))
    assert title is not None
    assert step is not None
    assert -1 < title["y"] < step["y"] < 900, "with what it is a step of"


def test_each_step_shows_the_state_after_it(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT)
    for number, state in enumerate(states_of(samples.KILL_TRACE)):
        if number == 0:
            continue
        opened.page.locator(f"#t1-s{number}").click()
        panel = opened.page.locator("#t1 .state")
        assert panel.locator("h4").inner_text() == f"After step {number}"
        shown = dict(zip(panel.locator("dt").all_inner_texts(), panel.locator("dd").all_inner_texts(), strict=True))
        headings = panel.locator("h5").all_inner_texts()
        values = {one.what: one for one in state}
        assert shown["record 1"] == values["record 1"].value
        assert shown["leader"] == values["leader"].value
        assert any(text.split() == ["broker", "1", values["broker 1"].value] for text in headings)
        entries = values["broker 1's log"].entries
        assert panel.locator(".log li").all_inner_texts() == [f"{at}{entry}" for at, entry in enumerate(entries or ())]
        changed = panel.locator(".changed").all_inner_texts()
        assert len(changed) == len(samples.KILL_TRACE.steps[number - 1].changes)


def test_replicated_records_are_marked(browser: api.Browser, tmp_path: Path) -> None:
    appended = samples.APPEND
    learned = replace(appended, changes=(Change("broker 1's high watermark", "0", "1"),))
    trace = Trace((("kill", 1),), (appended, learned, samples.KILL), "fails", samples.START)
    opened = Opened(
        browser,
        tmp_path,
        Result((replace(samples.VIOLATED, cut_sets=((("kill", 1),),), traces=(trace,)),), samples.ENGINE, (), {}),
    )
    opened.page.locator("#t1-s1").click()
    assert opened.page.locator("#t1 .log li.replicated").count() == 0
    opened.page.keyboard.press("ArrowDown")
    assert opened.page.locator("#t1 .log li.replicated").count() == 1


@pytest.mark.slow
def test_a_long_trace_steps_to_its_end(browser: api.Browser, tmp_path: Path) -> None:
    steps = tuple(
        replace(
            samples.SEND, text=f"step {number}", changes=(Change("record 1", str(number), str(number + 1)),), at=number
        )
        for number in range(LONG)
    )
    verdict = replace(samples.VIOLATED, cut_sets=((),), traces=(Trace((), steps, "fails", samples.START),))
    opened = Opened(browser, tmp_path, Result((verdict,), samples.ENGINE, (), {}))
    opened.page.locator("#t1-s1").click()
    for number in range(2, LONG + 1):
        opened.page.keyboard.press("ArrowDown")
        assert opened.chosen() == number
    assert f"record 1\n{LONG}" in opened.state()
    assert opened.page.locator(f"#t1-s{LONG}").is_visible()
    assert opened.addressed(f"t1-s{LONG}")
    assert opened.said == []


STEPPING = """async () => {
  const times = [];
  for (let step = 0; step < 100; step++) {
    const begun = performance.now();
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    await new Promise((drawn) => requestAnimationFrame(drawn));
    times.push(performance.now() - begun);
  }
  return times.sort((one, other) => one - other)[50];
}"""
"""Script that takes steps as a held key does, and returns the median time of a step in ms."""


def test_a_long_trace_stays_fluid(browser: api.Browser, tmp_path: Path) -> None:
    """The median step takes less than 100 ms, on a busy machine too (17 ms on an idle one)."""
    steps = tuple(replace(samples.SEND, text=f"step {number}", at=number) for number in range(LONG))
    verdict = replace(samples.VIOLATED, cut_sets=((),), traces=(Trace((), steps, "fails", samples.START),))
    opened = Opened(browser, tmp_path, Result((verdict,), samples.ENGINE, (), {}))
    opened.page.locator("#t1-s1").click()
    assert opened.page.evaluate(STEPPING) < 100
    assert opened.chosen() == 101


@pytest.mark.parametrize("result", [samples.RESULT, samples.REPLAYED], ids=["checked", "replayed"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_has_no_accessibility_violations(
    browser: api.Browser, tmp_path: Path, scheme: str, result: Result
) -> None:
    """The rules of axe-core: names, roles, contrast, structure."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    opened = Opened(browser, tmp_path, result, scheme=scheme)
    found = axe.Axe().run(opened.page).response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []


def test_printed_page_has_the_changes_of_each_step(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT)
    assert not opened.page.locator("#t1 .changes").first.is_visible()
    opened.page.emulate_media(media="print")
    assert opened.page.locator("#t1 .changes").first.is_visible()
    assert not opened.page.locator("#t1 .state").is_visible()


def printed(opened: Opened) -> list[str]:
    """Return the text of each printed page."""
    pypdf = pytest.importorskip("pypdf")
    reader = pypdf.PdfReader(io.BytesIO(opened.page.pdf(format="A4")))
    # Replace ligatures by letters.
    return [" ".join(unicodedata.normalize("NFKC", page.extract_text()).split()) for page in reader.pages]


def test_paper_has_the_parts_for_a_reader_and_no_more(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT)
    text = " ".join(printed(opened))
    for said in ("Verdicts", "Bounds", "Why not", "Configuration", "sizes: records 2, log 3, sends 2", "Cite"):
        assert said in text
    assert "broker 1 is killed" in text
    assert "leadership moves to broker 2" not in text  # the second trace of the same property
    assert "3 further traces are not printed here" in text
    for hint in ("arrow keys", "Skip to", "After step"):
        assert hint not in text
    opened.page.emulate_media(media="print")
    assert opened.page.locator("#t1 .diagram").is_visible()
    assert not opened.page.locator("#t2").is_visible()


def test_a_wide_diagram_is_made_to_fit_on_paper(browser: api.Browser, tmp_path: Path) -> None:
    coordinator = replace(samples.ELECT, actor="coordinator", changes=())
    trace = replace(samples.KILL_TRACE, steps=(*samples.KILL_TRACE.steps, samples.CRASH, coordinator))
    verdict = replace(samples.VIOLATED, cut_sets=(trace.faults,), traces=(trace,))
    opened = Opened(browser, tmp_path, replace(samples.RESULT, verdicts=(verdict,)))
    assert opened.page.locator("#t1 .lane").count() == 6
    opened.page.emulate_media(media="print")
    opened.page.set_viewport_size({"width": 703, "height": 1000})  # A4 without its margins
    right = opened.page.evaluate(
        "Math.max(...[...document.querySelectorAll('#t1 .part *')].map(one => one.getBoundingClientRect().right))"
    )
    assert right <= 703


@pytest.mark.slow
def test_many_traces_need_few_pages(browser: api.Browser, tmp_path: Path) -> None:
    """One trace is printed, and the others are listed."""
    sets = tuple((("kill", number),) for number in range(1, 41))
    traces = tuple(replace(samples.KILL_TRACE, faults=faults) for faults in sets)
    verdict = replace(samples.VIOLATED, cut_sets=sets, traces=traces)
    pages = printed(Opened(browser, tmp_path, replace(samples.RESULT, verdicts=(verdict,))))
    assert len(pages) <= 4
    assert "39 further traces are not printed here" in " ".join(pages)


def test_a_long_trace_is_printed_to_its_end(browser: api.Browser, tmp_path: Path) -> None:
    steps = tuple(replace(samples.SEND, text=f"step number {number}.") for number in range(1, 101))
    verdict = replace(samples.VIOLATED, cut_sets=((),), traces=(Trace((), steps, "fails", samples.START),))
    pages = printed(Opened(browser, tmp_path, replace(samples.RESULT, verdicts=(verdict,))))
    text = " ".join(pages)
    assert [number for number in range(1, 101) if text.count(f"step number {number}.") != 1] == []
    with_steps = [page for page in pages if "step number" in page]
    firsts = [re.findall(r"step number (\d+)", page)[0] for page in with_steps]
    assert firsts == ["1", "27", "53", "79"], "steps stay beside their part of the diagram"
    assert [page for page in with_steps if "producer broker 1 broker 2" not in page] == [], "lanes are named on each"


def test_a_narrow_window_shows_the_state_below(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT)
    opened.page.set_viewport_size({"width": 420, "height": 800})
    steps, state = (opened.page.locator(f"#t1 {name}").bounding_box() for name in (".steps", ".state"))
    assert steps is not None
    assert state is not None
    assert state["y"] > steps["y"]
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_steps_are_whole_beside_the_state(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT)
    beyond = "[...document.querySelectorAll('.steps-and-state .wide')].map(one => one.scrollWidth - one.clientWidth)"
    cut_off: dict[int, int] = {}
    for width in (1000, 1130, 1220, 1280, 1366, 1440, 1600):
        opened.page.set_viewport_size({"width": width, "height": 900})
        cut_off[width] = max(opened.page.evaluate(beyond))
    assert max(cut_off.values()) <= 1, cut_off


def many_traces(browser: api.Browser, folder: Path) -> Opened:
    """Build a page with more traces than the page shows unfolded."""
    told = [
        replace(verdict, traces=tuple(_longer(trace, by) for trace in verdict.traces))
        for by in range(3)
        for verdict in samples.RESULT.verdicts
    ]
    named = [replace(verdict, property=f"{verdict.property}-{number}") for number, verdict in enumerate(told)]
    return Opened(browser, folder, replace(samples.RESULT, verdicts=tuple(named)))


def _longer(trace: Trace, by: int) -> Trace:
    return replace(trace, steps=(*trace.steps, *trace.steps[-1:] * by))


def test_the_first_screen_is_the_answer_by_fault(browser: api.Browser, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path, samples.RESULT)
    answers = opened.page.locator("#by-fault li")
    assert answers.count() >= 1
    place = answers.first.bounding_box()
    assert place is not None
    assert place["y"] + place["height"] < 900
    answers.first.locator("a").click()
    assert re.fullmatch(r"t\d+-s\d+", opened.page.evaluate("document.activeElement.id"))


def test_of_many_traces_only_the_worst_is_unfolded(browser: api.Browser, tmp_path: Path) -> None:
    """A link, the heading and paper show a folded trace; without folds the page would be at least twice as high."""
    page = many_traces(browser, tmp_path).page
    height = page.evaluate("document.body.scrollHeight")
    worst = str(page.locator("#by-fault a").first.get_attribute("href")).removeprefix("#")
    every = [str(article.get_attribute("id")) for article in page.locator("article.trace").all()]

    def shown() -> list[str]:
        return [name for name in every if page.locator(f"#{name} .steps").first.is_visible()]

    assert shown() == [worst]
    one, other = [name for name in every if name != worst][:2]
    page.locator(f"a[href='#{one}']").first.click()
    page.locator(f"#{other} .fold").click()
    assert set(shown()) == {worst, one, other}
    page.locator(f"#{other} .fold").click()
    assert set(shown()) == {worst, one}
    page.evaluate("document.querySelectorAll('.fold[aria-expanded=false]').forEach(button => button.click())")
    assert page.evaluate("document.body.scrollHeight") > 2 * height
    page.reload()
    page.emulate_media(media="print")
    assert page.locator("#configuration table").is_visible()


def test_on_a_telephone_steps_are_whole_and_nothing_scrolls_sideways(browser: api.Browser, tmp_path: Path) -> None:
    long = "producer.transactional.id.authorization.refresh.interval.beyond.any.screen.of.a.telephone.ms=1"
    violated = [verdict for verdict in samples.RESULT.verdicts if verdict.status is Status.VIOLATED]
    preventions = tuple(Prevention(one.property, cuts, long) for one in violated for cuts in one.cut_sets)
    result = replace(samples.RESULT, preventions=preventions)
    page = Opened(browser, tmp_path, result).page
    page.set_viewport_size({"width": 390, "height": 844})
    assert long in str(page.locator(".trace p").all_inner_texts())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".steps li")].filter(step => {
            const box = step.getBoundingClientRect();
            const text = step.querySelector("a > span:last-child").getBoundingClientRect();
            return text.right > 390 || text.bottom > box.bottom + 1 || step.scrollWidth > step.clientWidth + 1;
        }).map(step => step.textContent)"""
    )
    assert cut == []
