"""The values of Terraform expressions, as far as a file contains them: literals, its own locals, defaults of variables.

Nothing is executed or looked up. A value that depends on anything else stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from proofka.model.deployment.dialects.formats.hcl import Attribute, Block, Syntax
from proofka.model.deployment.dialects.formats.yaml import MOST_NODES, values_of
from proofka.model.deployment.dialects.nodes import under
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import are_equal
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.hiding import printable
from proofka.model.deployment.yaml_tree import Entry, Node, Scalar, Sequence
from proofka.model.deployment.yaml_tree import Mapping as Object

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", '\\"': '"', "\\\\": "\\"}
_ESCAPE = re.compile(r'\\[ntr"\\]|\$\$\{|%%\{')
_SIGNS = ("+", "-", "*", "/", "==", "!=")
_MOST_EVALUATIONS = 200_000
_LONGEST = 1_000_000


@dataclass(frozen=True)
class Unknown(Scalar):
    """A value that a file does not contain; its text is the expression in ``${...}``, without quoted texts."""


def unknown(syntax: Syntax) -> Unknown:
    """Return the unknown value of an expression that depends on values outside of the file."""
    return Unknown("${" + re.sub(r"[${}]", "", shown(syntax)) + "}", syntax.line)


def shown(syntax: Syntax) -> str:
    """Return an expression in the form that is shown: without quoted texts, which can be secrets."""
    return printable(_STRING.sub('"..."', " ".join(syntax.text[:2000].split())))


def is_unknown(node: Node) -> bool:
    """Tell whether some part of a value is unknown."""
    if isinstance(node, Scalar):
        return isinstance(node, Unknown) or "${" in node.text
    if isinstance(node, Sequence):
        return any(is_unknown(item) for item in node.items)
    return any(is_unknown(entry.node) for entry in node.entries)


@dataclass
class Values:
    """The names to which a file gives values: those of ``locals`` and ``variable`` blocks."""

    file: str
    locals: Mapping[str, Attribute] = field(default_factory=dict)
    variables: Mapping[str, Attribute] = field(default_factory=dict)
    fillings: Fillings = field(default_factory=dict)
    assigned: Mapping[str, Node] = field(default_factory=dict)
    """Variables to which another file assigns a value that outranks their default."""

    defaults: set[str] = field(default_factory=set)
    """Variables whose default was used."""

    repeated: dict[tuple[str, int], int] = field(default_factory=dict)
    """Keys that a map of the file repeats with another value, each with its line: the line of the repetition."""

    _known: dict[tuple[str, str], Node] = field(default_factory=dict)
    _sizes: dict[int, tuple[Node, int]] = field(default_factory=dict)
    _evaluations: int = 0

    def value(self, syntax: Syntax, names: Mapping[str, Node] | None = None) -> Node:
        """Return the value of an expression. ``names``: those that hold at its place, such as ``each.key``."""
        try:
            return self._value(syntax, names or {})
        except RecursionError:
            raise DeploymentError("is nested too deeply", file=self.file, line=syntax.line) from None

    def _value(self, syntax: Syntax, names: Mapping[str, Node]) -> Node:
        self._evaluations += 1
        if self._evaluations > _MOST_EVALUATIONS:
            raise DeploymentError("has too many values", file=self.file, line=syntax.line)
        reader = _READERS.get(syntax.kind)
        found = unknown(syntax) if reader is None else reader(self, syntax, names)
        if self._size(found) > MOST_NODES:
            raise DeploymentError(f"has more than {MOST_NODES} values", file=self.file, line=syntax.line)
        return found

    def _size(self, node: Node) -> int:
        if isinstance(node, Scalar):
            return 1 + len(node.text) // 1000
        known = self._sizes.get(id(node))
        if known is None:
            inner = node.items if isinstance(node, Sequence) else tuple(entry.node for entry in node.entries)
            # The node is kept with its size, so that no other node gets its place in memory.
            known = self._sizes[id(node)] = (node, 1 + sum(self._size(one) for one in inner))
        return known[1]

    def named(self, syntax: Syntax, names: Mapping[str, Node]) -> Node:
        """Return the value of a name and of the parts below it."""
        head, *rest = syntax.parts
        steps = [self._step(part, names) for part in rest]
        if any(step is None for step in steps):
            return unknown(syntax)
        path = [head.text, *(step for step in steps if step is not None)]
        for length in (2, 1):
            name = ".".join(path[:length])
            base = names.get(name) if len(path) >= length else None
            if base is None and length == 2 and len(path) >= 2:
                base = self._global(path[0], path[1], syntax.line)
            if base is not None:
                return self._below(base, path[length:], syntax)
        return unknown(syntax)

    def _step(self, part: Syntax, names: Mapping[str, Node]) -> str | None:
        if part.kind == "get_attr":
            name = part.first("identifier")
            return None if name is None else name.text
        index = part.first("new_index") if part.kind == "index" else None
        inner = None if index is None else index.first("expression")
        key = None if inner is None else self._value(inner, names)
        return key.text if isinstance(key, Scalar) and not is_unknown(key) else None

    def _below(self, node: Node, path: list[str], syntax: Syntax) -> Node:
        for name in path:
            if isinstance(node, Sequence) and name.isdecimal() and len(name) < 7 and int(name) < len(node.items):
                node = node.items[int(name)]
                continue
            found = under(node, name)
            if found is None:
                return unknown(syntax)
            node = found
        return node

    def _global(self, kind: str, name: str, line: int) -> Node | None:
        """Return a local value or the default of a variable; an unfinished one counts as unknown."""
        if kind == "var":
            for filled in (f"var.{name}", name):
                if filled in self.fillings:
                    return Scalar(self.fillings[filled], line)
            if name in self.assigned:
                return at_line(self.assigned[name], line)
            if name in self.variables:
                self.defaults.add(name)
        attribute = {"local": self.locals, "var": self.variables}.get(kind, {}).get(name)
        if attribute is None:
            return None
        key = (kind, name)
        if key not in self._known:
            self._known[key] = unknown(attribute.expression)
            self._known[key] = self._value(attribute.expression, {})
        return self._known[key]


def at_line(node: Node, line: int) -> Node:
    """Return the same value with that line, where the file names its owner."""
    if isinstance(node, Scalar):
        return replace(node, line=line)
    if isinstance(node, Sequence):
        return Sequence(tuple(at_line(item, line) for item in node.items), line)
    return Object(tuple(Entry(one.key, line, at_line(one.node, line)) for one in node.entries), line)


def values_in(root: Block, file: str, fillings: Fillings, assigned: Mapping[str, Node] | None = None) -> Values:
    """Return the names to which the blocks of a file give values."""
    local = {one.name: one for block in root.blocks if block.kind == "locals" for one in block.attributes}
    variables = {
        block.names[1]: one
        for block in root.blocks
        if block.kind == "variable" and len(block.names) == 2
        for one in block.attributes
        if one.name == "default"
    }
    return Values(file, local, variables, fillings, assigned or {})


def _expression(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> Node:
    inner = [part for part in syntax.parts if part.kind not in ("(", ")")]
    if inner and inner[0].kind == "variable_expr":
        return values.named(syntax, names)
    # An accessor is evaluated only after a name.
    return values._value(inner[0], names) if len(inner) == 1 else unknown(syntax)


def _literal(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> Node:
    inner = syntax.parts[0] if syntax.parts else syntax
    if inner.kind == "string_lit":
        return Scalar(_unescaped(inner.text[1:-1]), syntax.line)
    if inner.kind == "null_lit":
        return Scalar("", syntax.line, null=True)
    return Scalar(inner.text, syntax.line)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[0], found[0][1:]), text)


def _template(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> Node:
    """Return a text with expressions in it; unknown expressions remain as placeholders."""
    template = syntax.parts[0]
    if any(part.kind == "template_directive" for part in template.parts):
        return unknown(syntax)
    is_heredoc = template.kind == "heredoc_template"
    text = ""
    for gap, part in zip(template.gaps, template.parts, strict=False):
        text += gap
        if part.kind == "template_literal":
            text += part.text if is_heredoc else _unescaped(part.text)
        elif part.kind == "template_interpolation":
            inner = part.first("expression")
            found = unknown(part) if inner is None else values._value(inner, names)
            whole = isinstance(found, Scalar) and "\n" not in found.text
            text += found.text if isinstance(found, Scalar) and whole else unknown(part).text
        if len(text) > _LONGEST:
            raise DeploymentError("has a text that is too long", file=values.file, line=syntax.line)
    line = syntax.line
    if is_heredoc:
        # A heredoc's text begins in the line below its sign, and loses the indentation that all of its lines share.
        text = text.partition("\n")[2]
        line += 1
        if template.text.startswith("<<-"):
            blanks = [len(one) - len(one.lstrip()) for one in text.split("\n") if one.strip()]
            text = "\n".join(one[min(blanks, default=0) :] for one in text.split("\n"))
    return Unknown(text, line) if "${" in text and not is_heredoc else Scalar(text, line)


def _collection(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> Node:
    inner = syntax.parts[0]
    if inner.kind == "tuple":
        return Sequence(tuple(values._value(one, names) for one in inner.of("expression")), syntax.line)
    entries: list[Entry] = []
    for element in inner.of("object_elem"):
        key, value = tuple(element.of("expression"))[:2]
        entries.append(Entry(_key(values, key, names), key.line, values._value(value, names)))
    last = {entry.key: entry for entry in entries}
    for entry in [one for one in entries if one is not last[one.key]]:
        kept = last[entry.key]
        if not are_equal(values_of(entry.node, (entry.key,)), values_of(kept.node, (entry.key,))):
            values.repeated[entry.key, entry.line] = kept.line
    return Object(tuple(last.values()), syntax.line)


def _key(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> str:
    """Return the text of a key: a name is its own text, unless it is in parentheses."""
    if [part.kind for part in syntax.parts] == ["variable_expr"]:
        return syntax.text
    found = values._value(syntax, names)
    return found.text if isinstance(found, Scalar) else unknown(syntax).text


def _for(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> Node:
    """Return the value of a ``for`` over known values, without an unknown condition."""
    inner = syntax.parts[0]
    intro = inner.first("for_intro")
    source = None if intro is None else intro.first("expression")
    if intro is None or source is None or inner.first("ellipsis") is not None:
        return unknown(syntax)
    bound = [one.text for one in intro.of("identifier")]
    over = values._value(source, names)
    condition = inner.first("for_cond")
    test = None if condition is None else condition.first("expression")
    results = tuple(inner.of("expression"))
    entries: list[Entry] = []
    if isinstance(over, Scalar):
        return unknown(syntax)
    for key, item in _each(over):
        here = {**names, bound[-1]: item, **({bound[0]: Scalar(key, item.line)} if len(bound) == 2 else {})}
        holds = Scalar("true", syntax.line) if test is None else values._value(test, here)
        if not isinstance(holds, Scalar) or holds.text not in ("true", "false"):
            return unknown(syntax)
        if holds.text == "true":
            made = [values._value(result, here) for result in results]
            name = made[0].text if len(made) == 2 and isinstance(made[0], Scalar) else ""
            entries.append(Entry(name, item.line, made[-1]))
    if inner.kind == "for_tuple_expr":
        return Sequence(tuple(entry.node for entry in entries), syntax.line)
    if any("${" in entry.key for entry in entries):
        return unknown(syntax)
    return Object(tuple({entry.key: entry for entry in entries}.values()), syntax.line)


def _each(node: Node) -> Iterator[tuple[str, Node]]:
    if isinstance(node, Sequence):
        yield from ((str(at), item) for at, item in enumerate(node.items))
    elif isinstance(node, Object):
        yield from ((entry.key, entry.node) for entry in node.entries)


def _call(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> Node:
    name, arguments = syntax.first("identifier"), syntax.first("function_arguments")
    if name is None or (arguments is not None and arguments.first("ellipsis") is not None):
        return unknown(syntax)
    given = [values._value(one, names) for one in (arguments.of("expression") if arguments is not None else ())]
    if name.text in ("tostring", "tonumber", "tobool", "toset", "tolist", "tomap") and len(given) == 1:
        return given[0]
    if name.text == "merge" and all(isinstance(one, Object) for one in given):
        entries = {entry.key: entry for one in given if isinstance(one, Object) for entry in one.entries}
        return Object(tuple(entries.values()), syntax.line)
    if name.text == "concat" and all(isinstance(one, Sequence) for one in given):
        return Sequence(tuple(item for one in given if isinstance(one, Sequence) for item in one.items), syntax.line)
    if name.text == "lookup" and len(given) in (2, 3) and isinstance(given[0], Object):
        key = given[1]
        if isinstance(key, Scalar) and not is_unknown(key):
            found = under(given[0], key.text)
            return found if found is not None else (given[2] if len(given) == 3 else unknown(syntax))
    return unknown(syntax)


def _conditional(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> Node:
    test, yes, no = tuple(syntax.of("expression"))[:3]
    holds = values._value(test, names)
    if not isinstance(holds, Scalar) or holds.text not in ("true", "false"):
        return unknown(syntax)
    return values._value(yes if holds.text == "true" else no, names)


def _operation(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> Node:
    """Return the result of arithmetic with numbers, and of a comparison of two values."""
    inner = syntax.parts[0]
    at = next((at for at, part in enumerate(inner.parts) if part.kind in _SIGNS), None)
    if at is None:
        return unknown(syntax)
    sign, right = inner.parts[at].kind, _operand(values, inner.parts[at + 1 :], syntax, names)
    if inner.kind == "unary_operation":
        operand = _number(right)
        return Scalar(_text(-operand), syntax.line) if sign == "-" and operand is not None else unknown(syntax)
    left = _operand(values, inner.parts[:at], syntax, names)
    if sign in ("==", "!=") and isinstance(left, Scalar) and isinstance(right, Scalar):
        if is_unknown(left) or is_unknown(right):
            return unknown(syntax)
        return Scalar(str((left.text == right.text) == (sign == "==")).lower(), syntax.line)
    one, other = _number(left), _number(right)
    if one is None or other is None or sign in ("==", "!=") or (sign == "/" and other == 0):
        return unknown(syntax)
    if sign == "/":
        return Scalar(_text(one / other), syntax.line)
    return Scalar(_text({"+": one + other, "-": one - other, "*": one * other}[sign]), syntax.line)


def _operand(values: Values, parts: tuple[Syntax, ...], syntax: Syntax, names: Mapping[str, Node]) -> Node:
    """Return the value beside an operator: a name with its parts has no enclosing expression there."""
    if parts and parts[0].kind == "variable_expr":
        return values.named(replace(syntax, parts=parts), names)
    return values._value(parts[0], names) if len(parts) == 1 else unknown(syntax)


def _number(node: Node) -> Fraction | None:
    if not isinstance(node, Scalar) or re.fullmatch(r"-?\d{1,20}(\.\d{1,20})?", node.text, re.ASCII) is None:
        return None
    return Fraction(node.text)


def _text(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else str(float(number))


def _variable(values: Values, syntax: Syntax, names: Mapping[str, Node]) -> Node:
    return values.named(replace(syntax, parts=(syntax,)), names)


_READERS: Mapping[str, Callable[[Values, Syntax, Mapping[str, Node]], Node]] = {
    "expression": _expression,
    "literal_value": _literal,
    "template_expr": _template,
    "collection_value": _collection,
    "for_expr": _for,
    "function_call": _call,
    "conditional": _conditional,
    "operation": _operation,
    "variable_expr": _variable,
}
