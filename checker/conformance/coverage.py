"""Coverage by runs of the lab: the answer for each run, and the actions without which the model rejects a run."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from proofka.checker.conformance.asked_event import NEVER, seen_as
from proofka.checker.conformance.consumer_events import WAYS as OF_CONSUMERS
from proofka.checker.conformance.errors import BadRecording
from proofka.checker.conformance.events import Event, Recording
from proofka.checker.conformance.mutations import MUTATIONS
from proofka.checker.conformance.observed_system import ObservedSystem, model_for, observed
from proofka.checker.conformance.tracker import Answer, Outcome, check_run
from proofka.model.deployment import to_document
from proofka.model.pipeline import Model

Group = tuple[str, str]
"""A client and a release of the brokers."""


@dataclass(frozen=True)
class CheckedRun:
    """A run with its outcome.

    ``group``: the client and the brokers. ``needed``: the actions without which the model rejects the run. ``rejects``:
    the mutations of the model that reject the run. ``actions``: all actions of the model that runs of the lab can have.
    ``examined``: ``needed`` was looked for. ``mutated``: ``rejects`` was looked for.
    """

    recording: Recording
    outcome: Outcome
    group: Group
    needed: frozenset[str] = frozenset()
    rejects: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()
    examined: bool = False
    mutated: bool = False


LONGEST_LOG = 16
"""The largest number of entries of a log in a recording; the recorder sends a few records, and a marker for each."""

MOST_EXAMINED = 2_000
"""The largest number of states at once of a run that ``proofka conform`` examines: each repeats the check 100 times."""


def checked(recording: Recording, most_examined: int = MOST_EXAMINED, most_mutated: int = MOST_EXAMINED) -> CheckedRun:
    """Check a recorded run, and find the actions that the run needs, as :func:`checked_together` does for several.

    Raise :class:`checker.conformance.errors.ConformanceError` for a recording that the model cannot express.
    """
    return next(checked_together([recording], most_examined, most_mutated))


def checked_together(
    recordings: Iterable[Recording], most_examined: int = MOST_EXAMINED, most_mutated: int = MOST_EXAMINED
) -> Iterator[CheckedRun]:
    """Check recorded runs; the runs of one deployment share a model, which is compiled once.

    ``most_examined``: runs with more states at once are not examined for the actions that they need, which repeats the
    check many times. ``most_mutated``: runs with more states at once are not checked by mutated models, of which each
    repeats the check once.
    The model has the faults that some run needs. A run without an event that shows a fault has no step of this fault.
    """
    groups: dict[str, list[Recording]] = {}
    for recording in map(_with_room, recordings):
        groups.setdefault(json.dumps(to_document(recording.deployment), sort_keys=True), []).append(recording)
    for group in groups.values():
        deployment, events = group[0].deployment, [event for recording in group for event in recording.events]
        model = model_for(deployment, events)
        system = observed(model, events)
        others = {
            mutation.name: observed(model_for(other, events), events)
            for mutation in MUTATIONS
            if most_mutated and mutation.sets and (other := mutation.deployment(deployment)) != deployment
        }
        for recording in group:
            yield _checked(recording, model, system, others, most_examined, most_mutated)


def _with_room(recording: Recording) -> Recording:
    """Return the recording with bounds of the model that leave room for the longest log that was seen."""
    deployment = recording.deployment
    longest = max((len(event.arguments["entries"]) for event in recording.events if event.kind == "log"), default=0)
    if longest <= deployment.bounds.log:
        return recording
    if longest > LONGEST_LOG:
        raise BadRecording(f"a log has {longest} entries; a recording has {LONGEST_LOG} at most")
    bounds = replace(deployment.bounds, log=longest + 1)
    return replace(recording, deployment=replace(deployment, bounds=bounds))


def _checked(
    recording: Recording,
    model: Model,
    system: ObservedSystem,
    others: Mapping[str, ObservedSystem],
    most_examined: int,
    most_mutated: int,
) -> CheckedRun:
    """Check a run by the system of its model, and by the systems of the models with another setting."""
    events = recording.events
    outcome = check_run(system, events)
    group = (str(recording.about.get("client", "unknown")), str(recording.about.get("kafka", "unknown")))
    run = CheckedRun(recording, outcome, group, actions=_of_lab(model, events))
    if outcome.answer is not Answer.ACCEPTED:
        return run
    if max(outcome.sizes, default=0) <= most_examined:
        run = replace(run, needed=_needed(system, events), examined=True)
    if max(outcome.sizes, default=0) <= most_mutated:
        run = replace(run, rejects=_rejecting(run, system, others), mutated=True)
    return run


def _rejecting(run: CheckedRun, system: ObservedSystem, others: Mapping[str, ObservedSystem]) -> frozenset[str]:
    """Return the mutations that reject the run."""
    events, known = run.recording.events, run.needed
    removing = (mutation for mutation in MUTATIONS if mutation.only_removes)
    found = {each.name for each in removing if each.removes & known or _rejects(system, events, each.removes)}
    return frozenset(found | {name for name, other in others.items() if _rejects(other, events)})


def _needed(system: ObservedSystem, events: Sequence[Event]) -> frozenset[str]:
    """Return the actions without which the model rejects the run.

    Actions that can all be taken away together are found in few checks, and make the checks of the others small.
    """
    spare: set[str] = set()
    needed: set[str] = set()
    groups = [sorted({action.name for action in system.actions})]
    while groups:
        names = groups.pop()
        if not _rejects(system, events, spare.union(names)):
            spare.update(names)
        elif len(names) > 1:
            half = len(names) // 2
            groups += [names[half:], names[:half]]
        elif _rejects(system, events, names):
            needed.update(names)
    return frozenset(needed)


def _rejects(system: ObservedSystem, events: Sequence[Event], removed: Collection[str] = ()) -> bool:
    return check_run(system, events, without=removed).answer in (Answer.REJECTED, Answer.BOUND)


def _of_lab(model: Model, events: Sequence[Event]) -> frozenset[str]:
    """Return the names of the model's actions that a run of the lab can have: of a consumer, where one is seen."""
    reads = any(event.kind in OF_CONSUMERS for event in events)
    return frozenset(
        action.name
        for action in model.system.actions
        if (action.lane != "consumer" or reads) and seen_as(action) != NEVER
    )


