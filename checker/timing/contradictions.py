"""Contradictions in words: the events that need too much time, and the bounds that allow too little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from proofka.checker.timing.network import Contradiction
from proofka.model.durations import in_units
from proofka.model.language import Duration
from proofka.properties.verdict import TimingLemma


def in_words(contradictions: Iterable[Contradiction]) -> tuple[TimingLemma, ...]:
    """Return the lemmas of contradictions for a reader: the tightest first, each inequality once."""
    tightest = sorted(contradictions, key=lambda one: one.tightness, reverse=True)
    found = {one.inequality: one for one in map(_lemma, tightest)}
    return tuple(found.values())


def _lemma(contradiction: Contradiction) -> TimingLemma:
    longest: list[tuple[int, str, Duration]] = []
    shortest: list[tuple[int, str, Duration]] = []
    for edge in contradiction.edges:
        because, bound = edge.because, edge.bound
        if because is None or bound is None:
            continue
        if bound.is_least:
            shortest.append((because.later, because.clock.since, bound.duration))
        else:
            longest.append((because.earlier, because.clock.since, bound.duration))
    needed = [f"{_total(d, shortest=True):,} ms since {since}" for _, since, d in sorted(shortest, key=_place)]
    allowed = [f"{_total(d, shortest=False):,} ms since {since}" for _, since, d in sorted(longest, key=_place)]
    return TimingLemma(tuple(needed), tuple(allowed), _inequality([d for *_, d in shortest], [d for *_, d in longest]))


def _inequality(shortest: Sequence[Duration], longest: Sequence[Duration]) -> str:
    too_long, too_short = sum(shortest, Duration(())), sum(longest, Duration(()))
    text = f"{in_parts(too_long, shortest=True) or '0'} > {in_parts(too_short, shortest=False) or '0'}"
    if len(too_long.parts) < 2 and len(too_short.parts) < 2:
        return text
    needed = sum(_total(one, shortest=True) for one in shortest)
    allowed = sum(_total(one, shortest=False) for one in longest)
    return f"{text} ({in_units(needed)} > {in_units(allowed)})"


def _place(one: tuple[int, str, Duration]) -> int:
    return one[0]


def _total(duration: Duration, *, shortest: bool) -> int:
    value = duration.at_least() if shortest else duration.at_most()
    assert value is not None
    return value


def in_parts(duration: Duration, *, shortest: bool) -> str:
    """Return text such as ``broker.session.timeout.ms 9,000 + election 1,000``, with the shortest or longest ends of
    ranges.

    Added parts come before subtracted ones, and larger parts before smaller ones.
    """
    text = ""
    ends = [(f, q, q.least if (f > 0) == shortest else q.most) for f, q in duration.parts]
    known = [(factor, quantity, value) for factor, quantity, value in ends if value is not None]
    for factor, quantity, value in sorted(known, key=lambda one: (one[0] < 0, -abs(one[0] * one[2]))):
        times = "" if abs(factor) == 1 else f"{_decimal(abs(factor))} x "
        sign = (" + " if factor > 0 else " - ") if text else ("" if factor > 0 else "-")
        text += f"{sign}{times}{quantity.name} {value:,}"
    return text


def _decimal(factor: Fraction) -> str:
    return f"{float(factor):g}"
