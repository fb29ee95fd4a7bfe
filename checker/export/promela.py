"""A system as a Promela model for SPIN: one process, and one atomic step for each action, so SPIN stores each state
once.

Reference: Holzmann, *The SPIN Model Checker*, chapter 3 and the manual pages of d_step and hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofka.checker.export.assignments import Sequencer
from proofka.checker.export.exported import Exported
from proofka.checker.export.expressions import Op
from proofka.checker.export.infix import WIDTH, Dialect, Infix, Lines, hang
from proofka.checker.export.lexicon import Lexicon
from proofka.checker.export.names import file_stem, snake_case
from proofka.checker.export.notes import displayed_in, filled
from proofka.checker.export.parts import Part, named_in, named_within
from proofka.checker.export.reserved import PROMELA_RESERVED
from proofka.checker.export.steps import Change, Step, step_of
from proofka.model.language import Variable

ROOM = WIDTH - 15
BRIEF = 75
"""Largest length of a case of a choice on one line."""
VECTOR = 900
"""Bytes for variables in SPIN's state vector by default."""


def _choice(condition: str, then: str, otherwise: str) -> str:
    return f"({condition} -> {then} : {otherwise})"


def _broken_choice(cases: Sequence[tuple[Lines, Lines]], otherwise: Lines) -> Lines:
    found: Lines = []
    for condition, then in cases:
        found += hang(" : (" if found else "(", condition)
        if len(condition) == len(then) == 1 and len(found[-1] + then[0]) <= BRIEF:
            found[-1] += f" -> {then[0]}"
        else:
            found += hang("    -> ", then)
    return [*found, *hang(" : ", otherwise, ")" * len(cases))]


DIALECT = Dialect(
    operators={
        Op.AND: "&&",
        Op.OR: "||",
        Op.SAME: "==",
        Op.EQUAL: "==",
        Op.DIFFERENT: "!=",
        Op.LESS: "<",
        Op.AT_MOST: "<=",
        Op.GREATER: ">",
        Op.AT_LEAST: ">=",
        Op.TIMES: "*",
    },
    truths=("false", "true"),
    negates="!",
    chooses=_choice,
    breaks_choice=_broken_choice,
    bullets=False,
    implies=None,
    choice_needs_parentheses=False,
)

TYPES = (
    ("bit", 0, 1, 1),
    ("byte", 0, 255, 1),
    ("short", -(1 << 15), (1 << 15) - 1, 2),
    ("int", -(1 << 31), 1 << 31, 4),
)
"""Each type with its lowest and highest value, and its size."""


