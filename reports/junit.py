"""Results as JUnit XML, which Jenkins, GitLab and most other servers show as tests.

A suite is a deployment, a case is a property.

The outcome of a case agrees with the exit status of ``proofka check``: a report has failures or errors if and only if
the command fails. A violated required property is a failure. A required property that is undecided or vacuous is an
error, because a pass would claim that the property holds. A property that is not required and does not hold is
skipped, with its verdict: a failure would mark a build whose command succeeded, and a pass would hide the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as xml

from proofka.properties.accepted import accepted_notes, note_about
from proofka.properties.reproduced import Outcome
from proofka.properties.reproductions import outcomes_of
from proofka.properties.verdict import Status, Trace, Verdict
from proofka.reports import known_defects, reproduced, wording
from proofka.reports.assumptions import own_notes
from proofka.reports.blame import blame
from proofka.reports.formats import Answer

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may contain, not even escaped (XML 1.0, production 2)."""

OUTCOME = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""The element in a case that does not pass, and the attribute that counts such cases."""


def to_junit(answers: Sequence[Answer]) -> bytes:
    """Return the document, in UTF-8."""
    suites = [_suite(answer) for answer in answers]
    counts = {name: str(sum(int(suite.attrib[name]) for suite in suites)) for name in ("tests", *OUTCOME.values())}
    root = xml.Element("testsuites", {"name": "proofka", **counts})
    root.extend(suites)
    xml.indent(root)
    text: bytes = xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def outcome(verdict: Verdict) -> str | None:
    """Return ``failure``, ``error`` or ``skipped``, or None for a case that passes."""
    if verdict.status is Status.HOLDS:
        return None
    if not verdict.required:
        return "skipped"
    return "failure" if verdict.status is Status.VIOLATED else "error"


def _suite(answer: Answer) -> xml.Element:
    deployment, result = answer.deployment, answer.result
    came_to = [outcome(verdict) for verdict in result.verdicts]
    counts = {counted: str(came_to.count(name)) for name, counted in OUTCOME.items()}
    versions = dict(sorted(result.versions.items()))
    seconds = f"{result.engine.seconds:.3f}"
    suite = xml.Element(
        "testsuite", {"name": _legal(deployment.name), "tests": str(len(came_to)), **counts, "time": seconds}
    )
    said = {"answer": wording.answer(result.verdicts, bounds_below=False), "command": answer.command, **versions}
    accepted = {f"accepted {number}": note for number, note in enumerate(accepted_notes(deployment), 1)}
    _properties(suite, said | accepted)
    suite.extend(_case(answer, verdict) for verdict in result.verdicts)
    return suite


def _case(answer: Answer, verdict: Verdict) -> xml.Element:
    case = xml.Element(
        "testcase", {"classname": _legal(answer.deployment.name), "name": _legal(verdict.property), "time": "0"}
    )
    found = blame(answer.deployment, answer.result, verdict)
    if found.place is not None:
        line = {} if found.place.line is None else {"line": str(found.place.line)}
        case.attrib |= {"file": _legal(str(found.place.file)), **line}
    bounds = wording.bounds(verdict)
    required = "yes" if verdict.required else "no"
    _properties(case, {"id": verdict.id, "required": required, "bounds": bounds, "statement": verdict.statement})
    kind = outcome(verdict)
    text = "\n".join(
        _legal(line) for line in _lines(verdict, found.sentence, answer.result.reproductions)
    )  # every line is escaped separately: no input can start a line
    if kind is None:
        xml.SubElement(case, "system-out").text = text
        return case
    note = note_about(answer.deployment, verdict.property)
    message = _message(verdict) if note is None else f"{_message(verdict)}; {note}"
    told = xml.SubElement(case, kind, {"message": _legal(message)})
    if kind == "skipped":  # readers show only the message of a skipped case
        xml.SubElement(case, "system-out").text = text
    else:
        told.attrib["type"] = verdict.status.value
        told.text = text
    return case


def _message(verdict: Verdict) -> str:
    """Return the verdict as a sentence."""
    match verdict.status:
        case Status.VIOLATED:
            said = wording.outcome(verdict.status, verdict.cut_sets[:1])
            more = len(verdict.cut_sets) - 1
            also = f" and {wording.counted(more, 'other smallest fault set')}" if more > 0 else ""
            failed = f": {verdict.traces[0].failure}" if verdict.traces else ""
            return f"{verdict.property} {said}{also}{failed}{_not_required(verdict)}"
        case Status.VACUOUS:
            return f"{verdict.property} is vacuous: never reached: {verdict.witness}{_not_required(verdict)}"
        case _:
            why = wording.stopped_at(verdict)
            because = f": {why}" if why else ""
            return f"{verdict.property} {wording.outcome(verdict.status, ())}{because}{_not_required(verdict)}"


def _not_required(verdict: Verdict) -> str:
    return "" if verdict.required else " (not required)"


def _lines(verdict: Verdict, blamed: str, reproductions: Sequence[Outcome]) -> Iterator[str]:
    """Yield the statement, the bounds, the blamed setting, and the shortest trace with the outcomes of its replays."""
    yield verdict.statement
    yield f"{wording.status(verdict)}, {wording.bounds(verdict)}, {wording.number(verdict.states)} states"
    for number, faults in enumerate(verdict.cut_sets, 1):
        yield f"smallest fault set {number}: {wording.fault_set(faults)}"
    if blamed and verdict.status is Status.VIOLATED:
        yield blamed
    if verdict.traces:
        yield ""
        yield from _story(verdict.traces[0])
        yield from map(reproduced.with_reasons, outcomes_of(verdict.traces[0].steps, [verdict.property], reproductions))
    yield from map(known_defects.line, verdict.known_defects)
    yield from own_notes(verdict)
    yield from (f"assumption {one.kind}: {one.text}" for one in verdict.assumptions)


def _story(trace: Trace) -> Iterator[str]:
    for number, step in enumerate(trace.steps, 1):
        time = "" if step.at is None else f" {wording.number(step.at)} ms"
        yield f"{number:>3}{time} {step.lane}: {wording.announced(step)}"
    yield f"Fails: {trace.failure}"


def _properties(parent: xml.Element, values: dict[str, str]) -> None:
    element = xml.SubElement(parent, "properties")
    for name, value in values.items():
        xml.SubElement(element, "property", {"name": _legal(name), "value": _legal(value)})


def _legal(text: str) -> str:
    """Return ``text`` on one line, with control characters escaped."""
    return _ILLEGAL.sub("\ufffd", wording.plain(text))
