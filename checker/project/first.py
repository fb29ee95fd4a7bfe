"""The first project file of a folder, as ``proofka init`` writes it: the pipelines that were found, and comments."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from proofka.checker.existing_files import Sought, seek
from proofka.checker.project.errors import ProjectError
from proofka.checker.source import Source
from proofka.model.deployment.dialects.pairing import Pipeline
from proofka.model.deployment.errors import DeploymentError

_PLAIN = re.compile(r"[\w./][\w./ -]*[\w.]")
"""Paths that YAML reads as text without quotes."""

_SIGNS = re.compile(r"[*?\[]")

HEAD = """# The pipelines of this repository, and what they have to survive: proofka check reads this file.
# Every key: docs/project-file.md of Proofka.
"""

REST = """
budget: every-fault

budgets:
  every-fault:        # any one fault of any kind
    total: 1
  # production:       # one broker and one application at a time
  #   total: 2
  #   kill: 1
  #   producer-crash: 1
  #   consumer-crash: 1

# profile: at-least-once        # or exactly-once, ordered, all; or name the properties:
# require: [no-acked-loss, no-skip]

# assume:                       # what no configuration tells; proofka help processing
#   processing: poll-thread

# accepted:                     # what is known, and may stay until a day
#   - property: no-reprocessing
#     until: 2027-01-31
#     reason: the sink becomes idempotent with the next release
#     pipelines: [deploy/orders.yaml]
"""


def found_in(root: Path) -> tuple[str, ...]:
    """Return the paths of the pipelines in a folder, relative to the folder. Raise ProjectError if there are none."""
    try:
        sought = seek(root, Source(root))
    except DeploymentError as error:
        raise ProjectError("W11", error.message, file=error.file, line=error.line) from None
    paths = list(_outermost({*map(str, sought.findings.deployments), *_of_others(sought)}))
    if not paths:
        what = "has no pipeline: clients and topics that belong together; proofka show lists what was found"
        raise ProjectError("W11", what, file=str(root))
    return tuple(Path(os.path.relpath(path, root)).as_posix() for path in paths)


def text_of(paths: Sequence[str]) -> str:
    """Return the project file for these paths."""
    return "\n".join([f"{HEAD}pipelines:", *(f"  - {_written(path)}" for path in paths)]) + "\n" + REST


def _of_others(sought: Sought) -> Iterator[str]:
    """Yield the file of each pipeline in other programs' files, or the innermost folder that has all its files."""
    for pipeline in sought.paired.pipelines:
        files = sorted(set(_files_of(pipeline)))
        if len(files) == 1:
            yield files[0]
        elif files:
            yield os.path.commonpath([str(PurePath(file).parent) for file in files]) or "."


def _files_of(pipeline: Pipeline) -> Iterator[str]:
    for placed in (pipeline.topic, pipeline.brokers, pipeline.producer, pipeline.consumer):
        if placed is not None:
            yield placed.file


def _outermost(paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths that are in no folder among the others, in order."""
    known = {PurePath(path) for path in paths}
    for path in sorted(known):
        if known.isdisjoint(path.parents):
            yield str(path)


def _written(path: str) -> str:
    """Return a path as YAML, with the signs of patterns in brackets, so that they stand for themselves."""
    escaped = _SIGNS.sub(r"[\g<0>]", path)
    return escaped if _PLAIN.fullmatch(escaped) else json.dumps(escaped, ensure_ascii=False)
