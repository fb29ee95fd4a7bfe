"""Repairs in words: the changes, the properties that hold with them, and the costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proofka.model.deployment.changing import Change, lowered_from
from proofka.model.deployment.choices import Acks
from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports import lines, unmended, wording
from proofka.reports.first_notes import reasons


class Repair(Protocol):
    """A set of changes with which no property of ``mends`` is violated.

    ``needed``: every change of the set is known to be necessary.
    """

    @property
    def changes(self) -> Sequence[Change]: ...
    @property
    def deployment(self) -> Deployment: ...
    @property
    def result(self) -> Result: ...
    @property
    def mends(self) -> Sequence[str]: ...
    @property
    def needed(self) -> bool: ...


class Repairs(Protocol):
    """The outcome of a search for repairs."""

    @property
    def before(self) -> Result: ...
    @property
    def wanted(self) -> Sequence[str]: ...
    @property
    def found(self) -> Sequence[Repair]: ...
    @property
    def whole(self) -> Sequence[Repair]: ...
    @property
    def violated(self) -> Sequence[str]: ...
    @property
    def hopeless(self) -> Sequence[str]: ...
    @property
    def explored(self) -> int: ...
    @property
    def refuted(self) -> int: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def undecided(self) -> Sequence[str]: ...


def named(changes: Sequence[Change]) -> str:
    """Name the changes of a set as in a deployment file: ``producer.acks=all + consumer.commit=after``."""
    return " + ".join(map(str, changes))


class RepairReport:
    """Each repair with its changes and their costs, cheapest first; or the properties that can hold together.

    ``ended``: what ended a search that was stopped, as in ``interrupted`` or ``time limit of 60 s reached (--time)``.
    """

    def __init__(self, deployment: Deployment, repairs: Repairs, ended: str = "") -> None:
        self.deployment = deployment
        self.repairs = repairs
        self.ended = ended

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, repairs = options.max_width, self.repairs
        yield from lines.wrapped(self._answer(), width, rest="  ", style="bold")
        for line in _open(repairs.before.verdicts):
            yield from lines.wrapped(f"before: {line}", width, first="  ", rest="    ")
        for reason in reasons(self.deployment):
            yield from lines.wrapped(reason, width, first="  ", rest="    ", style="bold")
        for number, repair in enumerate(repairs.found, start=1):
            yield Text()
            yield from self._repair(number, repair, width)
        steps = list(self._next_steps())
        if steps:
            yield Text()
            yield from lines.wrapped("Next steps:", width, style="bold")
        for line in steps:
            yield from lines.wrapped(line, width, first="  ", rest="    ")
        evidence = list(self._evidence())
        if evidence:
            yield Text()
        for line in evidence:
            yield from lines.wrapped(line, width, rest="  ", style="dim")

    def _next_steps(self) -> Iterator[str]:
        """Yield the next steps for each violated property that no set of changes repairs, after a complete search."""
        repairs = self.repairs
        mended = {name for repair in repairs.found for name in repair.mends}
        left = [one for one in repairs.before.verdicts if one.status is Status.VIOLATED and one.property not in mended]
        if repairs.stopped or not left:
            return
        yield from unmended.next_steps(self.deployment, left)
        yield from unmended.tried_releases(self.deployment)
        if repairs.undecided:
            names = wording.listed(repairs.undecided)
            yield f"some sets of changes were not decided for {names}: raise --memory, or lower --faults"
        else:
            yield "the search is complete: more time (--time) finds nothing else"

    def _evidence(self) -> Iterator[str]:
        """Yield the explored bounds of each repair: a pass says nothing beyond these bounds."""
        repairs = self.repairs
        if repairs.explored or repairs.refuted:
            explored = f"{wording.counted(repairs.explored, 'set')} of changes explored"
            yield f"{explored}, {wording.number(repairs.refuted)} more refuted: a known trace is possible with them"
        of = "each repair was checked as a whole" if repairs.found else "the deployment was checked unchanged"
        results = [repair.result for repair in repairs.found] or [repairs.before]
        verdicts = [verdict for result in results for verdict in result.verdicts]
        if self.deployment.faults.total is None and any(one.coverage.total == 1 for one in verdicts):
            yield "larger fault sets were not explored: --faults 2 repairs every pair of faults as well"
        yield from (of,) if repairs.found else (f"{of}; {said}" for said in _checked(verdicts))
        for said in dict.fromkeys(wording.fault_kinds(verdict.coverage) for verdict in verdicts):
            yield f"faults: {said}"

    def _answer(self) -> str:
        repairs, name = self.repairs, self.deployment.name
        wrong = wording.listed(repairs.violated)
        cheaper = ": cheaper repairs may exist" if repairs.found else ""
        why = f" ({self.ended})" if self.ended else ""
        stopped = f" The search was stopped early{why}{cheaper}." if repairs.stopped else ""
        if not repairs.violated and repairs.stopped:
            return f"{name}: no violation was found.{stopped}"
        if not repairs.violated:
            holds = [v for v in repairs.before.verdicts if v.status is Status.HOLDS]
            all_hold = len(holds) == len(repairs.before.verdicts)
            what = "every required property holds" if all_hold else "but not every required property is shown to hold"
            return f"{name}: nothing to repair, {what}."
        if repairs.whole:
            kinds = f"{wording.counted(len(repairs.whole), 'repair')}" + (
                ", cheapest first" if len(repairs.whole) > 1 else ""
            )
            return f"{name}: {wrong} violated. {kinds}, with which {self._held()}:{stopped}"
        if repairs.found:
            hopeless = (
                f" No known modelled change repairs {wording.listed(repairs.hopeless)}." if repairs.hopeless else ""
            )
            all_of_it = "was found that repairs all" if repairs.stopped else "repairs all"
            together = f"No set of changes {all_of_it}; these properties can hold together:"
            return f"{name}: {wrong} violated. {together}{hopeless}{stopped}"
        none = (
            " No repair was found: raise the time (--time), or check less (--faults, --require)."
            if repairs.stopped
            else " No known modelled change repairs this."
        )
        return f"{name}: {wrong} violated.{stopped}{none}"

    def _held(self) -> str:
        """Return the properties that hold with each complete repair."""
        wanted = len(self.repairs.wanted)
        fewest = min(
            sum(verdict.status is Status.HOLDS for verdict in repair.result.verdicts) for repair in self.repairs.whole
        )
        if fewest == wanted:
            return "it holds" if wanted == 1 else f"all {wanted} required properties hold"
        return f"no required property is violated, and {fewest} of {wanted} hold"

    def _repair(self, number: int, repair: Repair, width: int) -> Iterator[Text]:
        yield from lines.wrapped(named(repair.changes), width, first=f"{number:>2}  ", rest="      ", style="bold")
        mended = [name for name in self.repairs.violated if name in repair.mends]
        missing = [name for name in self.repairs.wanted if name not in repair.mends]
        if missing:
            what = f"repairs {wording.listed(mended)}; does not hold: {wording.listed(missing)}"
            yield from lines.wrapped(what, width, first="    ", rest="      ")
        for line in _open([verdict for verdict in repair.result.verdicts if verdict.property not in missing]):
            yield from lines.wrapped(line, width, first="    ", rest="      ")
        if not repair.needed:
            less = f"{self.ended or 'stopped'} before it was known whether all of these changes are needed"
            yield from lines.wrapped(less, width, first="    ", rest="      ")
        for line in _checked(repair.result.verdicts):
            yield from lines.wrapped(line, width, first="    ", rest="      ", style="dim")
        for line in costs(self.deployment, repair):
            yield from lines.wrapped(line, width, first="    ", rest="      ", style="dim")


def _checked(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the bounds within which properties were checked, for each property if bounds differ."""
    bounds: dict[str, list[str]] = {}
    for verdict in verdicts:
        said = f"explored: {wording.bounds(verdict)}; sizes: {wording.sizes(verdict.coverage)}"
        bounds.setdefault(said, []).append(verdict.property)
    for said, names in bounds.items():
        yield said if len(bounds) == 1 else f"{wording.listed(names)} {said}"


