"""A snapshot of a live cluster: outputs as Kafka's tools print them, the clients' files, and the list of pipelines.

A check of the cluster reads a snapshot in memory; ``proofka snapshot`` writes the same into a folder, which ``proofka
check`` and ``proofka audit`` read later, without the cluster.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.live.clients import ClientFile, of_group
from proofka.checker.live.errors import WrongChoice
from proofka.checker.live.facts import Facts, Group
from proofka.checker.live.printed import (
    features_text,
    settings_of_brokers,
    settings_of_groups,
    settings_of_topics,
    topics_text,
)
from proofka.model.deployment.describe.cluster import put_together
from proofka.model.deployment.describe.described import DescribedCluster
from proofka.model.deployment.describe.folder import PIPELINES, ROLES
from proofka.model.deployment.describe.output import read_output
from proofka.model.deployment.describe.pipelines import pipelines_in

ABOUT = "snapshot.json"
"""The file that marks a folder as a snapshot."""
TOPICS, CONFIGS, BROKERS, FEATURES, GROUPS = (
    "topics.txt",
    "topic-configs.txt",
    "brokers.txt",
    "features.txt",
    "groups.txt",
)
_FILE_NAME = re.compile(r"[A-Za-z0-9._-]{1,80}", re.ASCII)


@dataclass(frozen=True)
class Snapshot:
    """A cluster in texts. ``place``: its addresses. ``rows``: the pipelines, as the list of a folder has them.

    ``about``: what is kept for people beside the outputs. ``unread``: what could not be read, a sentence each.
    """

    place: str
    outputs: Mapping[str, str]
    clients: tuple[ClientFile, ...]
    rows: tuple[Mapping[str, str], ...]
    about: Mapping[str, object]
    unread: tuple[str, ...]

    def described(self) -> DescribedCluster:
        """Return the cluster as the reader of folders returns it. Raises DeploymentError."""
        read = [read_output(text.encode(), f"{self.place}/{name}") for name, text in self.outputs.items()]
        pipelines = pipelines_in(self._pipelines, f"{self.place}/{PIPELINES}")
        return DescribedCluster(put_together(read), {one.name: one.client() for one in self.clients}, pipelines)

    def files(self) -> dict[str, str]:
        """Return the text of each file of the folder."""
        about = json.dumps(self.about, indent=2, ensure_ascii=False) + "\n"
        clients = {one.name: one.whole for one in self.clients}
        return {**self.outputs, **clients, PIPELINES: self._pipelines, ABOUT: about}

    @property
    def _pipelines(self) -> str:
        text = io.StringIO()
        columns = ["topic", *ROLES, *dict.fromkeys(key for row in self.rows for key in row if key not in _COLUMNS)]
        table = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(self.rows)
        return text.getvalue()


_COLUMNS = ("topic", *ROLES)


def snapshot_of(
    facts: Facts,
    place: str,
    *,
    producer: ClientFile | None = None,
    consumer: ClientFile | None = None,
    groups: Sequence[str] = (),
    topics_are_named: bool = False,
    more: Mapping[str, str] | None = None,
    about: Mapping[str, object] | None = None,
) -> Snapshot:
    """Return the snapshot of a cluster as read.

    ``groups``: the groups that the user named; each reads the topics for which it has offsets, or every topic if the
    user named the topics (``topics_are_named``). ``more``: further columns of each pipeline, such as the release.
    Raises WrongChoice.
    """
    named = [group for group in facts.groups if group.name in groups]
    of_groups = [of_group(group, consumer, _name(group, number, consumer)) for number, group in enumerate(named, 1)]
    rows = []
    for topic in facts.topics:
        reading = [
            file for group, file in zip(named, of_groups, strict=True) if topics_are_named or topic.name in group.topics
        ]
        for file in (*reading,) or (consumer,):
            clients = {
                "producer": "" if producer is None else producer.name,
                "consumer": "" if file is None else file.name,
            }
            rows.append({"topic": topic.name, **clients, **(more or {})})
    outputs = {
        TOPICS: topics_text(facts.topics),
        CONFIGS: settings_of_topics(facts.topics),
        BROKERS: settings_of_brokers(facts.brokers),
        FEATURES: features_text(facts.features),
        GROUPS: settings_of_groups(facts.groups),
    }
    consumers = (*of_groups,) or (consumer,)
    used = [file for file in (producer, *consumers) if file is not None]
    return Snapshot(
        place,
        {name: text for name, text in outputs.items() if text},
        tuple(used),
        tuple(rows),
        {**(about or {}), **_about(facts, place)},
        facts.unread,
    )


def _name(group: Group, number: int, consumer: ClientFile | None) -> str:
    kind = "group" if consumer is None else "consumer"
    return f"{kind}-{group.name if _FILE_NAME.fullmatch(group.name) else number}.properties"


def _about(facts: Facts, place: str) -> dict[str, object]:
    return {
        "bootstrap": place,
        "cluster": facts.cluster,
        "brokers": [
            {"id": broker.number, "rack": broker.rack, "read": broker.settings is not None} for broker in facts.brokers
        ],
        "topics": len(facts.topics),
        "groups": [
            {"name": group.name, "protocol": group.protocol, "state": group.state, "topics": list(group.topics)}
            for group in facts.groups
        ],
        "unread": list(facts.unread),
    }


def write(snapshot: Snapshot, folder: Path) -> None:
    """Write a snapshot, whole or not at all, into a new or empty folder, or in the place of an earlier snapshot.

    Raises WrongChoice for a folder with other files, and OSError.
    """
    check_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for name, text in snapshot.files().items():
            (made / name).write_text(text, encoding="utf-8")
        made.chmod(0o755)
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
            folder.rename(old / folder.name)
            made.rename(folder)
            shutil.rmtree(old)
        else:
            made.rename(folder)
    finally:
        if made.exists():
            shutil.rmtree(made)


def check_folder(folder: Path) -> None:
    """Raise WrongChoice unless a snapshot can be written here."""
    if folder.exists() and not folder.is_dir():
        raise WrongChoice(f"{folder}: is no folder; -o takes a new or empty folder, or one with an earlier snapshot")
    other = next(_others(folder), None) if folder.is_dir() else None
    if other is not None:
        raise WrongChoice(
            f"{folder}: holds {other}, which is of no snapshot; -o takes a new or empty folder, or an earlier snapshot"
        )


def _others(folder: Path) -> Iterator[str]:
    """Yield the names of files that no snapshot wrote."""
    about, names = folder / ABOUT, sorted(path.name for path in folder.iterdir())
    if not names:
        return
    if not about.is_file():
        yield names[0]
        return
    outputs = {TOPICS, CONFIGS, BROKERS, FEATURES, GROUPS, PIPELINES, ABOUT, *(f"{role}.properties" for role in ROLES)}
    yield from (name for name in names if name not in outputs and not name.startswith(("group-", "consumer-")))
