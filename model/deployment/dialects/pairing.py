"""Which producer, topic, brokers and consumer belong together: what files say, and where they lie.

Clients that name their topics go with these; others with those of the same file, else of the same folder. Where a
client could go with several topics nobody but the user knows which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import PurePath

from model.deployment.dialects.component import Component, Role
from model.deployment.dialects.finding import Findings
from model.deployment.errors import DeploymentError

MOST_PIPELINES = 1_000
"""More pairs than this are no answer: then what belongs together is to be said."""


@dataclass(frozen=True)
class Placed:
    """A component, and the file it is from."""

    component: Component
    file: str


@dataclass(frozen=True)
class Pipeline:
    """What belongs together; None of what no file speaks of. ``topic_name`` may be known where its settings are not."""

    topic_name: str
    topic: Placed | None
    brokers: Placed | None
    producer: Placed | None
    consumer: Placed | None

    @property
    def name(self) -> str:
        """What a report calls it: its topic, and its clients where that is not enough."""
        clients = [one.component.name for one in (self.producer, self.consumer) if one is not None]
        if not clients and self.brokers is not None:
            clients = [self.brokers.component.name]
        return ": ".join(part for part in (self.topic_name, " -> ".join(clients)) if part) or "defaults"


@dataclass(frozen=True)
class Paired:
    """The pipelines, and what was left over: each with what the user can say."""

    pipelines: tuple[Pipeline, ...]
    topics: tuple[str, ...]
    unpaired: tuple[tuple[Placed, str], ...] = ()


def pair(findings: Findings, topic: str | None = None) -> Paired:
    """The pipelines in what was found; ``topic``: the one that clients are for that do not say it.

    Raises DeploymentError for more pipelines than anybody could have meant.
    """
    placed = [Placed(component, one.file) for one in findings.found for component in one.components]
    of = {role: [one for one in placed if one.component.role is role] for role in Role}
    named = {one.component.name for one in of[Role.TOPIC]}
    named |= {name for one in placed for name in one.component.topics}
    topics = tuple(sorted(named))
    wanted = topics if topic is None else (topic,)
    pipelines: list[Pipeline] = []
    unpaired: list[tuple[Placed, str]] = []
    free = {role: [one for one in of[role] if not one.component.topics] for role in (Role.PRODUCER, Role.CONSUMER)}
    if len(wanted) > 1 and any(free.values()):
        choices = ", ".join(wanted[:8]) + (", ..." if len(wanted) > 8 else "")
        reason = f"no file says for which topic: say --topic, one of {choices}"
        unpaired += [(one, reason) for ones in free.values() for one in ones]
        free = {role: [] for role in free}
    for name in wanted or ("",):
        ends = {role: [one for one in of[role] if name in one.component.topics] for role in free}
        for role, ones in free.items():
            ends[role] += ones
        definitions = [one for one in of[Role.TOPIC] if one.component.name == name]
        for producer, consumer in _together(ends[Role.PRODUCER], ends[Role.CONSUMER]):
            for definition, brokers in product(_or_none(definitions), _or_none(_distinct(of[Role.BROKER]))):
                if len(pipelines) == MOST_PIPELINES:
                    what = f"makes more than {MOST_PIPELINES} pipelines; say --topic, or name a folder with fewer"
                    raise DeploymentError(what, file=findings.place)
                if any(one is not None for one in (producer, consumer, definition, brokers)):
                    pipelines.append(Pipeline(name, definition, brokers, producer, consumer))
    return Paired(tuple(pipelines), topics, tuple(unpaired))


def _together(
    producers: Sequence[Placed], consumers: Sequence[Placed]
) -> Iterator[tuple[Placed | None, Placed | None]]:
    """Which producer goes with which consumer: of one application, one file, one folder, or all, by profile."""
    if not producers or not consumers:
        yield from product(_or_none(producers), _or_none(consumers))
        return
    taken: set[int] = set()
    for near in (_application, _file, _folder, _anywhere):
        for producer, consumer in product(producers, consumers):
            apart = id(producer) in taken or id(consumer) in taken
            if not apart and near(producer) == near(consumer) and _may_meet(producer, consumer):
                yield producer, consumer
        met = {near(one) for one in producers if id(one) not in taken} & {
            near(one) for one in consumers if id(one) not in taken
        }
        taken |= {id(one) for one in (*producers, *consumers) if near(one) in met}
    yield from ((one, None) for one in producers if id(one) not in taken)
    yield from ((None, one) for one in consumers if id(one) not in taken)


def _may_meet(one: Placed, other: Placed) -> bool:
    return one.component.profile == other.component.profile


def _application(one: Placed) -> str:
    """The same application within a file: ``streams.producer`` and ``streams.consumer``."""
    return f"{one.file}\0{one.component.name.replace(one.component.role, '')}"


def _file(one: Placed) -> str:
    return one.file


def _folder(one: Placed) -> str:
    return str(PurePath(one.file).parent)


def _anywhere(one: Placed) -> str:
    return ""


def _or_none(ones: Sequence[Placed]) -> Sequence[Placed | None]:
    return ones or (None,)


def _distinct(ones: Iterable[Placed]) -> list[Placed]:
    """Brokers that are set up alike once."""
    kept: dict[tuple[tuple[str, str], ...], Placed] = {}
    for one in ones:
        settings = tuple(sorted((key, given.value) for key, given in one.component.settings.items()))
        kept.setdefault(settings, one)
    return list(kept.values())