def _open(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the properties that are vacuous or undecided, by name."""
    for status, words in (
        (Status.VACUOUS, "passes only because the witness is not reached"),
        (Status.UNKNOWN, "not decided"),
    ):
        names = [verdict.property for verdict in verdicts if verdict.status is status]
        if names:
            yield f"{words}: {wording.listed(names)}"


def costs(before: Deployment, repair: Repair) -> Iterator[str]:
    """Yield the costs of a repair: upgrade, latency, availability, and unavailable brokers that writes tolerate."""
    if any(change.is_upgrade for change in repair.changes):
        yield upgrade(before, repair.deployment)
    for change in repair.changes:
        was = lowered_from(before, change)
        if was is not None:
            yield f"lowered from {was}" + (f": {change.lowered}" if change.lowered else "")
            continue
        for what, words in (("latency", change.latency), ("availability", change.availability)):
            if words:
                yield f"{what}: {words}"
    before_it, now = tolerated(before), tolerated(repair.deployment)
    if before_it != now:
        less = f", not with {now + 1}" if now < before_it else ""
        yield f"writes continue with {wording.counted(now, 'broker')} unavailable{less} (before: with {before_it})"


_RELEASES = (("brokers", "broker", "release"), ("producer", "producer", "client"), ("consumer", "consumer", "client"))
"""The component that runs a release, with scope and key of the effective setting that names the release."""


def upgrade(before: Deployment, after: Deployment) -> str:
    """Return the releases of an upgrade and the further steps of the upgrade."""
    was, now = ({(one.scope, one.key): one.value for one in made.settings} for made in (before, after))
    runs: dict[str, list[str]] = {}
    for who, *key in _RELEASES:
        old, new = was[key[0], key[1]], now[key[0], key[1]]
        if old != new:
            runs.setdefault(f"{new} instead of {old}", []).append(who)
    named = [f"{wording.listed(who)} {release}" for release, who in runs.items()]
    said = f"upgrade, the most expensive change: run {wording.listed(named)}"
    if before.cluster.zookeeper and not after.cluster.zookeeper:
        said += ", in KRaft mode: migrate from ZooKeeper"
    major, minor, _ = after.cluster.kafka
    if after.cluster.kafka != before.cluster.kafka and after.cluster.kafka >= RELEASES_HAVE_FEATURES:
        raised = after.producer.transactional is not None and after.producer.transactional.epoch_each
        brings = " (transactions of version 2, KIP-890)" if raised else ""
        said += f"; then raise the features{brings}: kafka-features.sh upgrade --release-version {major}.{minor}"
    return said


RELEASES_HAVE_FEATURES = (4, 0, 0)
"""First release in which kafka-features.sh raises all features to those of a release (KIP-1022)."""


def tolerated(deployment: Deployment) -> int:
    """Return the number of unavailable brokers with which a leader still accepts records of this producer.

    See semantics 3.2, 6.3.
    """
    needed = deployment.cluster.min_insync_replicas if deployment.producer.acks is Acks.ALL else 1
    return deployment.cluster.replicas - needed
