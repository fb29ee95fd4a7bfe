"""Plain Java ``.properties`` files, as they lie in a repository."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from model.deployment.builder import build
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError
from model.deployment.given import Given, GivenClient, GivenDeployment
from model.deployment.hiding import shown_key
from model.deployment.options import outrank, read_options
from model.deployment.setting import Origin
from model.deployment.source import MOST_KEYS, decode_properties, read_bytes
from model.deployment.values import has_placeholder

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

    ``kafka`` is the release of brokers and clients, ``assume`` says what no file can tell.
    """
    files = [path for path in (topic, producer, consumer, broker) if path is not None]
    given = GivenDeployment(
        name=files[0].stem if files else "defaults",
        kafka=Given("kafka", kafka, Origin("option", f"--kafka {kafka}")),
        topic=read_settings(topic) if topic is not None else {},
        broker=read_settings(broker) if broker is not None else {},
        producer=_client(producer),
        consumer=_client(consumer),
    )
    return build(outrank(given, read_options(assume or {})))


BYTE_ORDER_MARK = "\ufeff"


def read_settings(path: Path) -> dict[str, Given]:
    """The settings of one file, each key once, with the line each starts in."""
    from javaproperties import InvalidUEscapeError, KeyValue, parse

    file = str(path)
    text = decode_properties(read_bytes(path))
    check_continuations(text, file)
    settings: dict[str, Given] = {}
    line = 1
    try:
        for element in parse(text):
            if isinstance(element, KeyValue):
                key = element.key
                if key.startswith(BYTE_ORDER_MARK):
                    if key[1:].startswith(("#", "!")):
                        line += count_lines(element.source)
                        continue
                    message = "begins with a byte order mark, which Java takes for a part of this key; save it without"
                    raise DeploymentError(message, file=file, line=line, key=shown_key(key[1:]))
                if has_placeholder(key):
                    message = "a template stands in the place of a key; fill the template in first"
                    raise DeploymentError(message, file=file, line=line, key=shown_key(key))
                if key in settings:
                    # Java would keep the last one without a word.
                    message = f"is given twice, also in line {settings[key].origin.line}; keep one"
                    raise DeploymentError(message, file=file, line=line, key=shown_key(key))
                if len(settings) >= MOST_KEYS:
                    raise DeploymentError(f"has more than {MOST_KEYS} settings", file=file, line=line)
                settings[key] = Given(key, element.value, Origin("file", "", file, line))
            line += count_lines(element.source)
    except InvalidUEscapeError:
        message = "has a malformed \\u escape; four hexadecimal digits must follow (in Java: IllegalArgumentException)"
        raise DeploymentError(message, file=file, line=line) from None
    return settings


def check_continuations(text: str, file: str) -> None:
    """Refuse a value of very many lines: joining them takes the parser quadratic time."""
    run = 0
    for number, line in enumerate(_LINE_END.split(text), start=1):
        run = run + 1 if line.endswith("\\") else 0
        if run > _MOST_CONTINUATIONS:
            message = f"a setting runs over more than {_MOST_CONTINUATIONS} lines that end in a backslash"
            raise DeploymentError(message, file=file, line=number)


def count_lines(source: str) -> int:
    """How many line ends a piece of the file has: LF, CR LF or CR, as Java counts them."""
    return source.count("\n") + source.count("\r") - source.count("\r\n")


def _client(path: Path | None) -> GivenClient:
    return GivenClient(read_settings(path), present=True) if path is not None else GivenClient()
