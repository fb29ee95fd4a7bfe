"""The lemmas of a certificate: in words with their sums, and as data from which the flags are made again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proofka.checker.certificates.text import quoted
from proofka.checker.export.smtlib import numeral
from proofka.checker.timing.constraints import Bound, bounds_of, deadline_of
from proofka.checker.timing.contradictions import in_parts, in_words
from proofka.checker.timing.differences import Difference
from proofka.checker.timing.refinement import Lemma, bounds_in, differences_in
from proofka.model.language import ClockKey, TransitionSystem

Times = Mapping[str, Any]
"""The differences and the bounds behind the flags of a system, as JSON."""


def lemma_lines(lemma: Lemma) -> Iterator[str]:
    """Yield the lines of a lemma: its inequality, and each bound with its milliseconds."""
    (told,) = in_words([lemma.contradiction])
    yield f"(lemma {quoted(told.inequality)})"
    for edge in lemma.contradiction.edges:
        because, bound = edge.because, edge.bound
        if because is None or bound is None:
            continue
        name = f"{in_parts(bound.duration, shortest=bound.is_least)}, since {because.clock.since}"
        yield f"({'least' if edge.is_least else 'most'} {quoted(name)} {numeral(abs(edge.weight))})"


def times_of(lemmas: Iterable[Lemma]) -> Times:
    """Return the differences and the bounds of lemmas as data."""
    known = list(lemmas)
    return {
        "differences": [[_key(one.earlier), _key(one.later), one.most] for one in sorted(differences_in(known))],
        "bounds": sorted(map(_bound, bounds_in(known)), key=repr),
    }


def from_times(times: Times, system: TransitionSystem) -> tuple[list[Difference], frozenset[Bound]]:
    """Return differences and bounds of data, the bounds as a system has them. Raise ValueError."""
    differences = [
        Difference(_clock(earlier), _clock(later), int(most)) for earlier, later, most in times["differences"]
    ]
    wanted = [list(one) for one in times["bounds"]]
    needs = (bound for needs in system.needs.values() for need in needs for bound in bounds_of(need))
    deadlines = (bound for clock in system.clocks if (bound := deadline_of(clock)) is not None)
    found = frozenset(bound for bound in (*needs, *deadlines) if _bound(bound) in wanted)
    if len({repr(_bound(bound)) for bound in found}) != len(wanted):
        raise ValueError("a bound that the model does not have")
    return differences, found


def _key(key: ClockKey) -> list[Any]:
    return [key[0], dict(key[1])]


def _clock(told: list[Any]) -> ClockKey:
    name, arguments = told
    return str(name), tuple(sorted((str(argument), int(value)) for argument, value in arguments.items()))


def _bound(bound: Bound) -> list[Any]:
    milliseconds = bound.duration.at_least() if bound.is_least else bound.duration.at_most()
    return [bound.clock, bound.until, bound.is_least, bound.is_deadline, milliseconds]
