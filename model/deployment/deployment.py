"""The user's configuration as values: one deployment of one Kafka pipeline.

Every reader returns a :class:`Deployment`, and the model is built from one. The typed fields of its four records are
the settings on which the model depends. They are *effective*: after defaults of the release and the rules of the
client. :attr:`Deployment.settings` keeps every setting with its origin, for ``proofka show``. What follows from several
records stands in :mod:`model.deployment.implied`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from proofka.model.deployment.application import Application
from proofka.model.deployment.cluster import Cluster
from proofka.model.deployment.consumer import Consumer
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.given import GivenDeployment
from proofka.model.deployment.producer import Producer
from proofka.model.deployment.setting import Ignored, Setting
from proofka.model.deployment.times import Durations


@dataclass(frozen=True)
class Deployment:
    """One effective pipeline, and what is explored of it; the module's docstring explains its fields."""

    name: str
    client: str  # "java 4.0", for the first line of a report
    cluster: Cluster
    producer: Producer
    consumer: Consumer
    application: Application
    durations: Durations
    faults: FaultBudget
    bounds: Bounds
    require: tuple[str, ...]
    settings: tuple[Setting, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    notes: tuple[str, ...] = ()  # silent changes by the client or broker, one sentence each
    profile: str | None = field(default=None, repr=False)  # the source of `require` (profiles.py); None: unknown
    given: GivenDeployment | None = field(default=None, compare=False, repr=False)  # its given values

    @property
    def sizes(self) -> dict[str, int]:
        """The bounds that matter, by name: producer epochs matter for idempotent producers only."""
        sizes = asdict(self.bounds)
        if self.producer.idempotence:
            return sizes
        return {name: size for name, size in sizes.items() if name != "producer_epochs"}

    @property
    def assumptions(self) -> tuple[Setting, ...]:
        """The settings that documented defaults filled in because no file gives them: the application's behaviour, and
        durations."""
        return tuple(s for s in self.settings if s.origin.kind == "assumption")
