"""Lines beside the verdicts: assumptions and their effect, notes, timing lemmas, thresholds, ignored settings.

Assumptions are listed by kind: first what can be false in this deployment, then what the model leaves out in general.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.setting import Setting
from proofka.properties.modelling_assumption import AssumptionKind
from proofka.properties.verdict import Result, Sensitivity, Status, TimingLemma, Verdict
from proofka.reports import wording
from proofka.reports.known_defects import defect_lines


def assumption_summary(deployment: Deployment, result: Result) -> Iterator[str]:
    """Yield all assumptions in one line, then the other values of assumptions that would change a verdict."""
    if deployment.assumptions:
        yield ", ".join(dict.fromkeys(f"{setting.key}={setting.value}" for setting in deployment.assumptions))
    yield from _differences(result.sensitivities)


def assumption_lines(deployment: Deployment, result: Result) -> Iterator[str]:
    """Yield each assumption, and indented below the other values that would change a verdict."""
    left = list(result.sensitivities)
    for setting in deployment.assumptions:
        yield f"{setting.key}={setting.value}" + (f" ({setting.origin.detail})" if setting.origin.detail else "")
        mine = [item for item in left if is_about(item, setting)]
        left = [item for item in left if item not in mine]
        yield from (f"    {line}" for line in _differences(mine))
    yield from _differences(left)


def modelling_lines(result: Result, kind: AssumptionKind) -> Iterator[str]:
    """Yield the modelling assumptions of a kind, each behind the properties whose passes rest on it."""
    texts = ((verdict, one.text) for verdict in result.verdicts for one in verdict.assumptions if one.kind is kind)
    yield from _with_properties(texts)


def _differences(items: Sequence[Sensitivity]) -> Iterator[str]:
    """Yield a line for each changed verdict, and one line for each value with undecided properties."""
    undecided: dict[tuple[str, str], list[str]] = {}
    for item in items:
        if item.status is Status.UNKNOWN:
            undecided.setdefault((item.assumption, item.value), []).append(item.property)
        else:
            yield wording.sensitivity(item)
    for (assumption, value), properties in undecided.items():
        yield f"with {assumption}={value}, no time was left to decide {wording.listed(properties)}"


def is_about(item: Sensitivity, setting: Setting) -> bool:
    """Tell whether a sensitivity is about this assumption."""
    return item.assumption in (setting.key, f"{setting.scope}.{setting.key}")


def note_lines(deployment: Deployment, result: Result) -> Iterator[str]:
    """Yield silent changes by client or broker, notes of verdicts, and the number of ignored settings."""
    yield from deployment.notes
    yield from _with_properties((verdict, note) for verdict in result.verdicts for note in own_notes(verdict))
    yield from defect_lines(result)
    yield from timing_lines(result)
    yield from (wording.threshold(item) for item in result.thresholds)
    if count := len(deployment.ignored):
        yield f"{wording.counted(count, 'setting')} ignored: no influence on any property here (see proofka show)"


def timing_lines(result: Result) -> Iterator[str]:
    """Yield the properties that hold only because of durations, with the inequalities."""
    resting: dict[tuple[TimingLemma, ...], list[str]] = {}
    for verdict in result.verdicts:
        if verdict.lemmas:
            resting.setdefault(verdict.lemmas, []).append(verdict.property)
    for lemmas, properties in resting.items():
        holds = "holds" if len(properties) == 1 else "hold"
        more = len(lemmas) - 1
        others = f" (the tightest of {len(lemmas)} inequalities; --json has all of them)" if more else ""
        yield (
            f"{wording.listed(properties)}: {holds} because these durations (in ms) leave no time for a violation: "
            f"{lemmas[0].inequality}{others}"
        )


def own_notes(verdict: Verdict) -> tuple[str, ...]:
    """Return the notes of a verdict without its modelling assumptions, which reports list by kind."""
    assumed = {one.text for one in verdict.assumptions}
    return tuple(note for note in verdict.notes if note not in assumed)


def _with_properties(texts: Iterable[tuple[Verdict, str]]) -> Iterator[str]:
    """Yield each text once, behind the properties of its verdicts."""
    properties: dict[str, list[str]] = {}
    for verdict, text in texts:
        properties.setdefault(text, []).append(verdict.property)
    yield from (f"{wording.listed(names)}: {text}" for text, names in properties.items())