@dataclass
class Coverage:
    """The counts of some runs, by client and release of the brokers.

    ``answers``: the number of runs with each answer. ``needed``: by action, the number of runs that need the action.
    ``rejected_by``: by mutation, the number of runs that the mutated model rejects. ``actions``: all actions that runs
    can have. ``unexamined``: the number of accepted runs that were too large to look for either.
    """

    answers: dict[Group, dict[Answer, int]] = field(default_factory=dict)
    needed: dict[str, dict[Group, int]] = field(default_factory=dict)
    rejected_by: dict[str, dict[Group, int]] = field(default_factory=dict)
    actions: set[str] = field(default_factory=set)
    unexamined: int = 0

    def add(self, run: CheckedRun) -> None:
        """Count a run."""
        answers = self.answers.setdefault(run.group, {})
        answers[run.outcome.answer] = answers.get(run.outcome.answer, 0) + 1
        self.actions |= run.actions
        self.unexamined += run.outcome.answer is Answer.ACCEPTED and not run.examined
        for table, names in ((self.needed, run.needed), (self.rejected_by, run.rejects)):
            for name in names:
                row = table.setdefault(name, {})
                row[run.group] = row.get(run.group, 0) + 1

    @property
    def unexercised(self) -> tuple[str, ...]:
        """The actions that no run needs."""
        return tuple(sorted(self.actions - self.needed.keys()))

    @property
    def unrejected(self) -> tuple[str, ...]:
        """The mutations that could reject runs and reject none: the runs say nothing about them."""
        able = (mutation.name for mutation in MUTATIONS if mutation.only_removes or mutation.sets)
        return tuple(name for name in able if name not in self.rejected_by)


def passed(answers: Mapping[Answer, int]) -> tuple[int, int]:
    """Return the number of accepted runs, and of runs that were accepted or rejected."""
    accepted = answers.get(Answer.ACCEPTED, 0)
    return accepted, accepted + answers.get(Answer.REJECTED, 0)


def in_words(run: CheckedRun) -> Iterator[Mapping[str, str]]:
    """Yield the states of a rejection in the model's words.

    What no event can depend on is left out. A part of a sentence about such a variable tells its initial value.
    """
    model = model_for(run.recording.deployment, run.recording.events)
    for state in run.outcome.states:
        yield {
            display.what: display.render({**model.system.initial, **state})
            for display in model.system.displays
            if display.variables[0].name in state
        }
