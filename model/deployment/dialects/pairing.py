"""The producers, topics, brokers and consumers that belong together, by the files' contents and places.

Clients that name their topics go with these; others go with those of the same file, otherwise of the same folder. If a
client could go with several topics, only the user can decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product, takewhile
from pathlib import PurePath

from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.finding import Findings
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.hiding import printable

MOST_PIPELINES = 1_000
"""The largest number of pairs; above it, the user must name what belongs together."""


@dataclass(frozen=True)
class Placed:
    """A component, and its file."""

    component: Component
    file: str


_Near = Callable[[Placed], str]
"""The key that two components near each other share."""


@dataclass(frozen=True)
class Pipeline:
    """The components that belong together; None for a component that no file describes. ``topic_name`` can be known
    without settings."""

    topic_name: str
    topic: Placed | None
    brokers: Placed | None
    producer: Placed | None
    consumer: Placed | None

    @property
    def name(self) -> str:
        """The name in a report: its topic, and its clients if the topic is not enough."""
        clients = [one.component.name for one in (self.producer, self.consumer) if one is not None]
        if not clients and self.brokers is not None:
            clients = [self.brokers.component.name]
        return ": ".join(part for part in (self.topic_name, " -> ".join(clients)) if part) or "defaults"


@dataclass(frozen=True)
class Paired:
    """The pipelines, and the unpaired components, each with advice for the user."""

    pipelines: tuple[Pipeline, ...]
    topics: tuple[str, ...]
    unpaired: tuple[tuple[Placed, str], ...] = ()


MOST_NAMED = 8
"""The largest number of topics that an error lists."""


def pair(findings: Findings, topic: str | None = None) -> Paired:
    """Return the pipelines in the findings. ``topic``: the topic of clients that name none.

    If a client remains that could belong to any topic, no pipeline is made without a client of its role. Raises
    DeploymentError for too many pipelines, and for a topic that no file names if files name others.
    """
    placed = [Placed(component, one.file) for one in findings.found for component in one.components]
    of = {role: [one for one in placed if one.component.role is role] for role in Role}
    named = {one.component.name for one in of[Role.TOPIC]} - {""}
    named |= {name for one in placed for name in one.component.topics}
    topics = tuple(sorted(named))
    if topic is not None and topics and topic not in named:
        raise DeploymentError(_unknown_topic(topic, topics), file=findings.place)
    wanted = topics if topic is None else (topic,)
    pipelines: list[Pipeline] = []
    free = {role: [one for one in of[role] if not one.component.topics] for role in (Role.PRODUCER, Role.CONSUMER)}
    unpaired: list[tuple[Placed, str]] = []
    missing: set[Role] = set()
    if len(wanted) > 1 and any(free.values()):
        reason = _of_which_topic(wanted)
        unpaired += [(one, reason) for ones in free.values() for one in ones]
        missing = {role for role, ones in free.items() if ones}
        free = {role: [] for role in free}
    nameless = [one for one in of[Role.TOPIC] if not one.component.name]
    if len(wanted) > 1 and nameless:
        unpaired += [(one, _of_which_topic(wanted)) for one in nameless]
        nameless = []
    for name in wanted or ("",):
        ends = {role: [one for one in of[role] if name in one.component.topics] for role in free}
        for role, ones in free.items():
            ends[role] += ones
        if any(not ends[role] for role in missing):
            continue
        # A file without a name describes the only topic, if no file describes that topic by its name.
        definitions = [one for one in of[Role.TOPIC] if name and one.component.name == name] or nameless
        for pipeline in _pipelines(name, definitions, _distinct(of[Role.BROKER]), ends):
            if len(pipelines) == MOST_PIPELINES:
                what = f"makes more than {MOST_PIPELINES} pipelines; use --topic, or name a folder with fewer"
                raise DeploymentError(what, file=findings.place)
            pipelines.append(pipeline)
    return Paired(tuple(pipelines), topics, tuple(unpaired))


def _of_which_topic(topics: Sequence[str]) -> str:
    choices = ", ".join(topics[:MOST_NAMED]) + (", ..." if len(topics) > MOST_NAMED else "")
    return f"no file names its topic: use --topic with one of {choices}"


def _unknown_topic(topic: str, topics: Sequence[str]) -> str:
    near = get_close_matches(topic, topics, n=1)
    hint = f"did you mean {printable(near[0])}? " if near else ""
    named = ", ".join(printable(name) for name in topics[:MOST_NAMED]) + (", ..." if len(topics) > MOST_NAMED else "")
    return f"--topic {printable(topic)}: no file names this topic; {hint}Files name {named}"


def _pipelines(
    name: str, definitions: Sequence[Placed], clusters: Sequence[Placed], ends: Mapping[Role, Sequence[Placed]]
) -> Iterator[Pipeline]:
    """Yield the pipelines of one topic: each pair of clients with the nearest definitions and brokers."""
    for producer, consumer in _together(ends[Role.PRODUCER], ends[Role.CONSUMER]):
        clients = [one for one in (producer, consumer) if one is not None]
        for definition in _nearest(definitions, clients):
            beside = clients if definition is None else [definition]
            for brokers in _nearest(clusters, beside):
                if any(one is not None for one in (producer, consumer, definition, brokers)):
                    yield Pipeline(name, definition, brokers, producer, consumer)


def _nearest(ones: Sequence[Placed], beside: Sequence[Placed]) -> Sequence[Placed | None]:
    """Return the components that share most of their folders with the others: the same file, the same folder, or the
    nearest above."""
    if not beside or not ones:
        return _or_none(ones)
    shared = [max(_shared(one.file, other.file) for other in beside) for one in ones]
    return [one for one, length in zip(ones, shared, strict=True) if length == max(shared)]


def _shared(file: str, other: str) -> int:
    """Return the number of names, from the outermost folder on, that two paths share."""
    pairs = zip(PurePath(file).parts, PurePath(other).parts, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _together(
    producers: Sequence[Placed], consumers: Sequence[Placed]
) -> Iterator[tuple[Placed | None, Placed | None]]:
    """Yield pairs of producers and consumers: of one application, one file, one folder, or all, by profile.

    A client without a partner goes alone.
    """
    taken: set[int] = set()
    for near in (_application, _file, _folder, _anywhere):
        met: set[int] = set()
        left = [one for one in producers if id(one) not in taken]
        others = [one for one in consumers if id(one) not in taken]
        for producer, consumer in product(left, others):
            if near(producer) == near(consumer) and _may_meet(producer, consumer, left, others, near):
                yield producer, consumer
                met |= {id(producer), id(consumer)}
        taken |= met
    yield from ((one, None) for one in producers if id(one) not in taken)
    yield from ((None, one) for one in consumers if id(one) not in taken)
    if not producers and not consumers:
        yield None, None


def _may_meet(
    producer: Placed, consumer: Placed, producers: Sequence[Placed], consumers: Sequence[Placed], near: _Near
) -> bool:
    """Tell whether two clients can belong together: the same cluster, as far as files say, and the same profile.

    A client without a profile counts in each profile that has no other client of its role.
    """
    ends = {producer.component.talks_to, consumer.component.talks_to}
    if len(ends) == 2 and "" not in ends:
        return False
    one, other = producer.component.profile, consumer.component.profile
    if one == other:
        return True
    if "" not in (one, other):
        return False
    rivals, profile = (producers, other) if one == "" else (consumers, one)
    here = near(producer)
    return not any(rival.component.profile == profile and near(rival) == here for rival in rivals)


def _application(one: Placed) -> str:
    """Return the key of an application within a file: ``streams.producer`` and ``streams.consumer`` share it."""
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
    """Return brokers with equal settings once."""
    kept: dict[tuple[tuple[str, str], ...], Placed] = {}
    for one in ones:
        settings = tuple(sorted((key, given.value) for key, given in one.component.settings.items()))
        kept.setdefault(settings, one)
    return list(kept.values())
