"""The PDF: the content of its pages, a long trace on several pages, and equal files for equal results."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest

from proofka.properties.verdict import Result, Trace
from proofka.reports.formats import Answer
from tests.reports import samples
from tests.reports.golden_files import matches

pypdf = pytest.importorskip("pypdf")
pytest.importorskip("reportlab")
pytest.importorskip("matplotlib")

from proofka.reports.pdf import to_pdf  # noqa: E402
from proofka.reports.pdf.diagram import SIZE, TraceOnPaper, _broken  # noqa: E402
from proofka.reports.pdf.fonts import MISSING, TEXT, drawable, register  # noqa: E402

ANSWER = Answer(samples.DEPLOYMENT, samples.RESULT, samples.COMMAND)


def pages_of(*answers: Answer) -> list[str]:
    """Return the text of each page, as a viewer extracts it."""
    return [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(to_pdf(answers))).pages]


def words(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def long_answer(steps: int) -> Answer:
    trace = Trace(
        (("kill", 1),),
        tuple(replace(samples.SEND, text=f"step number {one}") for one in range(1, steps + 1)),
        "it ends",
    )
    verdict = replace(samples.VIOLATED, traces=(trace,), cut_sets=((("kill", 1),),))
    return replace(ANSWER, result=replace(samples.RESULT, verdicts=(verdict,)))


def test_the_first_page_stands_alone() -> None:
    text = words(pages_of(ANSWER)[0])
    for said in (
        "orders Kafka 4.0, client java 4.0, 3 replicas",
        "No: no-acked-loss can fail with 1 kill.",
        "✗ violated {kill}, {leader-move}, {power-loss, 2 slow-follower}",
        "✓ holds",
        "0123456789abcdef",
        "sizes: records 2, log 3, sends 2",
        "with processing=handed-off, no-skip is violated by {consumer-crash}",
        "no-acked-loss violated by {kill}",
        "kill: broker 1 is killed",
        "no-acked-loss fails: record 1 was acknowledged, but is not in the log of broker 2, which leads",
        "model 1, proofka 0.1.0, z3 4.13.0",
        "A record whose send was acknowledged is in the log of every leader elected later.",
        "on_send_error=drop, processing=poll-thread",
        "Again proofka check orders.yaml",
    ):
        assert said in text
    assert "exactly-once-effect violated by" not in text  # not required


def test_settings_have_their_origins() -> None:
    text = words(" ".join(pages_of(ANSWER)))
    for said in (
        "topic min.insync.replicas = 1, default of Kafka 4.0",
        "producer acks = 1, orders.yaml:12",
        "producer enable.idempotence = false, rule: acks=1 turns idempotence off",
        "producer linger.ms = 5, orders.yaml:14 (batching delays records but loses none)",
        "Cite Proofka 0.1.0 (model 1) checked the Kafka pipeline orders",
    ):
        assert said in text


@pytest.mark.parametrize("required", [8, 15])
def test_the_first_trace_is_on_the_first_page_and_others_follow(required: int) -> None:
    """A long first page is scaled down a little."""
    traces = [replace(samples.KILL_TRACE, faults=(("kill", number),)) for number in range(1, required + 1)]
    verdicts = tuple(
        replace(samples.VIOLATED, property=f"property-{number}", cut_sets=(trace.faults,), traces=(trace,))
        for number, trace in enumerate(traces, 1)
    )
    first, *others = pages_of(replace(ANSWER, result=replace(samples.RESULT, verdicts=verdicts)))
    assert "property-1 violated by {kill}" in first
    assert words(first).count("the controller elects broker 2 from the ISR, epoch 2") >= 1
    assert f"property-{required} violated by" in " ".join(others)
    assert "Configuration" in " ".join(others)


def test_golden() -> None:
    """The texts on the pages, in the order of the file."""
    pages = pages_of(ANSWER)
    matches("result-pdf.txt", "".join(f"-- page {number}\n{text}\n" for number, text in enumerate(pages, 1)))


def test_the_same_result_is_the_same_file() -> None:
    assert to_pdf([ANSWER]) == to_pdf([ANSWER])
    assert to_pdf([ANSWER]) != to_pdf([replace(ANSWER, command="proofka check other.yaml")])


def test_each_deployment_begins_on_a_page_of_its_own() -> None:
    other = replace(ANSWER, deployment=replace(samples.DEPLOYMENT, name="payments"))
    pages = pages_of(ANSWER, other)
    (begins,) = [number for number, page in enumerate(pages) if re.search(r"^payments$", page, re.MULTILINE)]
    assert begins > 0
    assert "checked the Kafka pipeline orders" in words(pages[begins - 1])
    assert pypdf.PdfReader(io.BytesIO(to_pdf([ANSWER, other]))).metadata.title == "orders, payments: Proofka"


def test_a_long_trace_takes_several_pages_and_loses_no_step() -> None:
    pages = pages_of(long_answer(300))
    assert len(pages) > 4
    text = " ".join(pages)
    for number in range(1, 301):
        assert len(re.findall(rf"step number {number}\b", text)) == 1


def test_a_trace_that_does_not_fit_is_split_between_steps() -> None:
    register()
    trace = long_answer(10).result.verdicts[0].traces[0]
    drawn = TraceOnPaper(trace, 400)
    first, second = drawn.split(400, drawn.height / 2)
    assert (first.first, first.last, second.first, second.last) == (1, first.last, first.last + 1, 10)
    assert first.height <= drawn.height / 2
    assert drawn.split(400, drawn.height) == []
    assert drawn.split(400, 5) == []


def test_input_is_no_markup_and_no_letter_is_lost_unseen() -> None:
    answer = Answer(samples.HOSTILE_DEPLOYMENT, samples.HOSTILE_RESULT, samples.HOSTILE)
    text = words(" ".join(pages_of(answer)))
    assert "[bold red]a|b[/] `x` <i>\\x1b[31m\\nsecond" in text
    assert drawable("✗ ✓ → ○ \u6f22") == f"✗ ✓ → ○ {MISSING}"
    named = replace(ANSWER, deployment=replace(samples.DEPLOYMENT, name="<b>x</b> & \u6f22"))
    assert f"<b>x</b> & {MISSING}" in pages_of(named)[0]


def test_words_that_are_too_long_are_broken() -> None:
    from reportlab.pdfbase.pdfmetrics import stringWidth

    register()
    lines = _broken("short " + "x" * 300 + " end", 120, TEXT)
    assert all(stringWidth(line, TEXT, SIZE) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == "short" + "x" * 300 + "end"
    assert pages_of(replace(ANSWER, deployment=replace(samples.DEPLOYMENT, name="y" * 500)))


def test_a_sentence_longer_than_a_page_is_cut() -> None:
    answer = long_answer(2)
    trace = answer.result.verdicts[0].traces[0]
    steps = (replace(samples.SEND, text="z" * 100_000), trace.steps[1])
    verdict = replace(answer.result.verdicts[0], traces=(replace(trace, steps=steps),))
    text = " ".join(pages_of(replace(answer, result=replace(answer.result, verdicts=(verdict,)))))
    assert "step number 2" in text
    assert "\u2026" in text


def test_a_result_of_nothing() -> None:
    assert pages_of(replace(ANSWER, result=Result((), samples.ENGINE, (), {})))
