"""A policy: rules, the property that they are to guarantee, and the deployments over which they are decided."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proofka.checker.policies.errors import PolicyError
from proofka.checker.policies.expression import AllOf, Expression
from proofka.checker.policies.seen import View


@dataclass(frozen=True)
class Rule:
    """A rule that allows a deployment if ``allows`` is true.

    ``text``: the rule as its author wrote it. ``property``: the property of this rule; None: that of the policy.
    ``notes``: sentences about the reading of the rule.
    """

    name: str
    text: str
    allows: Expression
    property: str | None = None
    notes: tuple[str, ...] = ()
    line: int = 1


@dataclass(frozen=True)
class Given:
    """A condition on deployments, with its text."""

    text: str
    condition: Expression


@dataclass(frozen=True)
class Policy:
    """The rules of one file.

    ``given``: a condition; the rules are decided for the deployments that meet it. ``matrix``: the file of the matrix;
    None: the usual matrix. ``problems``: errors about rules that cannot be read;
    the other rules are decided all the same. ``can_name_property``: a file of this kind has a key for the property.
    """

    name: str
    file: str
    rules: tuple[Rule, ...]
    property: str | None = None
    matrix: Path | None = None
    view: View = View.EFFECTIVE
    given: Given | None = None
    problems: tuple[PolicyError, ...] = ()
    can_name_property: bool = True

    def together(self) -> Rule | None:
        """Return the rule that all rules for the policy's own property allow; None if there are fewer than two."""
        own = [rule for rule in self.rules if rule.property is None]
        if len(own) < 2:
            return None
        return Rule(ALL_RULES, "; ".join(rule.name for rule in own), AllOf(tuple(rule.allows for rule in own)))


ALL_RULES = "all rules together"
"""The name of the rule that allows what every rule of a policy allows."""
