"""Repairs for a reader: which changes make what hold, what each costs, and what stops writes then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from model.deployment.changing import Change, lowered_from
from model.deployment.choices import Acks
from model.deployment.deployment import Deployment
from properties.verdict import Result, Status, Verdict
from reports import lines, unmended, wording


class Repair(Protocol):
    """A set of changes with which none of ``mends`` is violated; ``needed``: it is known to need each of them."""

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
    """What a search for repairs found."""

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
    """Name the changes of a set, as a deployment file has them: ``producer.acks=all + consumer.commit=after``."""
    return " + ".join(map(str, changes))


class RepairReport:
    """Each repair with its changes and their costs, cheapest first; or the front of what can be had.

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
        for number, repair in enumerate(repairs.found, start=1):
            yield Text()
            yield from self._repair(number, repair, width)
        steps = list(self._next_steps())
        if steps:
            yield Text()
            yield from lines.wrapped("What comes next:", width, style="bold")
        for line in steps:
            yield from lines.wrapped(line, width, first="  ", rest="    ")
        evidence = list(self._evidence())
        if evidence:
            yield Text()
        for line in evidence:
            yield from lines.wrapped(line, width, rest="  ", style="dim")

    def _next_steps(self) -> Iterator[str]:
        """What can be done about each violated property that no set of changes mends, once all were tried."""
        repairs = self.repairs
        mended = {name for repair in repairs.found for name in repair.mends}
        left = [one for one in repairs.before.verdicts if one.status is Status.VIOLATED and one.property not in mended]
        if repairs.stopped or not left:
            return
        yield from unmended.next_steps(self.deployment, left)
        yield from unmended.tried_releases(self.deployment)
        if repairs.undecided:
            names = wording.listed(repairs.undecided)
            yield f"some sets of changes were not decided for {names}: --memory allows more, --faults asks about less"
        else:
            yield "the search came to its end: more time (--time) finds nothing else"

    def _evidence(self) -> Iterator[str]:
        """What was explored of each repair: a pass says nothing beyond that."""
        repairs = self.repairs
        if repairs.explored or repairs.refuted:
            explored = f"{wording.counted(repairs.explored, 'set')} of changes explored"
            yield f"{explored}, {wording.number(repairs.refuted)} more refuted: a trace that is known is possible there"
        of = "each repair was checked as a whole" if repairs.found else "the deployment was checked as it is"
        results = [repair.result for repair in repairs.found] or [repairs.before]
        verdicts = [verdict for result in results for verdict in result.verdicts]
        if self.deployment.faults.total is None and any(one.coverage.total == 1 for one in verdicts):
            yield "larger sets of faults were not looked at: --faults 2 repairs every pair as well"
        yield from (of,) if repairs.found else (f"{of}; {said}" for said in _checked(verdicts))
        for said in dict.fromkeys(wording.fault_kinds(verdict.coverage) for verdict in verdicts):
            yield f"faults: {said}"

    def _answer(self) -> str:
        repairs, name = self.repairs, self.deployment.name
        wrong = wording.listed(repairs.violated)
        cheaper = ": cheaper repairs may exist" if repairs.found else ""
        why = f" ({self.ended})" if self.ended else ""
        stopped = f" The search was stopped before its end{why}{cheaper}." if repairs.stopped else ""
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
                f" No known change that is modelled mends {wording.listed(repairs.hopeless)}."
                if repairs.hopeless
                else ""
            )
            all_of_it = "was found that mends all" if repairs.stopped else "mends all"
            return (
                f"{name}: {wrong} violated. No set of changes {all_of_it}; what can hold together:{hopeless}{stopped}"
            )
        none = (
            " Nothing was found until then: give it longer (--time), or less to do (--faults, --require)."
            if repairs.stopped
            else " None of the known changes that are modelled mends that."
        )
        return f"{name}: {wrong} violated.{stopped}{none}"

    def _held(self) -> str:
        """What holds with each of the repairs that mend all."""
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
            what = f"mends {wording.listed(mended)}; does not hold: {wording.listed(missing)}"
            yield from lines.wrapped(what, width, first="    ", rest="      ")
        for line in _open([verdict for verdict in repair.result.verdicts if verdict.property not in missing]):
            yield from lines.wrapped(line, width, first="    ", rest="      ")
        if not repair.needed:
            less = f"{self.ended or 'stopped'} before it was known whether it needs all of these"
            yield from lines.wrapped(less, width, first="    ", rest="      ")
        for line in _checked(repair.result.verdicts):
            yield from lines.wrapped(line, width, first="    ", rest="      ", style="dim")
        for line in costs(self.deployment, repair):
            yield from lines.wrapped(line, width, first="    ", rest="      ", style="dim")


def _checked(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Within which bounds properties were checked; of each where these differ."""
    bounds: dict[str, list[str]] = {}
    for verdict in verdicts:
        said = f"explored: {wording.bounds(verdict.coverage)}; sizes: {wording.sizes(verdict.coverage)}"
        bounds.setdefault(said, []).append(verdict.property)
    for said, names in bounds.items():
        yield said if len(bounds) == 1 else f"{wording.listed(names)} {said}"


def _open(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Which properties are not violated and not shown to hold either, by name."""
    for status, words in (
        (Status.VACUOUS, "passes only because what it speaks of never happens"),
        (Status.UNKNOWN, "not decided"),
    ):
        names = [verdict.property for verdict in verdicts if verdict.status is status]
        if names:
            yield f"{words}: {wording.listed(names)}"


def costs(before: Deployment, repair: Repair) -> Iterator[str]:
    """What a repair costs, in words: an upgrade, latency, what stops, and how many brokers writes need."""
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
        yield f"writes go on with {wording.counted(now, 'broker')} away{less} (before: with {before_it})"


_RELEASES = (("brokers", "broker", "release"), ("producer", "producer", "client"), ("consumer", "consumer", "client"))
"""Who runs a release, and the scope and key of the effective setting that names the release."""


def upgrade(before: Deployment, after: Deployment) -> str:
    """Say which releases have to run, and what has to be done beside."""
    was, now = ({(one.scope, one.key): one.value for one in made.settings} for made in (before, after))
    runs: dict[str, list[str]] = {}
    for who, *key in _RELEASES:
        old, new = was[key[0], key[1]], now[key[0], key[1]]
        if old != new:
            runs.setdefault(f"{new} instead of {old}", []).append(who)
    named = [f"{wording.listed(who)} {release}" for release, who in runs.items()]
    said = f"upgrade, the most expensive change: run {wording.listed(named)}"
    if before.zookeeper and not after.zookeeper:
        said += ", in KRaft mode: migrate from ZooKeeper"
    major, minor, _ = after.kafka
    if after.kafka != before.kafka and after.kafka >= RELEASES_HAVE_FEATURES:
        raised = after.transactional is not None and after.transactional.epoch_each
        brings = " (transactions of version 2, KIP-890)" if raised else ""
        said += f"; then raise the features{brings}: kafka-features.sh upgrade --release-version {major}.{minor}"
    return said


RELEASES_HAVE_FEATURES = (4, 0, 0)
"""From here on kafka-features.sh raises all features to those of a release (KIP-1022)."""


def tolerated(deployment: Deployment) -> int:
    """How many brokers may be away while a leader still takes records of this producer (semantics 3.2, 6.3)."""
    needed = deployment.min_insync_replicas if deployment.acks is Acks.ALL else 1
    return deployment.replicas - needed
