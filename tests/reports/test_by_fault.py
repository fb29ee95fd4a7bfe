"""The answer by fault, and its screen."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.text import Text

from proofka.model.deployment.known_properties import known_properties
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.faults import FAULT_ROWS, Fault
from proofka.properties.verdict import CutSet, Prevention, Result, Status, Trace, Verdict
from proofka.reports.brief import Answer, most_telling
from proofka.reports.by_fault import Behind, Happening, by_fault, faults_in_words, grouped, lies_behind
from proofka.reports.guide.entry import rows_of
from proofka.reports.lines import cut, first_of, wrapped
from proofka.reports.story import tellings
from proofka.reports.terminal import console, print_brief_trace, print_brief_verdicts, print_what_else
from proofka.reports.wording import brief_answer
from tests.reports import samples

CRASH: CutSet = (("producer-crash", 1),)


def violated(name: str, *sets: CutSet, required: bool = False, steps: int = 3) -> Verdict:
    traces = tuple(Trace(one, (samples.SEND,) * steps, "it failed") for one in sets)
    made = samples.verdict(name, Status.VIOLATED, cut_sets=sets, traces=traces)
    return replace(made, required=required)


def found(*verdicts: Verdict) -> tuple[Happening, ...]:
    return by_fault(samples.DEPLOYMENT, replace(samples.RESULT, verdicts=verdicts))


def test_every_kind_and_property_has_words_a_rank_and_a_reason() -> None:
    assert FAULT_ROWS.keys() == set(Fault)
    for row in FAULT_ROWS.values():
        assert row["likely_because"] and 1 <= int(row["likelihood"]) <= 5
        assert row["one"].startswith(("a ", "an "))
    for row in rows_of("proofka.model.deployment", "tables/properties.csv"):
        one = known_properties()[row["property"]]
        assert row["severe_because"] and one.consequence and 1 <= one.severity <= 9
        assert one.says_also <= set(known_properties()) - {row["property"]}


@pytest.mark.parametrize(
    ("cut_set", "words"),
    [
        ((), "No fault at all"),
        ((("power-loss", 1),), "One power loss of a broker"),
        ((("kill", 2), ("slow-follower", 1)), "Two broker crashes and one slow follower"),
        ((("eviction", 1),), "One eviction of the consumer"),
    ],
)
def test_faults_are_told_in_words(cut_set: CutSet, words: str) -> None:
    assert faults_in_words(cut_set) == words


def test_properties_that_one_fault_breaks_are_one_sentence() -> None:
    """A consequence that a worse one implies is left out."""
    kill = (("kill", 1),)
    (one,) = found(
        violated("no-loss", kill), violated("no-acked-loss", kill, steps=11), violated("no-silent-loss", kill)
    )
    assert one.sentence == "One broker crash: acknowledged records can be lost (11 steps)"
    assert [broken.property for broken in one.broken] == ["no-acked-loss", "no-silent-loss", "no-loss"]


def test_consequence_of_a_required_property_is_not_repeated_below_it() -> None:
    kill = (("kill", 1),)
    first, second = found(violated("no-loss", kill), violated("no-acked-loss", kill, required=True))
    assert (first.required, second.consequences) == (True, ())


def test_required_properties_come_first_then_the_worst_and_likeliest() -> None:
    order, disk = violated("log-order", (("kill", 1),), required=True), (("disk-loss", 1),)
    told = found(violated("no-acked-loss", disk, (("kill", 2),), (("kill", 1),)), order)
    assert [(one.faults, one.required) for one in told] == [
        ((("kill", 1),), True),
        ((("kill", 1),), False),
        (disk, False),
        ((("kill", 2),), False),
    ]


def test_failures_of_the_best_deployment_are_separate() -> None:
    assert lies_behind(samples.DEPLOYMENT, "no-silent-loss", CRASH) is Behind.APPLICATION
    assert lies_behind(samples.DEPLOYMENT, "no-acked-loss", (("kill", 1),)) is Behind.CONFIGURATION
    assert lies_behind(samples.DEPLOYMENT, "no-silent-loss", (*CRASH, ("kill", 1))) is Behind.UNKNOWN


def screen(width: int, result: Result = samples.RESULT, *, found: Result | None = None) -> str:
    """Return the output of a check; ``found``: the result after the search that follows the answer."""
    written = io.StringIO()
    out = console(written)
    out.width = width
    repair = "proofka repair orders.yaml"
    print_brief_verdicts(out, samples.DEPLOYMENT, result, repair=repair, search_follows=found is not None)
    print_brief_trace(out, samples.DEPLOYMENT, result, trace="proofka trace orders.yaml")
    print_what_else(
        out, samples.DEPLOYMENT, found or result, command=samples.COMMAND, searched=None if found is None else repair
    )
    return written.getvalue()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("steps", [3, 60])
def test_a_check_prints_one_screen(width: int, steps: int) -> None:
    """The screen is short for many failing properties, many fault sets and long traces."""
    sets: list[CutSet] = [(), *(((fault.value, 1),) for fault in list(Fault)[:12])]
    verdicts = [violated(name, *sets, required=True, steps=steps) for name in KNOWN_PROPERTIES[:13]]
    text = screen(width, replace(samples.RESULT, verdicts=tuple(verdicts)))
    assert len(text.splitlines()) <= 60
    assert "Fails: it failed" in text
    assert ("more steps: proofka trace" in text) is (steps > 3)


def test_a_full_screen_names_the_command_for_traces_of_properties_that_are_not_required() -> None:
    names = list(KNOWN_PROPERTIES[:13])
    holds = replace(samples.RESULT.verdicts[0], status=Status.HOLDS, cut_sets=(), traces=(), required=True)
    verdicts = [replace(holds, property=names[0]), *(violated(name, (), steps=60) for name in names[1:])]
    text = screen(30, replace(samples.RESULT, verdicts=tuple(verdicts)))
    assert "traces: proofka trace orders.yaml" in text
    assert "Fails: " not in text


def test_the_trace_is_that_of_the_first_line() -> None:
    happenings = by_fault(samples.DEPLOYMENT, samples.RESULT)
    told = most_telling(tellings(samples.RESULT.verdicts, all_traces=True), happenings)
    assert told is not None
    assert told.faults == happenings[0].faults
    assert most_telling([], happenings) is None


def test_a_change_that_prevents_it_stands_beside_it() -> None:
    kill = (("kill", 1),)
    result = replace(samples.RESULT, verdicts=(violated("no-acked-loss", kill, required=True),))
    change = Prevention("no-acked-loss", kill, "producer.acks=all")
    text = screen(120, replace(result, preventions=(change,)))
    assert "prevented by producer.acks=all" in text
    assert "but not with producer.acks=all" in text
    assert "no single change is known" in screen(120, replace(result, preventions=()))
    undecided = screen(120, replace(result, preventions=(replace(change, decided=False),)))
    assert "no single change is known" not in undecided and "find changes that prevent this" in undecided
    unsearched = screen(120, replace(result, preventions=None))
    assert "find changes that prevent this: proofka repair orders.yaml" in unsearched


@pytest.mark.parametrize("fault_sets", [(("kill", 1),), (("kill", 2),)])
def test_answer_names_no_repair_before_the_search(fault_sets: CutSet) -> None:
    """Before the search the answer names no command; the end of the answer has the outcome of the search."""
    result = replace(samples.RESULT, verdicts=(violated("no-acked-loss", fault_sets, required=True),))
    change = Prevention("no-acked-loss", fault_sets, "producer.acks=all")
    for found, told in (
        (replace(result, preventions=(change,)), "but not with producer.acks=all"),
        (replace(result, preventions=()), "no single change is known to prevent this; search for several changes: "),
        (
            result,
            "before the search ended (--more SECONDS sets its time); search further: proofka repair",
        ),
    ):
        text = " ".join(screen(120, result, found=found).split())
        assert "not computed" not in text
        assert "changes that prevent this are searched for" in text
        first, last = text.split(" property verdict ", 1)
        assert "proofka repair" not in first
        assert told in last
        assert ("not known yet whether settings prevent this" in first) == (fault_sets == (("kill", 2),))
    assert "not computed" not in screen(120, result)


def test_each_announced_search_has_its_outcome_at_the_end() -> None:
    """Two headings announce a search; the end has a line for each, also after a change was found for one of them."""
    one_kill, two_kills = (("kill", 1),), (("kill", 2),)
    verdicts = (
        violated("no-acked-loss", one_kill, required=True),
        violated("no-log-duplicate", two_kills, required=True),
    )
    result = replace(samples.RESULT, verdicts=verdicts)
    change = Prevention("no-log-duplicate", two_kills, "producer.acks=all")
    for preventions, told in (
        (None, ("no change that prevents this was found", "no change that prevents this was found")),
        ((change,), ("no single change is known to prevent this", "but not with producer.acks=all")),
    ):
        text = " ".join(screen(120, result, found=replace(result, preventions=preventions)).split())
        first, last = text.split(" property verdict ", 1)
        assert first.count("see the end of this answer") == 2
        one, two = (last.index(f"{words}: ") for words in ("One broker crash", "Two broker crashes"))
        assert told[0] in last[one:two]
        assert told[1] in last[two:]


def test_a_text_that_is_cut_off_says_so() -> None:
    texts = [list(wrapped(words, 30, rest="  ")) for words in ("a short text", "a text of some more words " * 3)]
    shown = [line.plain for line in first_of(texts, 2, 30)]
    assert shown[0] == "a short text"
    assert shown[1] == "a text of some more words ..."
    assert max(map(len, shown)) <= 30
    assert cut(Text("ends with a word"), 15).plain == "ends with a ..."
    assert cut(Text("short"), 30).plain == "short ..."
    assert cut(Text("x" * 40), 30).plain == "x" * 26 + " ..."
    assert cut(Text("    " + "x" * 40), 30).plain == "    " + "x" * 22 + " ..."
    assert [line.plain for line in first_of(texts, 9, 30)][-1].endswith("words")


def test_properties_that_hold_beside_a_violation_are_listed_once() -> None:
    kill = violated("no-skip", (("kill", 1),), required=True)
    holding = [samples.verdict(name, Status.HOLDS, required=True) for name in ("no-acked-loss", "no-log-duplicate")]
    open_one = samples.verdict("log-order", Status.UNKNOWN, required=True)
    said = brief_answer([kill, *holding, open_one])
    assert said.endswith("can fail: no-skip; no-acked-loss and no-log-duplicate hold; log-order is undecided.")


def test_nothing_to_tell_prints_no_heading() -> None:
    holds = replace(samples.RESULT, verdicts=(samples.verdict("no-skip", Status.HOLDS),))
    assert "Required, and" not in screen(80, holds)


def test_facts_that_were_not_computed_are_said_to_be_unknown() -> None:
    """For several faults, and for another client, the part that could prevent the failure is unknown."""
    several = violated("no-acked-loss", (("kill", 2),), required=True)
    one = violated("no-acked-loss", (("kill", 1),), required=True)
    result = replace(samples.RESULT, verdicts=(several,))
    assert "Required properties that can fail:" in screen(120, result)
    change = Prevention("no-acked-loss", (("kill", 2),), "producer.acks=all")
    prevented = screen(120, replace(result, preventions=(change,)))
    assert "Required properties that can fail because of this configuration:" in prevented
    assert "find changes that prevent this: proofka repair" in screen(120, result)
    elsewhere = replace(samples.DEPLOYMENT, client="java 1.1")
    (told,) = grouped(by_fault(elsewhere, replace(samples.RESULT, verdicts=(one,))))
    assert told.heading == "Required properties that can fail; whether settings prevent this was not computed"


def test_no_heading_is_the_last_line_of_an_answer_that_is_cut() -> None:
    """Of two groups as many lines are printed as fit; the second heading is printed with an entry, or not at all."""
    verdicts = (
        violated("no-acked-loss", (("kill", 1),), (("power-loss", 1),), required=True),
        violated("no-reprocessing", (("consumer-crash", 1),)),
        violated("log-order", CRASH),
    )
    written = []
    for above in range(12):
        out = console(io.StringIO())
        out.width = 60
        answer = Answer(samples.DEPLOYMENT, replace(samples.RESULT, verdicts=verdicts), "proofka repair", above)
        with out.capture() as captured:
            out.print(answer)
        told = [line for line in captured.get().splitlines() if not line.startswith("  more: ")]
        written.append(len(told))
        assert told[-1].startswith(" "), told
    assert len(set(written)) > 1
