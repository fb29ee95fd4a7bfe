"""Assertions for tests: a failure names the smallest fault set, and tells its trace step by step.

pytest gives the assertion to tests as the fixture ``assert_holds``: Proofka is a plugin of pytest where both are
installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Result, Status, Verdict
from proofka.properties.verdict_table import faults_of


def assert_holds(
    deployment: Deployment | str | Path,
    *names: str,
    faults: int | None = 1,
    seconds: float | None = None,
    known_defects: bool = True,
) -> Result:
    """Check a deployment, or the file of one, and fail unless each named property holds; return the result.

    ``faults``, ``seconds``: as of :func:`proofka.check`. ``known_defects``: accept a pass although these releases have
    known defects that the model lacks and that could violate the property. A property that is vacuous or undecided
    fails as well. Raises AssertionError with a trace, and DeploymentError for a wrong value or an unknown property.
    """
    __tracebackhide__ = True
    import proofka

    if not names:
        raise TypeError("assert_holds() needs the name of a property, such as no-acked-loss")
    result = proofka.check(deployment, faults=faults, require=names, seconds=seconds)
    failures = [
        line for name in names for line in _against(result.verdict_on(name), accepts_known_defects=known_defects)
    ]
    if failures:
        raise AssertionError("\n".join(failures))
    return result


def _against(verdict: Verdict, *, accepts_known_defects: bool) -> Iterator[str]:
    """Yield the lines of a failure; nothing if the property holds."""
    name = verdict.property
    if verdict.status is Status.VIOLATED:
        others = len(verdict.cut_sets) - 1
        more = f" (and by {others} other smallest fault set{'s' if others > 1 else ''})" if others else ""
        yield f"{name} is violated by {faults_of(verdict.cut_sets[0])}{more}; verdict {verdict.id}"
        for number, step in enumerate(verdict.traces[0].steps, 1):
            yield f"  {number}. {step.text}"
        yield f"  {verdict.traces[0].failure}"
    elif verdict.status is Status.VACUOUS:
        yield f"{name} is vacuous: no explored run reaches the witness ({verdict.witness})"
    elif verdict.status is Status.UNKNOWN:
        yield f"{name} is not decided: {verdict.coverage.stopped or 'the durations allow no decision'}"
    elif verdict.known_defects and not accepts_known_defects:
        defects = "; ".join(f"{one.id} ({one.product})" for one in verdict.known_defects)
        yield f"{name} holds in the model, which lacks known defects of these releases: {defects}"
