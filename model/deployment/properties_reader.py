"""A deployment in existing Java ``.properties`` files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from proofka.model.deployment.accepting import note_settings
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.exchanged import check_exchanged
from proofka.model.deployment.given import Given, GivenClient, GivenDeployment
from proofka.model.deployment.hiding import shown_key
from proofka.model.deployment.leaving_out import Rest, rest_of
from proofka.model.deployment.mode import with_mode
from proofka.model.deployment.options import outrank, read_options
from proofka.model.deployment.problems import Problems, by_place, first_of
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.source import MOST_KEYS, decode_properties, read_bytes
from proofka.model.deployment.values import has_placeholder

_LINE_END = re.compile(r"\r\n|\r|\n")
_MOST_CONTINUATIONS = 500


def read_properties(
    *,
    kafka: str,
    topic: Path | None = None,
    broker: Path | None = None,
    producer: Path | None = None,
    consumer: Path | None = None,
    assume: Mapping[str, str] | None = None,
) -> Deployment:
    """Read and check a deployment in .properties files; a missing file means the defaults. Raises DeploymentError.

    ``kafka``: the release of brokers and clients. ``assume``: assumptions that no file can tell. The error contains all
    errors.
    """
    files = {"topic": topic, "producer": producer, "consumer": consumer, "broker": broker}
    rest = rest_of_properties(kafka, files, assume=assume)
    if rest.deployment is None or rest.problems:
        raise first_of(rest.problems)
    return rest.deployment


def rest_of_properties(
    kafka: str,
    files: Mapping[str, Path | None],
    *,
    assume: Mapping[str, str] | None = None,
    version: Given | None = None,
) -> Rest:
    """Read a deployment in .properties files, by component, without the rejected values.

    ``version``: the release of Java's clients (default: that of the brokers).
    Raises DeploymentError for invalid assumptions.
    """
    problems = Problems()
    read: dict[str, dict[str, Given]] = {}
    for role, path in files.items():
        if path is not None:
            with problems.noted():
                read[role], repeated = _settings_and_repeated(decode_properties(read_bytes(path)), str(path))
                problems.found += repeated
    if exchanged := check_exchanged(read):
        return Rest((*by_place(problems.found), *exchanged), None)
    release = Given("kafka", kafka, Origin("option", f"--kafka {kafka}"))
    topic = read.get("topic", {})
    given = GivenDeployment(
        name=next((path.stem for path in files.values() if path is not None), "defaults"),
        kafka=release,
        topic=topic,
        broker=with_mode(release, topic, read.get("broker", {})),
        producer=GivenClient(read.get("producer", {}), None, version, present=files.get("producer") is not None),
        consumer=GivenClient(read.get("consumer", {}), None, version, present=files.get("consumer") is not None),
    )
    given = outrank(given, read_options(assume or {}))
    if problems.found:
        note_settings(given, problems, files.keys() - read.keys())
        return Rest(tuple(by_place(problems.found)), None)
    rest = rest_of(given)
    return replace(rest, problems=tuple(by_place(rest.problems)))


BYTE_ORDER_MARK = "\ufeff"


def read_settings(path: Path) -> dict[str, Given]:
    """Return the settings of one file, each key once, with the line in which each starts."""
    return settings_in(decode_properties(read_bytes(path)), str(path))


def settings_in(text: str, file: str) -> dict[str, Given]:
    """Return the settings in the text of a file, each key once, with the line in which each starts.

    Raises DeploymentError.
    """
    settings, repeated = _settings_and_repeated(text, file)
    if repeated:
        raise first_of(repeated)
    return settings


def _settings_and_repeated(text: str, file: str) -> tuple[dict[str, Given], list[DeploymentError]]:
    """Return the settings in the text of a file, with the first value of repeated keys, and the errors about these.

    Raises DeploymentError for any other error.
    """
    from javaproperties import InvalidUEscapeError, KeyValue, parse

    check_continuations(text, file)
    settings: dict[str, Given] = {}
    repeated: list[DeploymentError] = []
    line = 1
    try:
        for element in parse(text):
            if isinstance(element, KeyValue):
                key = element.key
                if key.startswith(BYTE_ORDER_MARK):
                    if key[1:].startswith(("#", "!")):
                        line += count_lines(element.source)
                        continue
                    message = (
                        "begins with a byte order mark, which Java treats as part of this key; save the file without "
                        "the mark"
                    )
                    raise DeploymentError(message, file=file, line=line, key=shown_key(key[1:]))
                if has_placeholder(key):
                    message = "a template stands in the place of a key; render the template first"
                    raise DeploymentError(message, file=file, line=line, key=shown_key(key))
                if key in settings:
                    # Java would silently keep the last value.
                    message = f"is given twice, also in line {settings[key].origin.line}; keep one"
                    repeated.append(DeploymentError(message, file=file, line=line, key=shown_key(key)))
                    line += count_lines(element.source)
                    continue
                if len(settings) >= MOST_KEYS:
                    raise DeploymentError(
                        f"has more than {MOST_KEYS} settings; check that this is the right file", file=file, line=line
                    )
                settings[key] = Given(key, element.value, Origin("file", "", file, line))
            line += count_lines(element.source)
    except InvalidUEscapeError:
        message = "has a malformed \\u escape; four hexadecimal digits must follow (in Java: IllegalArgumentException)"
        raise DeploymentError(message, file=file, line=line) from None
    return settings, repeated


def check_continuations(text: str, file: str) -> None:
    """Raise DeploymentError for a value of very many lines, which the parser joins in quadratic time."""
    run = 0
    for number, line in enumerate(_LINE_END.split(text), start=1):
        run = run + 1 if line.endswith("\\") else 0
        if run > _MOST_CONTINUATIONS:
            message = (
                f"a setting continues over more than {_MOST_CONTINUATIONS} lines that end in a backslash; shorten it"
            )
            raise DeploymentError(message, file=file, line=number)


def count_lines(source: str) -> int:
    """Return the number of line ends in a piece of the file: LF, CR LF or CR, as Java counts them."""
    return source.count("\n") + source.count("\r") - source.count("\r\n")
