"""A deployment that is tried: which known runs it has too, and what exploring it for some properties alone finds."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from checker.budget import Budget
from checker.check import Run
from checker.questions import Prepared, group, prepare
from checker.survival import Counterexample, Survival
from model.deployment.deployment import Deployment
from model.pipeline import build
from properties.catalogue import properties_of


class Trial:
    """A deployment with its model, which is built once, and made ready for exploring only if that is asked for.

    The fewer kinds of fault are possible, the smaller is the model.
    """

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self._model = build(deployment)

    @cached_property
    def _prepared(self) -> Prepared:
        return prepare(self._model)

    @cached_property
    def _survival(self) -> Survival:
        return Survival(self._model)

    def has(self, counterexample: Counterexample) -> bool:
        """The run is possible here as well, and violates the same: a proof that the property does not hold."""
        return self._survival.of(counterexample)

    def explored(self, names: Collection[str], budget: Budget) -> Run:
        """What is found of these properties."""
        asked = [prop for prop in properties_of(self._model.pipeline) if prop.name in names]
        run = Run(self.deployment, self._prepared, group(self._prepared, asked), budget)
        run.explore(None)
        return run
