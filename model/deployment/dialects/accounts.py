"""The destination of each value of a file: a component, the ignored values, or the rejected values."""

from __future__ import annotations

from collections import abc
from collections.abc import Iterable
from dataclasses import replace

from proofka.model.deployment.dialects.component import Component, Found, Left
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.placeholders import Fillings, fill
from proofka.model.deployment.dialects.said import Said, are_equal
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import shown_key
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.yaml_tree import Mapping, Node, Sequence

OUTRANKED = "another value of the file takes precedence"
NOT_KAFKAS = "no setting of Kafka clients, topics or brokers"


class Accounts:
    """The values of one document while a reader sorts them. ``separators``: texts between a placeholder and its
    default.

    Ignored and rejected values are kept without their text, which can be a secret.
    """

    def __init__(
        self, document: Document, fillings: Fillings, separators: tuple[str, ...] = (":-", ":", "-"), first: int = 0
    ) -> None:
        self._document = document
        self._fillings = fillings
        self._separators = separators
        self._lines_before = document.first + first
        self._ignored: list[Left] = []
        self._rejected: list[Left] = []
        self._taken: list[Left] = []
        self._repeated: list[tuple[Left, frozenset[tuple[str, int | None]]]] = []

    @property
    def fillings(self) -> Fillings:
        """The values that the user gives for placeholders."""
        return self._fillings

    def take(self, said: Said, key: str, value: str | None = None) -> Given:
        """Return the value under the name that Kafka or a library has for it, with placeholders filled where possible.

        ``value``: the value in the unit of that setting, if the file has another unit.
        """
        text = fill(said.value, self._fillings, self._separators).text if value is None else value
        self._taken.append(self._left(said, OUTRANKED))
        return Given(key, text, self._origin(said))

    def text(self, said: Said) -> str:
        """Return the text of a value, with placeholders filled where possible."""
        return fill(said.value, self._fillings, self._separators).text.strip()

    def by_framework(self, key: str, value: str, framework: str, at: Given | None = None) -> Given:
        """Return a value that no file gives and a framework sets by itself. ``at``: the value that makes the framework
        do so."""
        if at is None:
            return Given(key, value, Origin("rule", framework))
        return Given(key, value, Origin("rule", framework, at.origin.file, at.origin.line))

    def ignore(self, said: Said, reason: str = NOT_KAFKAS) -> None:
        """Ignore a value that does not matter, or that no client reads."""
        self._ignored.append(self._left(said, reason))

    def reject(self, said: Said, reason: str, reaches: str = "") -> None:
        """Reject a value that should matter but cannot be used. ``reaches``: as in ``Left``."""
        self._rejected.append(replace(self._left(said, reason), reaches=reaches))

    def refuse(self, given: Given, reason: str) -> None:
        """Reject a value that was taken and that a framework refuses."""
        self._rejected.append(Left(Given(given.origin.detail or given.key, "", given.origin), reason))

    def leave(self, given: Given, reason: str) -> None:
        """Ignore a value that was taken and that belongs to no client of Kafka."""
        self._ignored.append(Left(Given(given.origin.detail or given.key, "", given.origin), reason))

    def last_of_each(self, values: Iterable[Said], who: str) -> list[Said]:
        """Return each key once, with its last value, as the reader ``who`` has it.

        An equal value before is ignored, and another value is rejected: one of the two is a mistake.
        """
        kept: dict[tuple[str, ...], Said] = {}
        for said in values:
            before = kept.pop(said.path, None)
            if before is not None:
                self._leave_out(before, (said,), who, line=said.line, is_equal=before.value == said.value)
            kept[said.path] = said
        return sorted(kept.values(), key=lambda said: said.line)

    def each_once(self, node: Node, who: str, path: tuple[str, ...] = ()) -> Node:
        """Return a YAML node without repeated keys: ``who`` keeps the last value of a key, with everything under it.

        Equal values before are ignored, and other values are rejected: one of the two is a mistake.
        """
        if isinstance(node, Sequence):
            items = (self.each_once(item, who, (*path, f"[{at}]")) for at, item in enumerate(node.items))
            return Sequence(tuple(items), node.line)
        if not isinstance(node, Mapping):
            return node
        last = {entry.key: entry for entry in node.entries}
        for entry in node.entries:
            if entry is not last[entry.key]:
                before, after = (list(values_of(one.node, (*path, one.key))) for one in (entry, last[entry.key]))
                is_equal = are_equal(before, after)
                for said in before:
                    self._leave_out(said, after, who, line=last[entry.key].line, is_equal=is_equal)
        entries = (replace(entry, node=self.each_once(entry.node, who, (*path, entry.key))) for entry in last.values())
        return Mapping(tuple(entries), node.line)

    def take_over(self, inner: Found) -> tuple[Component, ...]:
        """Return the components of a file within this one, and add that file's ignored and rejected values."""
        self._ignored += inner.ignored
        self._rejected += inner.rejected
        return inner.components

    def found(
        self,
        dialect: str,
        components: abc.Sequence[Component],
        notes: Iterable[str] = (),
        along: Iterable[str] = (),
    ) -> Found:
        """Return the content of the file, after each of its values was sorted once.

        A value in a component is not ignored, even if a derived value replaces it. A value that was taken and is in no
        component is outranked.
        """
        used = {one.origin for component in components for one in component.given}
        self._settle_repeated({_place(origin) for origin in used})
        self._rejected = list(dict.fromkeys(self._rejected))
        used |= {left.given.origin for left in self._rejected}
        self._ignored = [left for left in dict.fromkeys(self._ignored) if left.given.origin not in used]
        used |= {left.given.origin for left in self._ignored}
        outranked = {left.given.origin: left for left in self._taken if left.given.origin not in used}
        self._ignored += outranked.values()
        # Values that other files of the application ignore are in their own accounts; their rejected values affect this
        # file too.
        others = {file for file in self._document.together if file != self._document.file}
        here = [left for left in self._ignored if left.given.origin.file not in others]
        return Found(
            self._document.file,
            dialect,
            tuple(components),
            tuple(here),
            tuple(self._rejected),
            (*self._document.notes, *notes),
            tuple(dict.fromkeys(along)),
            self._document.together,
        )

    def _leave_out(self, said: Said, kept: Iterable[Said], who: str, *, line: int, is_equal: bool) -> None:
        """Note a value whose key a later ``line`` repeats with the values ``kept``."""
        repeated = f"is repeated in line {line + self._lines_before}"
        if is_equal:
            self.ignore(said, f"{repeated}, with the same value")
            return
        left = self._left(
            said, f"{repeated} with another value, and {who} uses the last one or refuses the file; keep one"
        )
        self._repeated.append((left, frozenset(_place(self._origin(one)) for one in kept)))

    def _settle_repeated(self, used: set[tuple[str, int | None]]) -> None:
        """Reject each repeated value where a setting that matters comes from its repetition, and ignore the others."""
        rejected = {_place(left.given.origin) for left in self._rejected}
        for left, kept in self._repeated:
            if _place(left.given.origin) not in rejected:
                (self._rejected if kept & used else self._ignored).append(left)

    def _left(self, said: Said, reason: str) -> Left:
        return Left(Given(shown_key(said.key), "", self._origin(said)), reason)

    def _origin(self, said: Said) -> Origin:
        """Return the place of a value, with its name in the file as the detail."""
        if said.file:
            return Origin("file", shown_key(said.key), said.file, said.line)
        return Origin("file", shown_key(said.key), self._document.file, self._line(said))

    def _line(self, said: Said) -> int:
        return said.line + self._lines_before


def _place(origin: Origin) -> tuple[str, int | None]:
    """Return file and line of a value."""
    return (str(origin.file), origin.line)
