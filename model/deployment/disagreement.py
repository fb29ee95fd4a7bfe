"""A value that brokers of one cluster do not agree on: nobody can say what the cluster does.

Such a setting has a placeholder for a value, so that nothing is derived from the setting; the placeholder names the
other broker.
"""

from __future__ import annotations

import re

_PLACE = re.compile(r"\$\{not that of (?P<whose>.*)\}", re.DOTALL)


def disagreement(whose: str) -> str:
    """The placeholder for a value that another broker does not have; ``whose`` names the broker."""
    return f"${{not that of {whose}}}"


def disagrees_with(value: str) -> str | None:
    """The broker that does not have the value; None for any other value."""
    found = _PLACE.fullmatch(value)
    return None if found is None else found["whose"]
