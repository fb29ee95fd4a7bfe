"""A system in SMT-LIB 2: its initial states, one transition relation for each action, and its properties.

States are constants, ``x`` before a step and ``x.next`` after it, so that a solver's own substitution unrolls them.
Reference: Barrett, Fontaine, Tinelli, *The SMT-LIB Standard*, version 2.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofka.checker.export.exported import Exported
from proofka.checker.export.expressions import Op
from proofka.checker.export.groups import VariableGroup, group
from proofka.checker.export.infix import WIDTH, Lines, hang
from proofka.checker.export.lexicon import Lexicon
from proofka.checker.export.names import file_stem, snake_case
from proofka.checker.export.notes import displayed_in, filled
from proofka.checker.export.parts import Part, named_in, named_within
from proofka.checker.export.reserved import SMT_RESERVED
from proofka.checker.export.steps import Step, read_step
from proofka.model.language import Variable

OPERATORS = {
    Op.AND: "and",
    Op.OR: "or",
    Op.NOT: "not",
    Op.IMPLIES: "=>",
    Op.SAME: "=",
    Op.EQUAL: "=",
    Op.DIFFERENT: "distinct",
    Op.LESS: "<",
    Op.AT_MOST: "<=",
    Op.GREATER: ">",
    Op.AT_LEAST: ">=",
    Op.PLUS: "+",
    Op.NEGATIVE: "-",
    Op.TIMES: "*",
    Op.CHOICE: "ite",
}


class SmtLib:
    """The text of a script: declarations and definitions only. A user adds the question."""

    def __init__(self, exported: Exported) -> None:
        self.name = file_stem(exported.name)
        self.exported = exported
        self.variables = exported.system.variables
        self.lexicon = Lexicon(
            exported, SMT_RESERVED, call_word=lambda word: word, call_property=snake_case, by_domain=False
        )
        self.names = self.lexicon.names
        self.whole = group(self.variables, self.names)
        self.expressions = self.lexicon.expressions
        self.steps = [read_step(action, self.expressions) for action in exported.system.actions]

    def text(self) -> str:
        """Return the script."""
        sections: list[Lines] = [
            self._head(),
            ["(set-logic QF_LIA)"],
            list(self._declarations()),
            self._conjunction("domain", [self._within(variable) for variable in self.variables]),
            self._conjunction("init", [self._starts(variable) for variable in self.variables]),
            list(self._unchanged()),
            *(self._definition(place) for place in self.lexicon.used_definitions(self.steps)),
            *(self._relation(step) for step in self.steps),
            self._defined("trans", "Bool", _listed("or", [self._name_of(step) for step in self.steps] or ["false"])),
            *self._properties(),
        ]
        return "\n\n".join("\n".join(section) for section in sections if section) + "\n"

    def relation_name(self, action: str) -> str:
        """Return the name of the transition relation of an action, given by its printed name."""
        return f"trans_{self.lexicon.actions[action]}"

    def _name_of(self, step: Step) -> str:
        return self.relation_name(str(step.action))

    def _head(self) -> Lines:
        use = (
            "init: the initial state; trans: one step, from x to x.next; trans_...: one action; violated_...: the "
            "states in which a property is violated. Every reachable state is within domain. To ask for a step out of "
            "it, for example, add: (assert (and domain trans (not domain.next))), with domain.next spelt out."
        )
        return _comment(*self.exported.comment, use)

    def _declarations(self) -> Iterator[str]:
        notes = displayed_in(self.exported.system)
        for suffix in ("", ".next"):
            for variable in self.variables:
                note = f", {notes[variable.name]}" if variable.name in notes and not suffix else ""
                domain = f" ; {variable.low}..{variable.high}{note}" if not suffix else ""
                yield f"(declare-const {self._of(variable)}{suffix} Int){domain}"

    def _of(self, variable: Variable) -> str:
        return self.lexicon.of(variable.name)

    def _within(self, variable: Variable) -> Lines:
        return [f"(<= {numeral(variable.low)} {self._of(variable)} {numeral(variable.high)})"]

    def _starts(self, variable: Variable) -> Lines:
        return [f"(= {self._of(variable)} {numeral(variable.initial)})"]

    def _conjunction(self, name: str, parts: Sequence[Lines]) -> Lines:
        return self._defined(name, "Bool", ["(and", *(line for part in parts for line in hang("  ", part)), "  true)"])

    def _defined(self, name: str, sort: str, body: Lines) -> Lines:
        if len(body) == 1 and len(name) + len(body[0]) < WIDTH - 25:
            return [f"(define-fun {name} () {sort} {body[0]})"]
        return [f"(define-fun {name} () {sort}", *hang("  ", body, ")")]

    def _unchanged(self) -> Iterator[str]:
        """Yield, for each group of variables that some action leaves unchanged, the condition that the group is
        unchanged.
        """
        used = {same.name for step in self.steps for same in self._same(step) if isinstance(same, VariableGroup)}
        pending = [self.whole]
        while pending:
            one = pending.pop(0)
            pending += one.inner
            if one.name in used:
                parts = [self._stays(variable) for variable in one.variables]
                yield from self._defined(f"{one.name}.unchanged", "Bool", _listed("and", parts))

    def _same(self, step: Step) -> list[VariableGroup | Variable]:
        return self.whole.same(step.changed)

    def _stays(self, one: VariableGroup | Variable) -> str:
        return (
            f"{one.name}.unchanged" if isinstance(one, VariableGroup) else f"(= {self._of(one)}.next {self._of(one)})"
        )

    def _definition(self, place: int) -> Lines:
        definition = self.lexicon.definitions[place]
        body = self.expressions.nodes[place].children[0]
        return [*_comment(definition.comment), *self._function(self.lexicon.defined[definition.name], body)]

    def _function(self, name: str, place: int) -> Lines:
        parts = named_in(place, self.expressions, self.names)
        names = {part.place: part.name for part in parts}
        sort = "Bool" if self.expressions.is_truth(place) else "Int"
        return self._defined(name, sort, self._let(parts, names, self._lines(place, names, WIDTH - 10)))

    def _relation(self, step: Step) -> Lines:
        parts = named_within(step, self.expressions, self.names)
        names = {part.place: part.name for part in parts}
        body: Lines = ["(and"]
        for condition in step.conditions:
            body += hang("  ", self._lines(condition, names, WIDTH - 10))
        for change in step.changes:
            for variable, value in change.values:
                prefix = f"  (= {self._of(variable)}.next "
                body += hang(prefix, self._lines(value, names, WIDTH - 10 - len(prefix)), ")")
        body += [f"  {self._stays(one)}" for one in self._same(step)]
        body[-1] += ")"
        head = _comment(*self.lexicon.remarks(step.action))
        return [*head, *self._defined(self._name_of(step), "Bool", self._let(parts, names, body))]

    def _let(self, parts: Sequence[Part], names: Mapping[int, str], body: Lines) -> Lines:
        """Return the body behind its named parts, each of which can refer to earlier ones."""
        found: Lines = []
        for part in parts:
            others = {place: name for place, name in names.items() if place != part.place}
            found += hang(f"(let (({part.name} ", self._lines(part.place, others, WIDTH - 30), "))")
        return [*found, *hang("  ", body, ")" * len(parts))] if parts else body

    def _properties(self) -> Iterator[Lines]:
        for name, place in self.lexicon.violated.items():
            function = self._function(f"violated_{self.lexicon.properties[name]}", place)
            yield [*_comment(self.lexicon.about(name)), *function]
        for name, place in self.lexicon.goals.items():
            means = "No invariant: from every reachable state such a state must be reachable without another fault."
            function = self._function(f"goal_{self.lexicon.properties[name]}", place)
            yield [*_comment(self.lexicon.about(name), means), *function]

    def _lines(self, place: int, names: Mapping[int, str], room: int) -> Lines:
        text = self._text(place, names)
        node = self.expressions.nodes[place]
        if len(text) <= room or place in names or not node.children:
            return [text]
        prefix = f"({OPERATORS[node.op]} "
        found: Lines = []
        for child in node.children:
            lines = self._lines(child, names, room - len(prefix))
            found += hang(" " * len(prefix) if found else prefix, lines)
        found[-1] += ")"
        return found

    def _text(self, place: int, names: Mapping[int, str]) -> str:
        if place in names:
            return names[place]
        node = self.expressions.nodes[place]
        if node.op in (Op.VARIABLE, Op.NAMED):
            return self.lexicon.of(str(node.leaf))
        if node.op is Op.NUMBER:
            return numeral(int(node.leaf))
        if node.op is Op.TRUTH:
            return "true" if node.leaf else "false"
        return f"({OPERATORS[node.op]} {' '.join(self._text(child, names) for child in node.children)})"


def numeral(value: int) -> str:
    """Return a number in SMT-LIB, which has no negative numerals."""
    return str(value) if value >= 0 else f"(- {-value})"


def _listed(operator: str, parts: Sequence[str]) -> Lines:
    return [f"({operator}", *(f"  {part}" for part in parts[:-1]), f"  {parts[-1]})"]


def _comment(*remarks: str) -> Lines:
    return [f"; {line}" for remark in remarks for line in filled(remark, WIDTH - 5)]
