"""Names in the target languages: the model's own names, as far as the language allows."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from proofka.checker.export.reserved import PROMELA_RESERVED


def identifier(text: str) -> str:
    """Return the text as an identifier: letters, digits and underscores, beginning with a letter."""
    cleaned = re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"-(?=\d)", "minus_", text)).strip("_")
    return cleaned if cleaned[:1].isalpha() else f"m_{cleaned}" if cleaned else "model"


def camel_case(text: str) -> str:
    """Return ``no-acked-loss`` as ``NoAckedLoss``."""
    return "".join(word[:1].upper() + word[1:] for word in identifier(text.replace("-", "_")).split("_"))


def snake_case(text: str) -> str:
    """Return ``no-acked-loss`` or ``NoAckedLoss`` as ``no_acked_loss``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", identifier(text.replace("-", "_"))).lower()


def file_stem(name: str) -> str:
    """Return the name of a system's files, and of its TLA+ module, which must have the name of its file."""
    stem = snake_case(name)
    return f"{stem}_model" if stem in PROMELA_RESERVED else stem


def instance_name(name: str, arguments: Mapping[str, int]) -> str:
    """Return the name of an action with its arguments: ``fetch_follower_2_leader_1``."""
    return identifier("_".join([name, *(f"{argument}_{value}" for argument, value in arguments.items())]))


class Names:
    """The used names of one file: each stands for one thing, and none is a word of the language."""

    def __init__(self, reserved: Collection[str], taken: Collection[str] = ()) -> None:
        self._reserved = frozenset(reserved)
        self._taken = set(taken)

    def take(self, wanted: str) -> str:
        """Reserve and return the name, with an underscore appended if it is a reserved word, or a number if it is
        taken.
        """
        name = f"{wanted}_" if wanted in self._reserved else wanted
        stem, _, digits = name.rpartition("_")
        stem, number = (stem, int(digits)) if stem and digits.isdigit() else (name, 1)
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name

    def inner(self) -> Names:
        """Return names for a part of the file: different from these, and free again behind the part."""
        return Names(self._reserved, self._taken)
