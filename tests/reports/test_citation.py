"""Citations are complete, and no text of the input breaks them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from proofka.model.deployment.setting import Origin, Setting
from proofka.properties.verdict import Status
from proofka.reports.citation import _LATEX, bibtex, configuration_hash, paragraph, to_bibtex
from proofka.reports.formats import Answer
from proofka.reports.html import to_html
from proofka.reports.markdown import to_markdown
from tests.reports import samples
from tests.reports.golden_files import matches

ANSWER = Answer(samples.DEPLOYMENT, samples.RESULT, samples.COMMAND)
SAID = paragraph(samples.DEPLOYMENT, samples.RESULT, command=samples.COMMAND)


def test_golden() -> None:
    matches("result.bib", to_bibtex([ANSWER]))
    matches("citation.txt", SAID + "\n")


def test_the_hash_is_that_of_the_effective_settings() -> None:
    expected = (
        '[["application","on_send_error","drop"],["application","processing","poll-thread"],'
        '["broker","unclean.leader.election.enable","false"],["producer","acks","1"],'
        '["producer","enable.idempotence","false"],["topic","min.insync.replicas","1"]]'
    )
    assert configuration_hash(samples.DEPLOYMENT) == hashlib.sha256(expected.encode()).hexdigest()


def test_the_hash_is_the_same_wherever_the_values_stand() -> None:
    def hash_of(*settings: Setting) -> str:
        return configuration_hash(replace(samples.DEPLOYMENT, name="other", ignored=(), settings=settings))

    same = hash_of(*(replace(one, origin=Origin("default")) for one in reversed(samples.SETTINGS)))
    assert same == configuration_hash(samples.DEPLOYMENT)
    longer = (*samples.SETTINGS, Setting("bounds", "log", "9", Origin("default")))
    assert hash_of(*longer) == same
    other = tuple(replace(one, value="0") if one.key == "acks" else one for one in samples.SETTINGS)
    assert hash_of(*other) != same


def test_the_paragraph_says_all() -> None:
    for words in (
        "Proofka 0.1.0 (model 1) checked the Kafka pipeline orders",
        f"configuration {configuration_hash(samples.DEPLOYMENT)[:12]}: Kafka 4.0, client java 4.0",
        "no-acked-loss is violated by {kill}, {leader-move} and {power-loss, 2 slow-follower} (id 0123456789abcdef).",
        "Holds: no-skip (id 0123456789abcdef).",
        "any 2 faults, more fault sets possible, 31 of 286 combinations of 3 (no-acked-loss); any 2 faults (no-skip)",
        "sizes: records 2, log 3, sends 2",
        "Assumed, because no file states it: on_send_error=drop, processing=poll-thread.",
    ):
        assert words in SAID
    assert SAID.endswith("Asked by: proofka check orders.yaml")
    assert "no-loss" not in SAID  # not required
    assert not re.search(r"\b20\d\d\b", SAID)


def test_bibtex_agrees_with_the_paragraph() -> None:
    note = to_bibtex([ANSWER]).partition("note = {{")[2]
    for sentence in SAID.partition("). ")[2].split(". "):
        assert "".join(_LATEX.get(letter, letter) for letter in sentence) in note
    assert "Assumed, because no file states it: on\\_send\\_error=drop" in note
    assert f"Configuration {configuration_hash(samples.DEPLOYMENT)[:12]}: Kafka 4.0" in note


def test_citation_omits_properties_that_do_not_hold() -> None:
    verdicts = tuple(replace(one, required=True) for one in (samples.VACUOUS, samples.UNKNOWN))
    said = paragraph(samples.DEPLOYMENT, replace(samples.RESULT, verdicts=verdicts), command="x")
    assert "Holds" not in said
    assert "the witness was not reached: read-stability (id" in said
    assert "Undecided: recoverability (id" in said


def test_many_fault_sets_are_counted() -> None:
    said = paragraph(samples.DEPLOYMENT, replace(samples.RESULT, verdicts=(samples.MANY_SETS,)), command="x")
    assert "and {kill, 8 power-loss}, and by 1 further smallest fault set (id" in said
    assert "9 power-loss" not in said


def test_citation_without_requirements_has_all_properties() -> None:
    verdicts = (samples.verdict("no-skip", Status.HOLDS),)
    assert "Holds: no-skip" in paragraph(
        samples.DEPLOYMENT, replace(samples.RESULT, verdicts=verdicts), command="proofka"
    )


def test_input_is_no_latex() -> None:
    bad = 'a{b}}\\c"d%e_f$g&h#i~j^k\nl@m'
    entry = bibtex(replace(samples.DEPLOYMENT, name=bad), samples.RESULT, command=bad)
    depth = 0
    for letter in entry.rstrip("\n")[:-1]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth > 0 or letter in "@misc"
    assert depth == 1
    assert entry.startswith("@misc{proofka-a-b-c-d-e-f-g-h-i-j-k-l-m-")
    assert not re.search(r"(?<!\\)[%&#$_]", entry)
    assert entry.count("\n") == 5


def test_pages_have_the_citation() -> None:
    page = to_html(samples.DEPLOYMENT, samples.RESULT, command=samples.COMMAND)
    cite = page[page.index('<section id="cite"') :]
    assert "Proofka 0.1.0 (model 1) checked the Kafka pipeline orders" in cite
    assert "@misc{proofka-orders-" in cite
    text = to_markdown(samples.DEPLOYMENT, samples.RESULT, command=samples.COMMAND)
    assert "\n    @misc{proofka-orders-" in text.partition("## Cite")[2]