class PromelaModel:
    """The text of a model."""

    def __init__(self, exported: Exported) -> None:
        self.name = file_stem(exported.name)
        self.exported = exported
        self.variables = exported.system.variables
        self.lexicon = Lexicon(
            exported, PROMELA_RESERVED, call_word=lambda word: word.upper(), call_property=snake_case
        )
        self.process = self.lexicon.names.take("pipeline")
        self.expressions = self.lexicon.expressions
        self.infix = Infix(DIALECT, self.expressions, self.lexicon.of, self.lexicon.words)
        self.steps = [step_of(action, self.variables, self.expressions) for action in exported.system.actions]
        self.hidden: dict[str, str] = {}
        """The variables that are used only within a step, with their types."""

    def text(self) -> str:
        """Return the model."""
        actions = [line for step in self.steps for line in self._action(step)]
        sections: list[Lines] = [
            self._head(),
            [f"#define {word} {value}" for word, value in self.lexicon.constants.items()],
            list(self._declarations()),
            list(self._hidden()),
            *(self._definition(place) for place in self.lexicon.used_definitions(self.steps)),
            *self._properties(),
            [f"active proctype {self.process}()", "{", "    do", *actions, *self._assertions(), "    od", "}"],
        ]
        return "\n\n".join("\n".join(section) for section in sections if section) + "\n"

    def _head(self) -> Lines:
        """Return the heading: the purpose of the file, and the commands to run it."""
        size = sum(_type(variable)[1] for variable in self.variables)
        vector = f" -DVECTORSZ={size + 124}" if size > VECTOR else ""
        remarks = [
            *(line for remark in self.exported.comment for line in filled(remark, WIDTH - 5)),
            "",
            "To count the states (without -o2 SPIN counts too few; -fno-thread-jumps spares gcc minutes):",
            f"    spin -o2 -a {self.name}.pml",
            f"    gcc -O2 -fno-thread-jumps -DSAFETY -DNOREDUCE{vector} -o pan pan.c",
            "    ./pan -E -m10000000",
            *(self._searching(vector) if self.exported.violated else ()),
        ]
        return ["/*", *(f" * {remark}".rstrip() for remark in remarks), " */"]

    def _searching(self, vector: str) -> Iterator[str]:
        asserted = f"-DASSERT_{self.lexicon.properties[next(iter(self.exported.violated))].upper()}"
        yield "To find a shortest run to a violation of a property, and to follow it:"
        yield f"    spin -o2 -a {asserted} {self.name}.pml"
        yield f"    gcc -O2 -fno-thread-jumps -DSAFETY -DNOREDUCE -DREACH{vector} -o pan pan.c"
        yield "    ./pan -E -i -m100000"
        yield f"    spin -t -p -g {asserted} {self.name}.pml"

    def _declarations(self) -> Iterator[str]:
        notes = displayed_in(self.exported.system)
        written = [
            f"{_type(variable)[0]} {self.lexicon.of(variable.name)} = {self._initial(variable)};"
            for variable in self.variables
        ]
        width = max(map(len, written), default=0)
        for variable, declaration in zip(self.variables, written, strict=True):
            note = f", {notes[variable.name]}" if variable.name in notes else ""
            yield f"{declaration:{width}} /* {variable.low}..{variable.high}{note} */"

    def _initial(self, variable: Variable) -> str:
        return self.lexicon.words.get(variable.name, {}).get(variable.initial, str(variable.initial))

    def _hidden(self) -> Iterator[str]:
        if self.hidden:
            yield "/* Used within one step only: no part of the state. */"
            yield from (f"hidden {kind} {name};" for name, kind in sorted(self.hidden.items()))

    def _definition(self, place: int) -> Lines:
        definition = self.lexicon.definitions[place]
        body = self.expressions.nodes[place].children[0]
        return [*_comment(definition.comment), *self._macro(self.lexicon.defined[definition.name], body)]

    def _macro(self, name: str, place: int) -> Lines:
        """Return ``#define name (expression)``, after its large parts."""
        parts = named_in(place, self.expressions, self.lexicon.names)
        named = self._named(name, parts)
        infix = self.infix.with_names(named)
        found: Lines = []
        for part in (*parts, Part(name, place)):
            found += _define(named.get(part.place, name), _enclosed(infix.body(part.place, ROOM)))
        return found

    def _named(self, prefix: str, parts: Sequence[Part]) -> dict[int, str]:
        return {part.place: self.lexicon.names.take(f"{prefix}_{part.name}") for part in parts}

    def _action(self, step: Step) -> Lines:
        parts = named_within(step, self.expressions, self.lexicon.names)
        name = self.lexicon.action(step.action)
        in_guard = self._occurring(step.conditions)
        macros = self._named(name, [part for part in parts if part.place in in_guard])
        held = {part.place: part.name for part in parts if part.place not in macros}
        infix = self.infix.with_names({**macros, **held})
        found = _comment(name, *self.lexicon.remarks(step.action))
        for place, macro in macros.items():
            found += _define(macro, _enclosed(infix.body(place, ROOM)))
        body: Lines = []
        for place, hidden in held.items():
            self.hidden[hidden] = "byte" if self.expressions.is_truth(place) else "int"
            body += hang(f"{hidden} = ", _whole(infix.body(place, ROOM)), ";")
        early, assignments = self._assignments(step, infix, held)
        guard = self.expressions.all_of(step.conditions)
        found += hang(":: d_step { ", _whole(infix.lines(guard, ROOM)), " ->")
        found += hang("       ", _ended([*body, *early, *assignments] or ["skip"]))
        return hang("    ", [*found, "   }"])

    def _occurring(self, roots: Sequence[int]) -> set[int]:
        """Return all parts of these expressions, without the parts of named ones."""
        found: set[int] = set()
        pending = list(roots)
        while pending:
            place = pending.pop()
            if place not in found:
                found.add(place)
                node = self.expressions.nodes[place]
                pending += node.children if node.op is not Op.NAMED else ()
        return found

    def _assignments(self, step: Step, infix: Infix, held: dict[int, str]) -> tuple[Lines, Lines]:
        """Return the new values that must be computed first, and the assignments in their order."""
        early: Lines = []
        found: Lines = []
        for one in Sequencer(self.expressions, held).sequence(step.changes):
            if not one.early:
                found += self._change(one.change, infix)
                continue
            ((variable, value),) = one.change.values
            name = f"new_{variable.name}"
            if held.get(value) != name or one.change.condition is not None:
                own = self.expressions.read(variable.term)
                condition = one.change.condition
                whole = value if condition is None else self.expressions.choice(condition, value, own)
                self.hidden[name] = "int"
                early += self._assignment(name, variable, whole, infix)
            found.append(f"{self.lexicon.of(variable.name)} = {name};")
        return early, found

    def _change(self, change: Change, infix: Infix) -> Lines:
        assignments: Lines = []
        for variable, value in change.values:
            assignments += self._assignment(self.lexicon.of(variable.name), variable, value, infix)
        if change.condition is None:
            return assignments
        condition = _whole(infix.lines(change.condition, ROOM))
        text = f"if :: {condition[0]} -> {' '.join(_ended(assignments))} :: else fi;"
        if len(condition) == len(assignments) == 1 and len(text) <= ROOM:
            return [text]
        return ["if", *hang(":: ", condition, " ->"), *hang("       ", _ended(assignments)), ":: else", "fi;"]

    def _assignment(self, name: str, variable: Variable, value: int, infix: Infix) -> Lines:
        prefix = f"{name} = "
        lines = infix.lines(value, ROOM - len(prefix), self.lexicon.words.get(variable.name))
        return hang(prefix, _whole(lines), ";")

    def _properties(self) -> Iterator[Lines]:
        for name, place in self.lexicon.violated.items():
            macro = self._macro(self.lexicon.properties[name], self.expressions.negation(place))
            yield [*_comment(self.lexicon.about(name)), *macro]
        for name, place in self.lexicon.goals.items():
            means = "No invariant: from every reachable state such a state must be reachable without another fault."
            yield [*_comment(self.lexicon.about(name), means), *self._macro(self.lexicon.properties[name], place)]

    def _assertions(self) -> Iterator[str]:
        """Yield, for each property, a step that is enabled only in violating states, included only on demand."""
        for name in self.exported.violated:
            macro = self.lexicon.properties[name]
            yield f"#ifdef ASSERT_{macro.upper()}"
            yield f"    :: d_step {{ !{macro} -> assert({macro}) }}"
            yield "#endif"


