"""Which producer, topic, brokers and consumer belong together: what files say, and where they lie.

Clients that name their topics go with these; others with those of the same file, else of the same folder. Where a
client could go with several topics nobody but the user knows which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product, takewhile
from pathlib import PurePath

from model.deployment.dialects.component import Component, Role
from model.deployment.dialects.finding import Findings
from model.deployment.errors import DeploymentError
from model.deployment.hiding import printable

MOST_PIPELINES = 1_000
"""More pairs than this are no answer: then what belongs together is to be said."""


@dataclass(frozen=True)
class Placed:
    """A component, and the file it is from."""

    component: Component
    file: str


_Near = Callable[[Placed], str]
"""What two components have in common that lie near each other."""


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


MOST_NAMED = 8
"""How many topics an error lists."""


def pair(findings: Findings, topic: str | None = None) -> Paired:
    """The pipelines in what was found; ``topic``: the one that clients are for that do not say it.

    Where a client is left over that could be anybody's, no pipeline is made up without one of its role.
    Raises DeploymentError for more pipelines than anybody could have meant, and for a topic that no file names where
    files name others.
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
        # A file that says no name describes the one topic there is, where no file describes that topic by its name.
        definitions = [one for one in of[Role.TOPIC] if name and one.component.name == name] or nameless
        for pipeline in _pipelines(name, definitions, _distinct(of[Role.BROKER]), ends):
            if len(pipelines) == MOST_PIPELINES:
                what = f"makes more than {MOST_PIPELINES} pipelines; say --topic, or name a folder with fewer"
                raise DeploymentError(what, file=findings.place)
            pipelines.append(pipeline)
    return Paired(tuple(pipelines), topics, tuple(unpaired))


def _of_which_topic(topics: Sequence[str]) -> str:
    choices = ", ".join(topics[:MOST_NAMED]) + (", ..." if len(topics) > MOST_NAMED else "")
    return f"no file says for which topic: say --topic, one of {choices}"


def _unknown_topic(topic: str, topics: Sequence[str]) -> str:
    near = get_close_matches(topic, topics, n=1)
    hint = f"did you mean {printable(near[0])}? " if near else ""
    named = ", ".join(printable(name) for name in topics[:MOST_NAMED]) + (", ..." if len(topics) > MOST_NAMED else "")
    return f"--topic {printable(topic)}: no file names this topic; {hint}Files name {named}"


def _pipelines(
    name: str, definitions: Sequence[Placed], clusters: Sequence[Placed], ends: Mapping[Role, Sequence[Placed]]
) -> Iterator[Pipeline]:
    """Of one topic: each pair of clients with the definitions that lie nearest to it, and their nearest brokers."""
    for producer, consumer in _together(ends[Role.PRODUCER], ends[Role.CONSUMER]):
        clients = [one for one in (producer, consumer) if one is not None]
        for definition in _nearest(definitions, clients):
            beside = clients if definition is None else [definition]
            for brokers in _nearest(clusters, beside):
                if any(one is not None for one in (producer, consumer, definition, brokers)):
                    yield Pipeline(name, definition, brokers, producer, consumer)


def _nearest(ones: Sequence[Placed], beside: Sequence[Placed]) -> Sequence[Placed | None]:
    """Those that share most of their folders with these: in the same file, the same folder, the nearest one above."""
    if not beside or not ones:
        return _or_none(ones)
    shared = [max(_shared(one.file, other.file) for other in beside) for one in ones]
    return [one for one, length in zip(ones, shared, strict=True) if length == max(shared)]


def _shared(file: str, other: str) -> int:
    """How many names, from the outermost folder on, two paths have in common."""
    pairs = zip(PurePath(file).parts, PurePath(other).parts, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _together(
    producers: Sequence[Placed], consumers: Sequence[Placed]
) -> Iterator[tuple[Placed | None, Placed | None]]:
    """Which producer goes with which consumer: of one application, one file, one folder, or all, by profile.

    One that meets nobody goes alone.
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
    """They talk to the same cluster, as far as files say, and run in the same profile.

    What is said for no profile counts in each in which nothing else is said of its role.
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
