"""The notes of deployments that a short answer prints, because the notes can decide the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofka.model.deployment.broker_rules import ABOVE_REPLICAS, REFUSES_NOTHING, REFUSES_WRITES, REPLICAS_ASSUMED
from proofka.model.deployment.choices import Acks
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.known_keys import GOES_ON, MEANT, NOT_OF_THIS_RELEASE
from proofka.model.deployment.leaving_out import AS_READ, PASSED_OVER
from proofka.model.deployment.listed import ONE_COPY_OF_OFFSETS, RELEASE_ASSUMED
from proofka.properties.accepted import ACCEPTED
from proofka.properties.known_defects.unread import unread_releases
from proofka.reports import wording

MOST_NOTES = 3
"""Number of notes that are printed before the answer; the other notes are only counted."""

_WEIGHTY = (
    ACCEPTED,
    *(f"(rule {rule})" for rule in ABOVE_REPLICAS),
    PASSED_OVER,
    MEANT,
    REFUSES_NOTHING,
    ONE_COPY_OF_OFFSETS,
    NOT_OF_THIS_RELEASE,
    GOES_ON,
)
"""Words in notes that can decide the verdict, the most important first."""


def weighty_notes(deployment: Deployment) -> list[str]:
    """Return the notes about settings that are not in force as written, which can decide the verdict.

    Such a setting is misspelt, belongs to another component, or has another effect in brokers.
    """
    weights = [(words, note) for words in _WEIGHTY for note in deployment.notes if words in note]
    return list(dict.fromkeys(note for _, note in weights))


def reasons(deployment: Deployment) -> list[str]:
    """Return the notes that explain the answer alone: brokers refuse every write of this producer."""
    refused = (
        deployment.producer.acks is Acks.ALL and deployment.cluster.min_insync_replicas > deployment.cluster.replicas
    )
    return [note for note in deployment.notes if refused and REFUSES_WRITES in note]


def first_notes(deployment: Deployment) -> list[str]:
    """Return the notes to print first, and the number of others.

    An assumed release and number of replicas come first, then releases whose defects are not known, the weighty notes,
    and the notes of readers of files.

    The notes of :func:`reasons` are left out, because the answer contains them.
    """
    told = [note for note in weighty_notes(deployment) if note not in reasons(deployment)]
    told += [note for note in deployment.notes if f", {AS_READ}: " in note and note not in told]
    return [*_assumed(deployment), *unread_releases(deployment), *_first(told)]


def first_notes_of_several(deployments: Sequence[Deployment]) -> list[str]:
    """Return the notes to print first about several pipelines, and the number of others.

    A note that is true of some pipelines only names the first of these. The notes of readers of files are left out.
    """
    assumed = _with_names(deployments, [_assumed(one) for one in deployments])
    return [*assumed, *_first(_with_names(deployments, [weighty_notes(one) for one in deployments]))]


def _assumed(deployment: Deployment) -> list[str]:
    """Return the notes about the release and the number of replicas, if no file gives these."""
    return [note for words in (RELEASE_ASSUMED, REPLICAS_ASSUMED) for note in deployment.notes if words in note]


def _first(notes: Sequence[str]) -> Iterator[str]:
    """Yield the first notes, and the number of the others.

    Where more names are probably misspelt than notes are printed, these names share a note: a setting that matters may
    be among them.
    """
    whole = MOST_NOTES if sum(MEANT in note for note in notes) <= MOST_NOTES else 1
    yield from notes[:whole]
    misspelt = [note for note in notes[whole:] if MEANT in note] if whole < MOST_NOTES else []
    if misspelt:
        yield f"also unknown, with the names that are probably meant: {', '.join(map(_name_and_meant, misspelt))}"
    if (more := len(notes) - whole - len(misspelt)) > 0:
        yield f"{wording.counted(more, 'more note')}: --details"


def _name_and_meant(note: str) -> str:
    """Return the misspelt name of a note, and the name that is meant."""
    name, _, _ = note.partition(" (")
    _, _, meant = note.partition(f"{MEANT} ")
    return f"{name} ({meant.rstrip('?')})"


def _with_names(deployments: Sequence[Deployment], notes: Sequence[Sequence[str]]) -> list[str]:
    """Return each note once, after its first pipeline and the number of others if the note is not true of all."""
    names: dict[str, list[str]] = {}
    for deployment, of_one in zip(deployments, notes, strict=True):
        for note in of_one:
            names.setdefault(note, []).append(deployment.name)
    return [note if len(ones) == len(deployments) else f"{_first_name(ones)}: {note}" for note, ones in names.items()]


def _first_name(names: Sequence[str]) -> str:
    more = len(names) - 1
    return names[0] + (f" and {wording.counted(more, 'other pipeline')}" if more else "")