def _type(variable: Variable) -> tuple[str, int]:
    """Return the smallest type for a variable's domain, and its size."""
    for name, low, high, size in TYPES:
        if low <= variable.low and variable.high <= high:
            return name, size
    raise ValueError(f"{variable.name} has values that no type of Promela holds")


def _define(name: str, lines: Lines) -> Lines:
    short = len(lines) == 1 and len(name) + len(lines[0]) < WIDTH - 10
    first = [f"#define {name} {lines[0]}"] if short else [f"#define {name}", *hang("    ", lines)]
    return [*(f"{line} \\" for line in first[:-1]), first[-1]]


def _whole(lines: Lines) -> Lines:
    """Return the lines as one expression.

    Outside parentheses, SPIN interprets the end of a line as the end of a statement.
    """
    return lines if len(lines) == 1 else _enclosed(lines)


def _enclosed(lines: Lines) -> Lines:
    """Return the lines in parentheses, without adding a second pair."""
    depth = 0
    text = "".join(lines)
    for number, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and (number < len(text) - 1 or character != ")"):
            return hang("(", lines, ")")
    return lines


def _ended(lines: Lines) -> Lines:
    """Return statements without the separator behind the last."""
    return [*lines[:-1], lines[-1].removesuffix(";")]


def _comment(*remarks: str) -> Lines:
    lines = [line for remark in remarks for line in filled(remark, WIDTH - 5)]
    if len(lines) == 1:
        return [f"/* {lines[0]} */"]
    return [f"/* {lines[0]}", *(f" * {line}" for line in lines[1:-1]), f" * {lines[-1]} */"]
