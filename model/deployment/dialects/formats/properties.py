"""Java ``.properties``, as ``java.util.Properties`` reads them."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.properties_reader import check_continuations, count_lines
from proofka.model.deployment.source import MOST_KEYS


def said_in_properties(text: str, file: str, first: int = 1) -> Iterator[Said]:
    """Yield every setting, in the order of the file. ``first``: the number of the first line. Raises
    DeploymentError."""
    from javaproperties import InvalidUEscapeError, KeyValue, parse

    check_continuations(text, file)
    line = first
    found = 0
    try:
        for element in parse(text):
            if isinstance(element, KeyValue):
                found += 1
                if found > MOST_KEYS:
                    raise DeploymentError(
                        f"has more than {MOST_KEYS} settings; check that this is the right file", file=file, line=line
                    )
                yield Said((element.key,), element.value, line)
            line += count_lines(element.source)
    except InvalidUEscapeError:
        message = "has a malformed \\u escape; four hexadecimal digits must follow (in Java: IllegalArgumentException)"
        raise DeploymentError(message, file=file, line=line) from None
