"""Modelled rows of the register, each with a deployment that has the defect and one that has not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from proofka.model.deployment import Deployment
from proofka.properties.claims.all_claims import pipelines
from proofka.properties.known_defects.defect import Defect
from proofka.properties.known_defects.register import register
from proofka.properties.verdict import CutSet, Verdict
from tests.checker.records import decide, recorded

TABLE = Path(__file__).with_name("modelled_rows.yaml")
Record = Mapping[str, object]


@dataclass(frozen=True)
class Question:
    """The question whether a deployment has a property with some faults; ``records``: the later have the say."""

    violates: str
    faults: Mapping[str, int]
    records: tuple[Record, ...]

    @property
    def deployment(self) -> Deployment:
        """The deployment of the question."""
        return recorded(self.violates, self.faults, *self.records)

    @property
    def verdict(self) -> Verdict:
        """The verdict of the checker."""
        return decide(self.violates, self.faults, *self.records)


@dataclass(frozen=True)
class ModelledRow:
    """A modelled row of the register with its questions, which ``modelled_rows.yaml`` explains."""

    id: str
    smallest: CutSet
    affected: Question
    fixed: Question | None
    otherwise: Question | None
    hidden: str

    @property
    def defect(self) -> Defect:
        """The row of the register."""
        (found,) = (one for one in register() if one.id == self.id)
        return found

    @property
    def without(self) -> Question:
        """The question about a deployment in which the defect cannot show, and nothing else violates the property."""
        found = self.otherwise or self.fixed
        assert found is not None, self.id
        return found


@cache
def modelled_rows() -> tuple[ModelledRow, ...]:
    """Return the rows of the table, in its order."""
    table = YAML(typ="safe", pure=True).load(TABLE.read_text(encoding="utf-8"))
    return tuple(_row(key, **entry) for key, entry in table.items())


def _row(
    key: str, *, violates: str, faults: Mapping[str, int], pipeline: str, hidden: str = "", **more: Any
) -> ModelledRow:
    common = (pipelines()[pipeline], more["with"])
    asked = {
        part: Question(violates, faults, (*common, more[part]))
        for part in ("affected", "fixed", "otherwise")
        if part in more
    }
    assert more.keys() <= asked.keys() | {"with", "smallest"}, key
    smallest = tuple(sorted(more.get("smallest", faults).items()))
    return ModelledRow(key, smallest, asked["affected"], asked.get("fixed"), asked.get("otherwise"), hidden)
