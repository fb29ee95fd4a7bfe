"""What stands beside the verdicts: assumptions and what they decide, silent changes, ignored settings, the command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.deployment.deployment import Deployment
from model.deployment.setting import Setting
from properties.known_defects.beside import beyond_the_register
from properties.verdict import Result, Sensitivity, Status, TimingLemma
from reports import wording
from reports.known_defects import defect_lines


def assumption_summary(deployment: Deployment, result: Result) -> Iterator[str]:
    """All assumptions in one line, then where another value of one would change a verdict."""
    if deployment.assumptions:
        yield ", ".join(dict.fromkeys(f"{setting.key}={setting.value}" for setting in deployment.assumptions))
    yield from _differences(result.sensitivities)


def assumption_lines(deployment: Deployment, result: Result) -> Iterator[str]:
    """Each assumption, and indented under it where another value of it would change a verdict."""
    left = list(result.sensitivities)
    for setting in deployment.assumptions:
        yield f"{setting.key}={setting.value}" + (f" ({setting.origin.detail})" if setting.origin.detail else "")
        mine = [item for item in left if is_about(item, setting)]
        left = [item for item in left if item not in mine]
        yield from (f"    {line}" for line in _differences(mine))
    yield from _differences(left)


def _differences(items: Sequence[Sensitivity]) -> Iterator[str]:
    """A line for each difference; what was not decided stands in one line for each other value."""
    undecided: dict[tuple[str, str], list[str]] = {}
    for item in items:
        if item.status is Status.UNKNOWN:
            undecided.setdefault((item.assumption, item.value), []).append(item.property)
        else:
            yield wording.sensitivity(item)
    for (assumption, value), properties in undecided.items():
        yield f"with {assumption}={value}, there was no time to decide {wording.listed(properties)}"


def is_about(item: Sensitivity, setting: Setting) -> bool:
    """Whether a sensitivity speaks of this assumption."""
    return item.assumption in (setting.key, f"{setting.scope}.{setting.key}")


def note_lines(deployment: Deployment, result: Result) -> Iterator[str]:
    """What client or broker changed without being asked, what verdicts add, and how much was ignored."""
    yield from deployment.notes
    for properties, note in _verdict_notes(result):
        yield f"{wording.listed(properties)}: {note}"
    yield from defect_lines(result)
    if any(verdict.status is Status.HOLDS for verdict in result.verdicts):
        yield from beyond_the_register(deployment)
    yield from timing_lines(result)
    yield from (wording.threshold(item) for item in result.thresholds)
    if count := len(deployment.ignored):
        yield f"{wording.counted(count, 'setting')} ignored, because no property here depends on it (see proofka show)"


def timing_lines(result: Result) -> Iterator[str]:
    """Which properties hold only because of how long things take, and by which inequalities."""
    resting: dict[tuple[TimingLemma, ...], list[str]] = {}
    for verdict in result.verdicts:
        if verdict.lemmas:
            resting.setdefault(verdict.lemmas, []).append(verdict.property)
    for lemmas, properties in resting.items():
        holds, them = ("holds", "it") if len(properties) == 1 else ("hold", "them")
        more = len(lemmas) - 1
        others = f" (the tightest of {len(lemmas)} such sums; --json has them all)" if more else ""
        yield (
            f"{wording.listed(properties)}: {holds} with these durations (in ms), which leave no time for what would "
            f"violate {them}: {lemmas[0].inequality}{others}"
        )


def _verdict_notes(result: Result) -> list[tuple[list[str], str]]:
    notes: dict[str, list[str]] = {}
    for verdict in result.verdicts:
        for note in verdict.notes:
            notes.setdefault(note, []).append(verdict.property)
    return [(properties, note) for note, properties in notes.items()]
