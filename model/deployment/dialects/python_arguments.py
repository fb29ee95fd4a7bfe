"""Python programs with kafka-python or aiokafka, whose settings are arguments: topics, and the handling of sends."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from proofka.model.deployment.consumer_rules import NULL_GROUP
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.python import Program, shown
from proofka.model.deployment.dialects.keys import AIOKAFKA, KAFKA_PYTHON
from proofka.model.deployment.dialects.written import Configured, Value

CLIENTS = {
    "kafka.KafkaProducer": (KAFKA_PYTHON, Role.PRODUCER),
    "kafka.KafkaConsumer": (KAFKA_PYTHON, Role.CONSUMER),
    "aiokafka.AIOKafkaProducer": (AIOKAFKA, Role.PRODUCER),
    "aiokafka.AIOKafkaConsumer": (AIOKAFKA, Role.CONSUMER),
}
LIBRARIES = (KAFKA_PYTHON, AIOKAFKA)
GROUP, ASSIGNORS = "group_id", "partition_assignment_strategy"
_ENDLESS = Value(str(2**31 - 1), "float('inf')")
_SENDS, _SENDS_AND_WAITS = "send", "send_and_wait"
_METHODS = (_SENDS, _SENDS_AND_WAITS, "subscribe", "assign")
_ASKS = frozenset(("get", "add_errback", "add_both", "exception", "failed", "succeeded", "add_done_callback", "result"))
"""Methods that a program calls on the future of a send to learn whether it failed."""


def is_class(name: str, full: str) -> bool:
    """Tell whether a name is the class, in its package or in a module of the package."""
    package, _, short = full.rpartition(".")
    return name.startswith(f"{package}.") and name.endswith(f".{short}")


def value_of(program: Program, key: str, node: ast.expr) -> Value:
    """Return the value of an argument: None counts for a group, an infinite time is a large number, and assignors are
    their names."""
    if key == GROUP and isinstance(node, ast.Constant) and node.value is None:
        return Value(NULL_GROUP, "None")
    if key == ASSIGNORS and isinstance(node, ast.List | ast.Tuple):
        names = ",".join(shown(one).rpartition(".")[2] for one in node.elts)
        return Value(names, shown(node))
    value = program.value(node)
    return _ENDLESS if value.text == "inf" else value


def complete(program: Program, configured: Iterable[Configured]) -> None:
    """Add the facts about these clients in the file besides their arguments."""
    own = [one for one in configured if one.library in LIBRARIES]
    if not own:
        return
    called = _called(program)
    sends = [call for method in (_SENDS, _SENDS_AND_WAITS) for call, _ in called[method]]
    after = _next_statements(program)
    waits = {library: all(_is_waited_for(program, call, library, after) for call in sends) for library in LIBRARIES}
    for one in own:
        alone = sum(other.library == one.library and other.roles == one.roles for other in own) == 1
        calls = {method: _of(one, every, alone=alone) for method, every in called.items()}
        if Role.CONSUMER in one.roles:
            _subscribes(program, one, (*calls["subscribe"], *calls["assign"]))
            _without_group(one)
        else:
            _sends(program, one, calls[_SENDS], calls[_SENDS_AND_WAITS], waits=waits[one.library])


def _called(program: Program) -> dict[str, list[tuple[ast.Call, str]]]:
    """Return the calls of the relevant methods, by method, each with the object that it is called on."""
    found: dict[str, list[tuple[ast.Call, str]]] = {method: [] for method in _METHODS}
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in found:
            found[node.func.attr].append((node, shown(node.func.value)))
    return found


def _next_statements(program: Program) -> dict[int, ast.stmt]:
    """Return the statement after each statement, in the same block."""
    found: dict[int, ast.stmt] = {}
    for node in ast.walk(program.tree):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list):
                found |= {id(one): behind for one, behind in pairwise(block)}
    return found


def _of(configured: Configured, every: Sequence[tuple[ast.Call, str]], *, alone: bool) -> list[ast.Call]:
    """Return the calls on the name of this client; if it is the only one of its kind, all calls."""
    own = [call for call, on in every if on == configured.name]
    return own if own or not alone else [call for call, _ in every]


def _without_group(consumer: Configured) -> None:
    """Add the consequences of a missing group: the consumer commits nothing, and starts by its reset policy."""
    told = {written.key: written for written in consumer.written}
    unknown = any(written.rejected for written in consumer.written)
    if unknown or (GROUP in told and told[GROUP].value.text != NULL_GROUP):
        return
    if GROUP not in told:
        consumer.rules[Role.CONSUMER] = {GROUP: (NULL_GROUP, f"default of {consumer.library}: None")}
    consumer.answers["commit"] = ("never", consumer.line)


def _subscribes(program: Program, consumer: Configured, calls: Iterable[ast.Call]) -> None:
    for call in calls:
        for argument in (*call.args[:1], *(one.value for one in call.keywords if one.arg == "topics")):
            items = argument.elts if isinstance(argument, ast.List | ast.Tuple | ast.Set) else (argument,)
            for item in items:
                first = item.args[0] if isinstance(item, ast.Call) and item.args else item
                _add_topic(program, consumer, first)


def _sends(
    program: Program, producer: Configured, calls: Sequence[ast.Call], waiting: Sequence[ast.Call], *, waits: bool
) -> None:
    """Add the topics of a producer, whether it waits for each send, and whether the program looks at the result.

    ``waits``: the file waits for every send, of whatever producer.
    """
    for call in (*calls, *waiting):
        for argument in (*call.args[:1], *(one.value for one in call.keywords if one.arg == "topic")):
            _add_topic(program, producer, argument)
    if not calls and not waiting:
        return
    first = min(call.lineno for call in (*calls, *waiting))
    if waits:
        producer.answers["sends"] = ("sync", first)
    if not waiting and all(_is_forgotten(program, call) for call in calls):
        producer.answers["on_send_error"] = ("ignore", first)


def _add_topic(program: Program, configured: Configured, node: ast.expr) -> None:
    topic = program.plain(node, 0)
    if isinstance(topic, str) and topic:
        configured.topics.append(topic)


def _is_waited_for(program: Program, call: ast.Call, library: str, after: Mapping[int, ast.stmt]) -> bool:
    """Tell whether the next statement runs only after the send: by get() on its future, or by awaiting it."""
    above = program.parents.get(id(call))
    if library == AIOKAFKA:
        waits = isinstance(above, ast.Await)
        if waits and isinstance(call.func, ast.Attribute) and call.func.attr == _SENDS:
            return isinstance(program.parents.get(id(above)), ast.Await)
        return waits
    if isinstance(above, ast.Attribute) and above.attr == "get":
        return True
    if not isinstance(above, ast.Assign) or len(above.targets) != 1:
        return False
    future, behind = shown(above.targets[0]), after.get(id(above))
    return behind is not None and any(
        isinstance(node, ast.Call) and shown(node.func) == f"{future}.get" for node in ast.walk(behind)
    )


def _is_forgotten(program: Program, call: ast.Call) -> bool:
    """Tell whether the program ignores the result of the send: nothing keeps, awaits or queries its future."""
    below: ast.AST = call
    above, awaits = program.parents.get(id(call)), 0
    while isinstance(above, ast.Attribute | ast.Call | ast.Await):
        awaits += isinstance(above, ast.Await)
        asks = isinstance(above, ast.Attribute) and above.attr in _ASKS
        passed_on = isinstance(above, ast.Call) and below is not above.func
        if asks or passed_on or awaits > 1:
            return False
        below, above = above, program.parents.get(id(above))
    return isinstance(above, ast.Expr)
