"""A second solver, cvc5, beside Z3: the answers of both to obligations."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import z3

from proofka.checker.obligations.obligation import EXPECTED, IN_WORDS, Kind, Obligation
from proofka.model.input.input_error import InputError

SECONDS_FOR_ONE = 60.0
"""Limit of time for the second solver's answer to one obligation."""


SAT = "sat"
UNKNOWN = "unknown"
OUT_OF_TIME = "unknown (TIMEOUT)"
"""The other word of cvc5 for no answer within the limit, by the moment at which cvc5 notices the time."""

NOT_INSTALLED = 'cvc5 is not installed: pip install "proofka[cvc5]"'


class SolverMissing(InputError):
    """The second solver is not installed."""


@dataclass(frozen=True)
class Answer:
    """The answer of a solver: sat, unsat or unknown; for unknown the reason."""

    word: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.word} ({self.reason})" if self.reason else self.word


Ask = Callable[[str], Answer]
"""A function that returns a solver's answer to a script."""


@dataclass(frozen=True)
class Answered:
    """An obligation with the answers of both solvers to its script."""

    obligation: Obligation
    z3: Answer
    second: Answer

    @property
    def words(self) -> set[str]:
        """Return the different answers."""
        return {self.z3.word, self.second.word}


@dataclass(frozen=True)
class Agreement:
    """The answers of Z3 and of a second solver to the same obligations.

    ``solvers``: both names with their versions. ``seconds``: the time that each took. ``agreed``: number of obligations
    that both answered as expected, by kind. ``disputed``: obligations that at least one answered with ``sat``.
    ``undecided``: obligations without one of the answers.
    """

    solvers: tuple[str, str]
    seconds: tuple[float, float]
    agreed: Counter[Kind]
    disputed: tuple[Answered, ...]
    undecided: tuple[Answered, ...]

    @property
    def line(self) -> str:
        """Return the summary in a line."""
        agreed = self.agreed.total()
        asked = agreed + len(self.disputed) + len(self.undecided)
        number = f"all {asked:,} obligations" if agreed == asked else f"{agreed:,} of {asked:,} obligations"
        kinds = "; ".join(f"{IN_WORDS[kind]}: {self.agreed[kind]:,}" for kind in Kind if self.agreed[kind])
        told = f" ({kinds})" if kinds else ""
        first, second = (f"{seconds:.1f} s" for seconds in self.seconds)
        return (
            f"solvers: {' and '.join(self.solvers)} both answer {EXPECTED} to {number}{told}, in {first} and {second}"
        )

    def disputes(self) -> Iterator[str]:
        """Yield a line with both answers for each disputed obligation."""
        return map(self._told, self.disputed)

    def left_open(self) -> Iterator[str]:
        """Yield a line with both answers for each undecided obligation."""
        return map(self._told, self.undecided)

    def _told(self, one: Answered) -> str:
        first, second = self.solvers
        return f"{first} answers {one.z3}, and {second} answers {one.second}: {one.obligation}"


def refuse_if_missing() -> None:
    """Raise :class:`SolverMissing` if cvc5 is not installed."""
    if find_spec("cvc5") is None:
        raise SolverMissing(NOT_INSTALLED)


def agreement(obligations: Iterable[Obligation], seconds_for_one: float = SECONDS_FOR_ONE) -> Agreement:
    """Ask Z3 and cvc5 about the script of each obligation. Raise :class:`SolverMissing`.

    Z3 is asked again, because its earlier answer can come from a cache, or from another program than the script.
    """
    second, ask = asking_cvc5(seconds_for_one)
    spent = [0.0, 0.0]
    agreed: Counter[Kind] = Counter()
    disputed, undecided = list[Answered](), list[Answered]()
    for one in obligations:
        begun = time.monotonic()
        first_answer = z3_answer(one.script, seconds_for_one)
        between = time.monotonic()
        found = Answered(one, first_answer, ask(one.script))
        spent[0] += between - begun
        spent[1] += time.monotonic() - between
        if found.words == {EXPECTED}:
            agreed[one.kind] += 1
        else:
            (disputed if SAT in found.words else undecided).append(found)
    solvers = f"Z3 {z3.get_version_string()}", second
    return Agreement(solvers, (spent[0], spent[1]), agreed, tuple(disputed), tuple(undecided))


def z3_answer(script: str, seconds: float = SECONDS_FOR_ONE) -> Answer:
    """Return Z3's answer to a script."""
    solver = z3.Solver()
    solver.set("ctrl_c", False)
    solver.set("timeout", _milliseconds(seconds))
    try:
        solver.from_string(script)
    except z3.Z3Exception as error:
        return Answer(UNKNOWN, f"the script was not read: {error}")
    word = str(solver.check())
    return _no_answer(seconds) if word == UNKNOWN else Answer(word)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _no_answer(seconds: float) -> Answer:
    return Answer(UNKNOWN, f"no answer within {seconds:g} s")


def asking_cvc5(seconds_for_one: float) -> tuple[str, Ask]:
    """Return the name of cvc5 with its version, and the function that asks cvc5. Raise :class:`SolverMissing`."""
    refuse_if_missing()
    library: Any = import_module("cvc5")

    def ask(script: str) -> Answer:
        solver = library.Solver(library.TermManager())
        solver.setOption("tlimit-per", str(_milliseconds(seconds_for_one)))
        parser = library.InputParser(solver)
        parser.setStringInput(library.InputLanguage.SMT_LIB_2_6, script, "obligation")
        told = ""
        try:
            while not (command := parser.nextCommand()).isNull():
                told = command.invoke(solver, parser.getSymbolManager()).strip() or told
        except RuntimeError as error:
            return Answer(UNKNOWN, f"the script was not read: {error}")
        if told in (SAT, EXPECTED):
            return Answer(told)
        if told in (UNKNOWN, OUT_OF_TIME):
            return _no_answer(seconds_for_one)
        return Answer(UNKNOWN, told or "no answer")

    return f"cvc5 {library.__version__}", ask
