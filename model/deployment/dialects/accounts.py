"""Where each value of a file goes: into a component, to what is ignored, or to what is rejected; exactly one way."""

from __future__ import annotations

from collections import abc
from collections.abc import Iterable
from dataclasses import replace

from model.deployment.dialects.component import Component, Found, Left
from model.deployment.dialects.document import Document
from model.deployment.dialects.formats.yaml import values_of
from model.deployment.dialects.placeholders import Fillings, fill
from model.deployment.dialects.said import Said
from model.deployment.given import Given
from model.deployment.hiding import shown_key
from model.deployment.setting import Origin
from model.deployment.yaml_tree import Mapping, Node, Sequence

OUTRANKED = "another value of the file counts instead"
NOT_KAFKAS = "no setting of Kafka's clients, topics or brokers"


class Accounts:
    """The values of one document, while a reader sorts them. ``separators``: between a placeholder and its default.

    What is ignored or rejected is kept without its value, which may be a secret.
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

    @property
    def fillings(self) -> Fillings:
        """What somebody gives for placeholders."""
        return self._fillings

    def take(self, said: Said, key: str, value: str | None = None) -> Given:
        """The value under the name that Kafka or a library has for it, its placeholders filled where that is possible.

        ``value``: what it comes to in the unit of that setting, where the file has another one.
        """
        text = fill(said.value, self._fillings, self._separators).text if value is None else value
        self._taken.append(self._left(said, OUTRANKED))
        return Given(key, text, self._origin(said))

    def text(self, said: Said) -> str:
        """The text of a value, its placeholders filled where that is possible."""
        return fill(said.value, self._fillings, self._separators).text.strip()

    def by_framework(self, key: str, value: str, framework: str, at: Given | None = None) -> Given:
        """A value that no file says and a framework sets by itself; ``at``: what stands where it does so."""
        if at is None:
            return Given(key, value, Origin("rule", framework))
        return Given(key, value, Origin("rule", framework, at.origin.file, at.origin.line))

    def ignore(self, said: Said, reason: str = NOT_KAFKAS) -> None:
        """The value does not matter, or nobody reads it."""
        self._ignored.append(self._left(said, reason))

    def reject(self, said: Said, reason: str, reaches: str = "") -> None:
        """The value should matter, and cannot be used as it is; ``reaches``: as ``Left`` has it."""
        self._rejected.append(replace(self._left(said, reason), reaches=reaches))

    def refuse(self, given: Given, reason: str) -> None:
        """A value that was taken is one that a framework refuses."""
        self._rejected.append(Left(Given(given.origin.detail or given.key, "", given.origin), reason))

    def leave(self, given: Given, reason: str) -> None:
        """A value that was taken is for something that is no client of Kafka's."""
        self._ignored.append(Left(Given(given.origin.detail or given.key, "", given.origin), reason))

    def last_of_each(self, values: Iterable[Said], who: str) -> list[Said]:
        """Each key once: of one that comes again ``who`` keeps the last, and the others are ignored."""
        kept: dict[tuple[str, ...], Said] = {}
        for said in values:
            before = kept.pop(said.path, None)
            if before is not None:
                self.ignore(before, self._given_again(said.line, who))
            kept[said.path] = said
        return sorted(kept.values(), key=lambda said: said.line)

    def each_once(self, node: Node, who: str, path: tuple[str, ...] = ()) -> Node:
        """A YAML node without what comes again: of a key, with all that is under it, ``who`` keeps the last."""
        if isinstance(node, Sequence):
            items = (self.each_once(item, who, (*path, f"[{at}]")) for at, item in enumerate(node.items))
            return Sequence(tuple(items), node.line)
        if not isinstance(node, Mapping):
            return node
        last = {entry.key: entry for entry in node.entries}
        for entry in node.entries:
            if entry is not last[entry.key]:
                for said in values_of(entry.node, (*path, entry.key)):
                    self.ignore(said, self._given_again(last[entry.key].line, who))
        entries = (replace(entry, node=self.each_once(entry.node, who, (*path, entry.key))) for entry in last.values())
        return Mapping(tuple(entries), node.line)

    def take_over(self, inner: Found) -> tuple[Component, ...]:
        """The components of a file that this one holds; what it leaves out is left out here."""
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
        """What the file says, once each of its values was sorted, each one way.

        What a component holds is not ignored, also where the value itself says something else than what follows from
        it; a value that was taken and is in none is outranked.
        """
        used = {one.origin for component in components for one in component.given}
        self._rejected = list(dict.fromkeys(self._rejected))
        used |= {left.given.origin for left in self._rejected}
        self._ignored = [left for left in dict.fromkeys(self._ignored) if left.given.origin not in used]
        used |= {left.given.origin for left in self._ignored}
        outranked = {left.given.origin: left for left in self._taken if left.given.origin not in used}
        self._ignored += outranked.values()
        # What other files of the application leave out is in their own accounts; what they reject keeps this back too.
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

    def _given_again(self, line: int, who: str) -> str:
        return f"is given again in line {line + self._lines_before}; {who} keeps the last"

    def _left(self, said: Said, reason: str) -> Left:
        return Left(Given(shown_key(said.key), "", self._origin(said)), reason)

    def _origin(self, said: Said) -> Origin:
        """Its place; the name that stands there as the detail."""
        if said.file:
            return Origin("file", shown_key(said.key), said.file, said.line)
        return Origin("file", shown_key(said.key), self._document.file, self._line(said))

    def _line(self, said: Said) -> int:
        return said.line + self._lines_before
