"""A candidate deployment: the known runs that it also has, and its exploration for some properties."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from proofka.checker.budget import Budget
from proofka.checker.check import Run
from proofka.checker.questions import Prepared, group, prepare
from proofka.checker.reductions.always import always_reduced
from proofka.checker.run_transfer import Counterexample, RunTransfer
from proofka.model.deployment.deployment import Deployment
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of


class Candidate:
    """A deployment with its model, which is built once, and prepared for exploring only if needed.

    The fewer kinds of fault are possible, the smaller is the model.
    """

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self._model = always_reduced(build(deployment))

    @cached_property
    def _prepared(self) -> Prepared:
        return prepare(self._model)

    @cached_property
    def _survival(self) -> RunTransfer:
        return RunTransfer(self._model)

    def has(self, counterexample: Counterexample) -> bool:
        """Tell whether the run is possible here, and violates the same property, which proves that the property does
        not hold.
        """
        return self._survival.of(counterexample)

    def explored(self, names: Collection[str], budget: Budget) -> Run:
        """Return the exploration of these properties."""
        asked = [prop for prop in properties_of(self._model.pipeline) if prop.name in names]
        run = Run(self.deployment, self._prepared, group(self._prepared, asked), budget)
        run.explore(None)
        return run
