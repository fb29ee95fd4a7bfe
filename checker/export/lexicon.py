"""The names in one file, and the expressions of the file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from proofka.checker.export.exported import Exported
from proofka.checker.export.expressions import Expressions, Op
from proofka.checker.export.names import Names, instance_name
from proofka.checker.export.steps import Step
from proofka.checker.export.vocabulary import Definition
from proofka.model.language import Action


class Lexicon:
    """The names of one file, each for one thing, and the table of its expressions.

    ``by_domain``: the domains of variables can simplify expressions.
    """

    def __init__(
        self,
        exported: Exported,
        reserved: Collection[str],
        *,
        call_word: Callable[[str], str],
        call_property: Callable[[str], str],
        by_domain: bool = True,
    ) -> None:
        self.exported = exported
        system = exported.system
        self.names = Names(reserved)
        self.variables = {variable.name: self.names.take(variable.name) for variable in system.variables}
        self.words = self._words(call_word)
        self.properties = {name: self.names.take(call_property(name)) for name in (*exported.violated, *exported.goals)}
        self.actions = {
            str(action): self.names.take(instance_name(action.name, action.arguments)) for action in system.actions
        }
        self.expressions = Expressions({v.name: v for v in system.variables} if by_domain else {})
        self.defined: dict[str, str] = {}
        self.definitions: dict[int, Definition] = {}
        for definition in exported.definitions:
            place = self.expressions.define(definition.name, definition.term)
            if self.expressions.nodes[place].leaf == definition.name:
                self.definitions.setdefault(place, definition)
                self.defined[definition.name] = self.names.take(definition.name)
        self.violated = {name: self.expressions.read(term) for name, term in exported.violated.items()}
        self.goals = {name: self.expressions.read(term) for name, term in exported.goals.items()}

    def _words(self, call: Callable[[str], str]) -> Mapping[str, Mapping[int, str]]:
        """Return, for each variable, the names of its values; a name stands for one value throughout."""
        values: dict[str, int] = {}
        called: dict[tuple[str, int], str] = {}
        found = {}
        for variable, words in self.exported.words.items():
            if variable in self.variables:
                for value, word in words.items():
                    if (word, value) not in called:
                        called[word, value] = self.names.take(call(word))
                    values[called[word, value]] = value
                found[variable] = {value: called[word, value] for value, word in words.items()}
        self.constants: Mapping[str, int] = values
        return found

    def of(self, name: str) -> str:
        """Return the name of a variable or a definition."""
        return self.variables.get(name) or self.defined[name]

    def action(self, action: Action) -> str:
        """Return the name of an action."""
        return self.actions[str(action)]

    def remarks(self, action: Action) -> Sequence[str]:
        """Return the remarks to write before an action."""
        return self.exported.remarks.get(str(action), (action.actor,))

    def about(self, name: str) -> str:
        """Return the name of a property with its statement."""
        statement = self.exported.statements.get(name)
        return f"{name}: {statement}" if statement else name

    def used_definitions(self, steps: Iterable[Step]) -> list[int]:
        """Return the definitions that occur in the file, each after the definitions used in it."""
        seen: set[int] = set()
        found: list[int] = []
        nodes = self.expressions.nodes

        def visit(place: int) -> None:
            if place not in seen:
                seen.add(place)
                for child in nodes[place].children:
                    visit(child)
                if nodes[place].op is Op.NAMED:
                    found.append(place)

        for root in (*(root for step in steps for root in step.roots), *self.violated.values(), *self.goals.values()):
            visit(root)
        return found
