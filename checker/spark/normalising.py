"""Rows of an inventory as questions to the model, or as reasons for a rejection. Runs on the executors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from proofka.checker.budget import ALWAYS_COVERED
from proofka.checker.spark.sources import ROWS, NoSuchRow, Source
from proofka.model.deployment.choices import Group, OnStop
from proofka.model.deployment.compaction import Keys
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.document import to_document
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.implied.cleaning import (
    cleans,
    deletes_in_time_are_assumed,
    drops_markers,
    drops_tombstones,
    reading_is_timed,
)
from proofka.model.deployment.implied.commits import offsets_expire
from proofka.model.deployment.implied.expiry import reading_in_time_is_assumed, records_expire_unread
from proofka.model.deployment.implied.forgetting import sending_in_time_is_assumed
from proofka.model.deployment.required_properties import ASKED_BY_DEFAULT, KNOWN_PROPERTIES
from proofka.model.durations import LONGEST, Quantity
from proofka.model.faults import Fault
from proofka.model.pipeline import VERSION
from proofka.properties.known_defects.beside import could_violate, defects_here

if TYPE_CHECKING:
    import pandas as pd

ADDED = {
    "deployment": "string",
    "chosen": "map<string,string>",
    "question": "string",
    "document": "string",
    "required": "array<string>",
    "defects": "map<string,array<string>>",
    "file": "string",
    "line": "int",
    "key": "string",
    "reason": "string",
}
NORMALISED = ", ".join([ROWS, *(f"{name} {kind}" for name, kind in ADDED.items())])
"""Schema of a row with its outcome: a question, or the reason why there is none."""


def normalise(source: Source, batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield the existing rows with their outcomes."""
    import pandas as pd

    for batch in batches:
        found: dict[int, dict[str, Any]] = {}
        for index, *row in batch.itertuples():
            with suppress(NoSuchRow):
                found[index] = _normalised(source, *row)
        added = pd.DataFrame(found.values(), columns=list(ADDED), index=list(found), dtype=object)
        yield pd.concat([batch.loc[list(found)], added], axis=1)


def _normalised(source: Source, number: int, place: str, text: str) -> dict[str, Any]:
    chosen = {_whole(key): value and _whole(value) for key, value in source.values(number, text).items()}
    row = dict.fromkeys(ADDED) | {"chosen": chosen}
    try:
        deployment = source.read(number, place, text)
    except DeploymentError as error:
        row["deployment"] = source.called(number, place, text)
        others = len(error.others)
        more = f"; the row has {others} more problem{'s' if others > 1 else ''}" if others else ""
        return row | {"file": error.file, "line": error.line, "key": error.key, "reason": error.message + more}
    meant = json.dumps(to_document(meaning(deployment)), sort_keys=True)
    question = hashlib.sha256(f"{VERSION}{meant}".encode()).hexdigest()[:32]
    row |= {"deployment": deployment.name, "required": list(deployment.require)}
    return row | {"question": question, "document": meant, "defects": _known_defects(deployment)}


def _known_defects(deployment: Deployment) -> dict[str, list[str]]:
    """Return the ids of the known defects that could violate each property, by property (docs/defects.md)."""
    found: dict[str, list[str]] = {}
    for defect in defects_here(deployment):
        for prop in filter(partial(could_violate, defect), KNOWN_PROPERTIES):
            found.setdefault(prop, []).append(defect.id)
    return found


def _whole(text: str) -> str:
    """Return a text that can be written, because JSON can contain escaped surrogate halves."""
    return text.encode("utf-8", "replace").decode()


def _unused(deployment: Deployment) -> Iterator[tuple[str, Quantity]]:
    """Yield the durations that no clock of the model uses, with values that do not activate a clock."""
    if not reading_is_timed(deployment) and not (offsets_expire(deployment) and deployment.cluster.offsets_age_in_use):
        for name in ("max_poll", "consumer_session", "consumer_request", "consumer_connection"):
            yield name, Quantity("", 0, 0)
    if not records_expire_unread(deployment):
        assumed = reading_in_time_is_assumed(deployment) or sending_in_time_is_assumed(deployment)
        yield "retention", Quantity("", LONGEST, LONGEST if assumed else None)
    if not reading_is_timed(deployment) or deployment.application.group is not Group.UNAWARE:
        yield "consumer_metadata", Quantity("", 0, 0)
    if not drops_tombstones(deployment) and not drops_markers(deployment):
        yield "delete_retention", Quantity("", LONGEST, LONGEST if deletes_in_time_are_assumed(deployment) else None)
    if not cleans(deployment):
        yield "compaction_lag", Quantity("", LONGEST, None)
    if not offsets_expire(deployment):
        yield "offsets_kept", Quantity("", LONGEST, None)


def _what_is_assumed(deployment: Deployment) -> tuple[bool, ...]:
    reading, sending = reading_in_time_is_assumed(deployment), sending_in_time_is_assumed(deployment)
    return reading, sending, deletes_in_time_are_assumed(deployment)


def meaning(deployment: Deployment) -> Deployment:
    """Return the deployment reduced to the inputs of the model and the bounds of the exploration, without names and
    places.

    Without a total of faults every pair is covered, because the coverage of an audit must not depend on its speed.
    """
    faults = deployment.faults
    if faults.total is None and not faults.any_number:
        faults = faults.up_to(ALWAYS_COVERED)
    durations = deployment.durations
    plainer = replace(durations, **dict(_unused(deployment)))
    if _what_is_assumed(replace(deployment, durations=plainer)) == _what_is_assumed(deployment):
        durations = plainer
    # These properties are checked only if they are required.
    asked = tuple(name for name in deployment.require if name not in ASKED_BY_DEFAULT)
    cluster, application = deployment.cluster, deployment.application
    if not cleans(deployment):
        cluster, application = replace(cluster, compaction=None), replace(application, keys=Keys.DISTINCT)
    if Fault.PRODUCER_STOP not in deployment.faults.possible:
        application = replace(application, on_stop=OnStop.CLOSE)
    meant = replace(
        deployment, cluster=cluster, application=application, faults=faults, durations=durations, require=asked
    )
    return replace(meant, name="", client="", settings=(), ignored=(), notes=(), profile=None)
