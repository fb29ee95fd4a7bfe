"""``proofka policy --derive``: write the weakest simple rule that guarantees a property."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.checker.cli.checked_options import known_property
from proofka.checker.cli.endings import EXIT_HOLDS, EXIT_UNDECIDED
from proofka.checker.cli.errors import complain, one_line_errors

if TYPE_CHECKING:
    from proofka.checker.policies.exploring import Limits

POLICY, CEL, TOPIC_POLICY = "policy.yaml", "policy.cel", "create-topic-policy.txt"
"""The names of the written files."""


def derive_rule(
    prop: str, matrix: Path | None, faults: str | None, limits: Limits, *, clauses: int, out: Path | None
) -> int:
    """Print the derived rule in each form, and write the forms into a folder. Return the exit status."""
    from proofka.checker.cli.policy import explored_members
    from proofka.checker.policies.derived_forms import forms_of
    from proofka.checker.policies.deriving import MOST_CONDITIONS, derive
    from proofka.checker.policies.members import USUAL_MATRIX, read_members
    from proofka.checker.policies.topic_conditions import topic_conditions
    from proofka.model.input.whole_file import write_whole
    from proofka.reports.console import console
    from proofka.reports.policies import DerivedRule, print_derived, topic_policy_text

    prop = known_property(prop, "--derive")
    with one_line_errors():
        members = read_members(matrix or USUAL_MATRIX, faults)
    audited, explored = explored_members(members, (prop,), limits)
    found = derive(audited, prop, most_clauses=clauses)
    told = members.told(explored)
    if found is None:
        print_derived(console(), told, prop, None)
        return EXIT_UNDECIDED
    conditions = topic_conditions(found, audited, prop, clauses)
    forms = forms_of(found, conditions, audited, prop)
    statuses = audited.statuses(prop)
    rule = DerivedRule(
        forms.words,
        forms.cel,
        forms.conditions,
        found.covered,
        statuses,
        clauses,
        MOST_CONDITIONS,
        found.is_weakest,
    )
    print_derived(console(), told, prop, rule)
    if out is not None:
        place = None if matrix is None else os.path.relpath(matrix, out)
        with one_line_errors():
            out.mkdir(parents=True, exist_ok=True)
            write_whole(out / POLICY, forms.as_yaml(prop, place))
            write_whole(out / CEL, forms.cel + "\n")
            write_whole(out / TOPIC_POLICY, topic_policy_text(prop, rule) + "\n")
        complain(f"written: {', '.join(str(out / name) for name in (POLICY, CEL, TOPIC_POLICY))}")
    return EXIT_HOLDS
