"""``proofka risk``: an interval for each property, the faults that dominate the number, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import inf

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proofka.model.deployment.deployment import Deployment
from proofka.model.durations import in_units
from proofka.properties.rates import Rates
from proofka.properties.risk import OfSet, OfSource, Risk, RiskAnswer
from proofka.reports import lines, summary, wording

DIGITS = 2
"""Number of digits of a printed number that are not zero."""

MOST_SETS = 4
"""Number of fault sets that are printed for a property."""

MOST_SOURCES = 3
"""Number of faults and causes that are printed for a property."""

LEAST_SHARE = 0.01
"""Smallest share of a fault or cause that is printed."""


class RiskReport:
    """The interval of each property first, then what dominates each, and the assumptions."""

    def __init__(self, answer: RiskAnswer, deployment: Deployment, rates: Rates) -> None:
        self.answer, self.deployment, self.rates = answer, deployment, rates

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, answer = options.max_width, self.answer
        yield from lines.wrapped(f"{answer.name}: {summary.cluster(self.deployment)}", width, rest="  ", style="bold")
        yield from lines.wrapped(f"violations a year, with the rates of {self.rates.origin}", width, rest="  ")
        yield Text()
        room = max((len(risk.property) for risk in answer.risks), default=0)
        for risk in answer.risks:
            first = f"{risk.property:{room}}  "
            yield from lines.wrapped(interval(risk), width, first=first, rest=" " * len(first), style="bold")
        for risk in answer.risks:
            yield Text()
            yield from lines.title(risk.property, width)
            for text in details(risk):
                yield from lines.wrapped(text, width, first="  ", rest="    ")
        yield from self._repairs(width)
        yield Text()
        for remark in answer.remarks:
            yield from lines.wrapped(remark, width, rest="  ", style="dim")

    def _repairs(self, width: int) -> Iterator[Text]:
        if self.answer.repairs is None:
            return
        yield Text()
        yield from lines.title("Repairs", width)
        if not self.answer.repairs:
            yield from lines.wrapped("no repair was found for these properties", width, first="  ", rest="    ")
        before = {risk.property: risk for risk in self.answer.risks}
        for number, repair in enumerate(self.answer.repairs, 1):
            yield from lines.wrapped(f"{number}. {' + '.join(repair.changes)}", width, first="  ", rest="     ")
            for risk in repair.risks:
                text = f"{risk.property}: {interval(risk)}; before {interval(before[risk.property])}"
                yield from lines.wrapped(text, width, first="     ", rest="       ")


def interval(risk: Risk) -> str:
    """Return the interval in words: ``0 to 0.0031, at most once in 322 years``. The ends are rounded outwards."""
    least = rounded(risk.lower, up=False)
    if risk.upper is None:
        return f"{least} or more: no upper end"
    if risk.upper == 0:
        return "0"
    return f"{least} to {rounded(risk.upper, up=True)}{_once(risk.upper)}"


def _once(a_year: float) -> str:
    if a_year > 0.5:
        return ""
    years = 1 / a_year
    return f", at most once in {int(years):,} years" if years < 1e7 else ""


def rounded(value: float, *, up: bool) -> str:
    """Return a number with two digits that are not zero, rounded up or down."""
    if value == 0:
        return "0"
    exact = Decimal(repr(value))
    unit = Decimal(1).scaleb(exact.adjusted() - DIGITS + 1)
    found = exact.quantize(unit, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{found:.1e}" if abs(exact.adjusted()) > 4 else f"{found.normalize():,f}"


def details(risk: Risk) -> Iterator[str]:
    """Yield what the interval of a property consists of, a sentence each."""
    for reason in risk.no_upper:
        yield f"no upper end: {reason}"
    if risk.upper is None and risk.rated:
        yield f"from the faults with rates: at most {rounded(risk.rated, up=True)} a year"
    if risk.why_lower:
        yield f"from 0: {risk.why_lower}"
    largest = sorted(risk.sets, key=lambda one: -inf if one.a_year is None else -one.a_year)
    for one in largest[:MOST_SETS]:
        yield _set(one)
    if len(risk.sets) > MOST_SETS:
        yield f"and {wording.counted(len(risk.sets) - MOST_SETS, 'more fault set')} (--json lists all)"
    if risk.complete_to is not None and risk.beyond:
        what = f"more than {wording.counted(risk.complete_to, 'fault')}, and others that were not explored"
        yield (
            f"{rounded(risk.beyond, up=True)} a year by fault sets of {what}: each counts as a violation (--faults "
            f"{risk.complete_to + 1} explores more)"
        )
    for source in risk.sources[:MOST_SOURCES]:
        if source.share >= LEAST_SHARE:
            yield _source(source)
    yield from risk.notes


def _set(one: OfSet) -> str:
    faults = wording.fault_set(one.faults)
    number = "unknown" if one.a_year is None else f"{rounded(one.a_year, up=True)} a year"
    text = f"{faults} alone: {number}"
    if one.proven is not None:
        return f"{text}; in every run these faults come within {in_units(one.proven)}"
    if one.because:
        text += f"; {one.because}"
    elif len(one.order) > 1 and one.least is not None:
        most = "or more" if one.most is None else f"to {in_units(one.most)}"
        text += f"; its trace has {in_units(one.least)} {most} from the first to the last"
    if one.longer:
        text += f"; effects of {wording.listed(one.longer)} last for less, so lasts may be too short"
    return text


def _source(one: OfSource) -> str:
    name = f"the cause {one.name}" if one.is_cause else one.name
    share = f"{100 * one.share:.0f} %"
    return f"{name} ({one.a_year:.3g} a year): {share} of the upper end; one more a year adds {one.one_more:.2g}"
