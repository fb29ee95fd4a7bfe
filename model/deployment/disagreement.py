"""A value on which the brokers of one cluster disagree, so that the cluster's behaviour is unknown.

The value of the setting is a placeholder that names the other broker, so no rule derives anything from the setting.
"""

from __future__ import annotations

import re

_PLACE = re.compile(r"\$\{not that of (?P<whose>.*)\}", re.DOTALL)


def disagreement(whose: str) -> str:
    """Return the placeholder for a value that another broker does not have; ``whose`` names that broker."""
    return f"${{not that of {whose}}}"


def disagrees_with(value: str) -> str | None:
    """Return the name of the broker that has another value; None for any other text."""
    found = _PLACE.fullmatch(value)
    return None if found is None else found["whose"]
