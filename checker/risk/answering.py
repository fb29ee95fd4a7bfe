"""The answer of ``proofka risk``: an interval for each property, its most important faults, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from proofka.checker.risk.all_runs import Proofs
from proofka.checker.risk.criticality import Critical, critical_of
from proofka.checker.risk.lower import MS, runs_a_year
from proofka.checker.risk.sources import Source, sources_of
from proofka.checker.risk.upper import Completions
from proofka.checker.risk.windows import Window, Windows
from proofka.model.deployment.deployment import Deployment
from proofka.properties.rates import YEAR, Rates
from proofka.properties.risk import OfSet, OfSource, Risk
from proofka.properties.verdict import CutSet, Result, Status, Verdict

GOAL = "recoverability"
"""The property that a bound can leave open without a trace in its coverage: a state may come back with larger sizes."""


@dataclass(frozen=True)
class Question:
    """A deployment with its result, rates, the windows of its traces, and proofs about all runs."""

    deployment: Deployment
    result: Result
    rates: Rates
    windows: Windows
    proofs: Proofs = field(default_factory=dict)

    def risks(self, properties: Sequence[str]) -> tuple[Risk, ...]:
        """Return the risks of these properties, in the order of the result."""
        return tuple(_Asked(self, verdict).risk() for verdict in self.result.verdicts if verdict.property in properties)


class _Asked:
    """One property of a question."""

    def __init__(self, question: Question, verdict: Verdict) -> None:
        self._question, self._verdict = question, verdict
        rates, deployment = question.rates, question.deployment
        self._sources = sources_of(rates, deployment.cluster.replicas)
        rated = {kind for source in self._sources for kind in source.faults}
        self._critical = self._smaller(critical_of(verdict, deployment, rated))
        self._unrated = rates.unrated(kind for kind, _ in verdict.coverage.kinds)

    def _smaller(self, critical: Critical) -> Critical:
        """Return the critical sets, with windows where these make the number smaller: both numbers are upper ends.

        A set with a window counts less often, and the larger sets, of which nothing is known, count in addition.
        """
        windows = self._proven()
        if not windows:
            return critical
        within = critical.within(windows)
        without_windows, with_windows = (Completions(self._sources, one).a_year for one in (critical, within))
        return within if with_windows < without_windows else critical

    def _proven(self) -> dict[CutSet, float]:
        """Return the windows in years that are proven for fault sets of the property."""
        proofs = self._question.proofs
        known = {one: proofs.get((self._verdict.property, n)) for n, one in enumerate(self._verdict.cut_sets)}
        return {one: proof.most * MS for one, proof in known.items() if proof is not None and proof.most is not None}

    def risk(self) -> Risk:
        """Return the risk of the property."""
        verdict, critical = self._verdict, self._critical
        completions = Completions(self._sources, critical)
        upper = completions.a_year
        sets = tuple(self._of_set(number) for number in range(len(verdict.cut_sets)))
        lower = sum(one.runs_a_year for one in sets)
        no_upper = tuple(self._no_upper())
        return Risk(
            verdict.property,
            verdict.required,
            verdict.status,
            lower,
            None if no_upper else upper,
            upper,
            no_upper,
            "" if lower else self._why_lower(),
            Completions(self._sources, critical.beyond).a_year,
            critical.complete_to,
            sets,
            tuple(self._importances(completions, upper)),
            tuple(self._notes()),
        )

    def _no_upper(self) -> Iterator[str]:
        verdict = self._verdict
        coverage = verdict.coverage
        if () in verdict.cut_sets:
            yield "a run without a fault violates it, so no rate of faults bounds the number"
        if coverage.complete_to < 0:
            yield "runs without a fault were not decided; give the check more time (--time)"
        reached = ", ".join(coverage.bounds_reached)
        if verdict.property == GOAL and verdict.status in (Status.UNKNOWN, Status.VIOLATED) and reached:
            yield f"a bound ({reached}) can hide fault sets that violate it; enlarge this bound"
        if self._unrated:
            yield f"no rate for {', '.join(self._unrated)}"

    def _why_lower(self) -> str:
        verdict, rates = self._verdict, self._question.rates
        if not verdict.cut_sets:
            return "no violating run is known"
        if () in verdict.cut_sets:
            return "the violation needs no fault, and the number of such runs a year is unknown"
        if self._unrated:
            return f"no rate for {', '.join(self._unrated)}, which could come in between"
        kinds = dict.fromkeys(kind for one in verdict.cut_sets for kind, _ in one)
        unknown = [kind for kind in kinds if (rate := rates.rate_of(kind)) is None or rate.exposure is None]
        if unknown:
            return f"not every fault violates it, and the exposure is not given for {', '.join(unknown)}"
        return "the faults of the known runs have the rate or exposure 0, or no window"

    def _of_set(self, number: int) -> OfSet:
        verdict = self._verdict
        faults = verdict.cut_sets[number]
        rates = self._question.rates
        alone = None
        if faults and not rates.unrated(kind for kind, _ in faults):
            alone = Completions(self._sources, self._critical.only(faults)).a_year
        proof = self._question.proofs.get((verdict.property, number))
        found = OfSet(faults, alone, 0.0)
        if proof is not None:
            found = replace(found, proven=proof.most, because=proof.because)
        window = self._question.windows.get((verdict.property, number))
        if window is None:
            return found
        least, most = window.span
        longer = tuple(self._longer(window))
        return replace(found, runs_a_year=self._runs(window), order=window.order, least=least, most=most, longer=longer)

    def _runs(self, window: Window) -> float:
        rates = self._question.rates
        exposures = {kind: rate.exposure for kind in window.order if (rate := rates.rate_of(kind)) is not None}
        known = {kind: exposure for kind, exposure in exposures.items() if exposure is not None}
        if self._unrated or not window.order or not set(window.order) <= known.keys():
            return 0.0
        relevant = [source.only(self._critical.kinds) for source in self._sources]
        return runs_a_year(window, [source for source in relevant if source.faults], known)

    def _longer(self, window: Window) -> Iterator[str]:
        """Yield the kinds of which a fault can be further from the last fault than its effects last."""
        rates: Mapping[str, float] = {one.kind: one.lasts for one in self._question.rates.faults}
        found = {
            kind: None
            for kind, (_, most) in zip(window.order[:-1], window.before_last[:-1], strict=True)
            if kind in rates and (most is None or most / 1000 > rates[kind])
        }
        yield from found

    def _importances(self, completions: Completions, upper: float) -> Iterable[OfSource]:
        found = [
            OfSource(
                source.name,
                source.is_cause,
                source.a_year,
                source.active,
                1.0 - completions.without(source.name) / upper if upper else 0.0,
                completions.for_one_more(source.name),
            )
            for source in self._relevant()
        ]
        return sorted(found, key=lambda one: (-one.share, -one.one_more, one.name))

    def _relevant(self) -> Iterator[Source]:
        return (source for source in self._sources if source.only(self._critical.kinds).faults)

    def _notes(self) -> Iterator[str]:
        verdict = self._verdict
        unexplored = sorted(self._critical.unexplored)
        if unexplored:
            yield (
                f"{', '.join(unexplored)}: with a rate and not explored, so each of these faults counts as violating; "
                "name every kind with a rate in the check (--assume faults.KIND=2), or remove the rate"
            )
        if verdict.status is Status.VACUOUS:
            yield f"the pass is vacuous: {verdict.witness} was never reached"
        if verdict.lemmas:
            yield "the pass rests on the durations of the deployment (holds in time)"
        if verdict.known_defects:
            yield f"known defects that could violate it are not counted ({len(verdict.known_defects)})"


def remarks_of(deployment: Deployment, rates: Rates) -> tuple[str, ...]:
    """Return the assumptions behind the numbers, a sentence each."""
    causes = ", ".join(one.name for one in rates.causes)
    together = f"but for common causes ({causes})" if causes else "because no common cause is named"
    sizes = ", ".join(f"{name} {size}" for name, size in deployment.sizes.items())
    year = f"{YEAR // 86400} days"
    return (
        f"The numbers are about one partition and a year of {year}; violations that one fault completes count once.",
        f"Faults come independently of each other, at constant rates, {together}.",
        "A fault plays no part any more once its effects have lasted as long as the rates say.",
        f"The numbers rest on the verdicts, and are about the same sizes ({sizes}).",
    )
