"""Clauses in words: a clause says that its last part holds where the opposites of its other parts do."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from proofka.checker.invariants.statements import Form, Statement, Statements
from proofka.model.language import Variable
from proofka.model.state.pipeline import Fate

_FLAGS = (
    (r"isr_(\d+)", r"broker \1 is not in the ISR", r"broker \1 is in the ISR"),
    (r"unfenced_(\d+)", r"broker \1 is fenced", r"broker \1 is not fenced"),
    (r"broker_(\d+)_up", r"broker \1 is down", r"broker \1 is up"),
    (r"broker_(\d+)_isr_(\d+)", r"broker \1's ISR lacks broker \2", r"broker \1's ISR has broker \2"),
)
"""Patterns of the names of flags, with the words for a flag that is not set and for one that is."""

_NAMES = (
    (r"leader", "the leader"),
    (r"epoch", "the leader epoch"),
    (r"producer_leader_epoch", "the leader epoch that the producer knows"),
    (r"broker_(\d+)_epoch", r"broker \1's leader epoch"),
    (r"broker_(\d+)_log_(\d+)_epoch", r"the epoch of broker \1's record at offset \2"),
    (r"broker_(\d+)_log_(\d+)_(.+)", r"the \3 of broker \1's record at offset \2"),
    (r"broker_(\d+)_fetched_(\d+)", r"broker \2's progress as broker \1 knows it"),
    (r"(broker|batch|record|consumer)_(\d+)_(.+)", r"\1 \2's \3"),
)
"""Patterns of the names of variables, with the words for a variable; the first that fits counts."""

_BROKERS = re.compile(r"(broker_\d+_)?leader|batch_\d+_target")
_FATES = re.compile(r"batch_\d+_fate")


def variable_in_words(name: str) -> str:
    """Return the words for a variable."""
    for pattern, words in _NAMES:
        if found := re.fullmatch(pattern, name):
            return found.expand(words).replace("_", " ")
    return name.replace("_", " ")


def statement_in_words(one: Statement, truth: bool, flags: Collection[str]) -> str:
    """Return a statement, or its opposite, in words. ``flags``: the names of the variables that are 0 or 1."""
    left, between = variable_in_words(one.left), one.form.value[truth]
    if isinstance(one.right, str):
        return f"{left} {between} {variable_in_words(one.right)}"
    if one.left in flags and one.form is Form.IS_VALUE and not _has_words(one.left):
        is_set = truth == bool(one.right)
        for pattern, unset, is_so in _FLAGS:
            if found := re.fullmatch(pattern, one.left):
                return found.expand(is_so if is_set else unset)
        return f"{left} is {'set' if is_set else 'not set'}"
    return f"{left} {between} {_value(one.left, one.right)}"


def clause_in_words(clause: Sequence[int], spoken: Statements, variables: Mapping[str, Variable]) -> str:
    """Return a clause in words (checker/invariants/mining.py has the numbers of literals)."""
    flags = {name for name, one in variables.items() if (one.low, one.high) == (0, 1)}
    *premises, last = sorted(clause, key=lambda number: (number & 1, number))
    conclusion = statement_in_words(spoken.all[last >> 1], bool(last & 1), flags)
    if not premises:
        return conclusion
    opposites = (statement_in_words(spoken.all[one >> 1], not one & 1, flags) for one in premises)
    return f"if {' and '.join(opposites)}, then {conclusion}"


def _has_words(name: str) -> bool:
    """Tell whether the values of a variable have words of their own."""
    return bool(_FATES.fullmatch(name) or _BROKERS.fullmatch(name))


def _value(name: str, value: int) -> str:
    if _FATES.fullmatch(name) and value in set(Fate):
        return Fate(value).name.lower()
    if _BROKERS.fullmatch(name):
        return f"broker {value}" if value else "nobody"
    return str(value)
