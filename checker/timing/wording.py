"""A contradiction in words: what would have to take so long, and what leaves it no time."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from checker.timing.network import Contradiction
from model.language import Duration
from properties.verdict import TimingLemma


def in_words(contradictions: Iterable[Contradiction]) -> tuple[TimingLemma, ...]:
    """The lemmas that contradictions stand for, as a reader sees them: the shortest first, each inequality once."""
    found = {one.inequality: one for one in map(_lemma, contradictions)}
    return tuple(sorted(found.values(), key=lambda one: (len(one.allowed), one.inequality)))


def _lemma(contradiction: Contradiction) -> TimingLemma:
    longest: list[tuple[int, str, Duration]] = []
    shortest: list[tuple[int, str, Duration]] = []
    for edge in contradiction.edges:
        because = edge.because
        if because is None:
            continue
        need, clock = because.need, because.clock
        if because.most is not None and edge.weight == because.most:
            at_most = clock.at_most if need is None else need.at_most
            assert at_most is not None
            longest.append((because.earlier, clock.since, at_most))
        elif need is not None and need.at_least is not None:
            shortest.append((because.later, clock.since, need.at_least))
    needed = [f"{_total(d, shortest=True):,} ms since {since}" for _, since, d in sorted(shortest, key=_place)]
    allowed = [f"{_total(d, shortest=False):,} ms since {since}" for _, since, d in sorted(longest, key=_place)]
    too_long = _sum((d for *_, d in shortest), shortest=True)
    inequality = f"{too_long} > {_sum((d for *_, d in longest), shortest=False)}"
    return TimingLemma(tuple(needed), tuple(allowed), inequality)


def _place(one: tuple[int, str, Duration]) -> int:
    return one[0]


def _total(duration: Duration, *, shortest: bool) -> int:
    value = duration.at_least() if shortest else duration.at_most()
    assert value is not None
    return value


def _sum(durations: Iterable[Duration], *, shortest: bool) -> str:
    total = Duration(())
    for duration in durations:
        total = total + duration
    return in_parts(total, shortest=shortest) or "0"


def in_parts(duration: Duration, *, shortest: bool) -> str:
    """``broker.session.timeout.ms 9,000 + election 1,000``: the ends of ranges that make it shortest, or longest."""
    text = ""
    for factor, quantity in duration.parts:
        value = quantity.least if (factor > 0) == shortest else quantity.most
        if value is None:
            continue
        times = "" if abs(factor) == 1 else f"{_decimal(abs(factor))} x "
        sign = (" + " if factor > 0 else " - ") if text else ("" if factor > 0 else "-")
        text += f"{sign}{times}{quantity.name} {value:,}"
    return text


def _decimal(factor: Fraction) -> str:
    return f"{float(factor):g}"
