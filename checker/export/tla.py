"""A system as a TLA+ module for TLC, with its configuration file.

Reference: Lamport, *Specifying Systems*, chapters 14 and 15.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofka.checker.export.exported import Exported
from proofka.checker.export.expressions import Op
from proofka.checker.export.groups import VariableGroup, group
from proofka.checker.export.infix import WIDTH, Dialect, Infix, Lines, hang
from proofka.checker.export.lexicon import Lexicon
from proofka.checker.export.names import camel_case, file_stem
from proofka.checker.export.notes import displayed_in, filled
from proofka.checker.export.parts import Part, named_in, named_within
from proofka.checker.export.reserved import TLA_RESERVED
from proofka.checker.export.steps import Change, Step, step_of
from proofka.model.language import Variable

ROOM = WIDTH - 15
"""Largest length of an expression on one line of an action."""

BRIEF = 75
"""Largest length of a case of a choice on one line."""


def _choice(condition: str, then: str, otherwise: str) -> str:
    return f"IF {condition} THEN {then} ELSE {otherwise}"


def _broken_choice(cases: Sequence[tuple[Lines, Lines]], otherwise: Lines) -> Lines:
    found: Lines = []
    for condition, then in cases:
        found += hang("ELSE IF " if found else "IF ", condition)
        if len(condition) == len(then) == 1 and len(found[-1] + then[0]) <= BRIEF:
            found[-1] += f" THEN {then[0]}"
        else:
            found += hang("THEN ", then)
    return found + hang("ELSE ", otherwise)


DIALECT = Dialect(
    operators={
        Op.AND: "/\\",
        Op.OR: "\\/",
        Op.SAME: "<=>",
        Op.EQUAL: "=",
        Op.DIFFERENT: "/=",
        Op.LESS: "<",
        Op.AT_MOST: "<=",
        Op.GREATER: ">",
        Op.AT_LEAST: ">=",
        Op.TIMES: "*",
    },
    truths=("FALSE", "TRUE"),
    negates="~",
    chooses=_choice,
    breaks_choice=_broken_choice,
    bullets=True,
    implies="=>",
    choice_needs_parentheses=True,
)


class TlaModule:
    """The text of a module and of its configuration. The module has the name of its file."""

    def __init__(self, exported: Exported) -> None:
        self.name = file_stem(exported.name)
        self.exported = exported
        self.variables = exported.system.variables
        self.lexicon = Lexicon(
            exported,
            TLA_RESERVED | {self.name, "Domains"} | (set() if "TypeOk" in exported.violated else {"TypeOk"}),
            call_word=lambda word: camel_case(word.lower()),
            call_property=camel_case,
        )
        self.type_ok = "Domains" if "TypeOk" in self.lexicon.properties.values() else "TypeOk"
        self.whole = group(self.variables, self.lexicon.names)
        self.expressions = self.lexicon.expressions
        self.infix = Infix(DIALECT, self.expressions, self.lexicon.of, self.lexicon.words)
        self.steps = [step_of(action, self.variables, self.expressions) for action in exported.system.actions]

    def text(self) -> str:
        """Return the module."""
        actions = [self._action(step) for step in self.steps]
        sections: list[Lines] = [
            [f"{'-' * 20} MODULE {self.name} {'-' * 20}"],
            self._head(),
            ["EXTENDS Integers"],
            list(self._declarations()),
            list(self._groups()),
            [f"{word} == {value}" for word, value in self.lexicon.constants.items()],
            list(self._domains()),
            list(self._initial()),
            *(self._definition(place) for place in self.lexicon.used_definitions(self.steps)),
            *actions,
            ["Next ==", *(f"    \\/ {name}" for name in self.lexicon.actions.values())]
            if actions
            else ["Next == FALSE /\\ UNCHANGED vars"],
            ["Spec == Init /\\ [][Next]_vars"],
            *self._properties(),
            ["=" * (48 + len(self.name))],
        ]
        return "\n\n".join("\n".join(section) for section in sections if section) + "\n"

    def configuration(self) -> str:
        """Return the configuration for TLC."""
        invariants = [self.type_ok, *(self.lexicon.properties[name] for name in self.exported.violated)]
        lines = ["SPECIFICATION Spec", "INVARIANTS", *(f"    {name}" for name in invariants), "CHECK_DEADLOCK FALSE"]
        return "\n".join(lines) + "\n"

    def _head(self) -> Lines:
        run = f"Check it with TLC: java -cp tla2tools.jar tlc2.TLC {self.name}"
        every = "The first violation ends the run; with -continue before the name TLC visits every state."
        return _comment(*self.exported.comment, run, every)

    def _declarations(self) -> Iterator[str]:
        yield "VARIABLES"
        notes = displayed_in(self.exported.system)
        names = [self.lexicon.of(variable.name) for variable in self.variables]
        width = max(map(len, names), default=0) + 1
        for number, (variable, name) in enumerate(zip(self.variables, names, strict=True), 1):
            note = f", {notes[variable.name]}" if variable.name in notes else ""
            written = name + ("," if number < len(names) else "")
            yield f"    {written:{width}} \\* {variable.low}..{variable.high}{note}"

    def _groups(self) -> Iterator[str]:
        """Yield the definitions of the groups that some action leaves unchanged, and of all variables."""
        used = {same.name for step in self.steps for same in self._same(step) if isinstance(same, VariableGroup)}
        pending = [self.whole]
        while pending:
            one = pending.pop(0)
            pending += one.inner
            if one is self.whole or one.name in used:
                yield from hang(f"{one.name} == ", self._tuple(one.variables))

    def _tuple(self, parts: Sequence[VariableGroup | Variable]) -> Lines:
        names = [one.name if isinstance(one, VariableGroup) else self.lexicon.of(one.name) for one in parts]
        return hang("<<", filled(", ".join(names), 85) or [""], ">>")

    def _domains(self) -> Iterator[str]:
        yield f"{self.type_ok} =="
        for variable in self.variables:
            yield f"    /\\ {self.lexicon.of(variable.name)} \\in {variable.low}..{variable.high}"

    def _initial(self) -> Iterator[str]:
        yield "Init =="
        for variable in self.variables:
            words = self.lexicon.words.get(variable.name, {})
            yield f"    /\\ {self.lexicon.of(variable.name)} = {words.get(variable.initial, variable.initial)}"

    def _definition(self, place: int) -> Lines:
        definition = self.lexicon.definitions[place]
        body = self.expressions.nodes[place].children[0]
        return [*_comment(definition.comment), *self._operator(self.lexicon.defined[definition.name], body)]

    def _operator(self, name: str, place: int) -> Lines:
        """Return ``name == expression``."""
        parts = named_in(place, self.expressions, self.lexicon.names)
        infix = self.infix.with_names({part.place: part.name for part in parts})
        lines = self._let(parts, infix, infix.lines(place, ROOM))
        if len(lines) == 1 and len(name) + len(lines[0]) < WIDTH:
            return [f"{name} == {lines[0]}"]
        return [f"{name} ==", *hang("    ", lines)]

    def _let(self, parts: Sequence[Part], infix: Infix, lines: Lines) -> Lines:
        """Return the lines, with the definitions of their named parts before them."""
        found: Lines = []
        for part in parts:
            found += hang("    " if found else "LET ", hang(f"{part.name} == ", infix.body(part.place, ROOM - 15)))
        return [*found, *hang("IN  ", lines)] if parts else lines

    def _action(self, step: Step) -> Lines:
        parts = named_within(step, self.expressions, self.lexicon.names)
        infix = self.infix.with_names({part.place: part.name for part in parts})
        body: Lines = []
        for condition in step.conditions:
            body += hang("/\\ ", infix.lines(condition, ROOM))
        for change in step.changes:
            body += self._change(change, infix)
        same = self._same(step)
        if same:
            body += hang("/\\ UNCHANGED ", self._tuple(same))
        name = self.lexicon.action(step.action)
        return [
            *_comment(*self.lexicon.remarks(step.action)),
            f"{name} ==",
            *hang("    ", self._let(parts, infix, body)),
        ]

    def _same(self, step: Step) -> list[VariableGroup | Variable]:
        """Return the unchanged variables."""
        return self.whole.same(step.changed)

    def _change(self, change: Change, infix: Infix) -> Lines:
        if change.condition is None:
            return self._assignments(change, infix)
        if len(change.values) == 1:
            return self._conditional(change.condition, *change.values[0], infix)
        same = hang("UNCHANGED ", self._tuple(change.variables))
        condition = infix.lines(change.condition, ROOM)
        return hang("/\\ ", _broken_choice([(condition, self._assignments(change, infix))], same))

    def _assignments(self, change: Change, infix: Infix) -> Lines:
        found: Lines = []
        for variable, value in change.values:
            prefix = f"/\\ {self.lexicon.of(variable.name)}' = "
            found += hang(prefix, infix.lines(value, ROOM - len(prefix), self.lexicon.words.get(variable.name)))
        return found

    def _conditional(self, condition: int, variable: Variable, value: int, infix: Infix) -> Lines:
        name, words = self.lexicon.of(variable.name), self.lexicon.words.get(variable.name)
        prefix = f"/\\ {name}' = "
        text = prefix + _choice(infix.text(condition), infix.text(value, words), name)
        if len(text) <= ROOM:
            return [text]
        room = ROOM - len(prefix)
        case = infix.lines(condition, room), infix.lines(value, room, words)
        return hang(prefix, _broken_choice([case], [name]))

    def _properties(self) -> Iterator[Lines]:
        for name, place in self.lexicon.violated.items():
            operator = self._operator(self.lexicon.properties[name], self.expressions.negation(place))
            yield [*_comment(self.lexicon.about(name)), *operator]
        for name, place in self.lexicon.goals.items():
            means = "No invariant: from every reachable state such a state must be reachable without another fault."
            yield [*_comment(self.lexicon.about(name), means), *self._operator(self.lexicon.properties[name], place)]


def _comment(*remarks: str) -> Lines:
    return [f"\\* {line}" for remark in remarks for line in filled(remark, WIDTH - 5)]
