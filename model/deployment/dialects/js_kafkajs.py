"""KafkaJS in JavaScript programs: the options of its clients, sends, subscriptions and runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.javascript import Program
from proofka.model.deployment.dialects.formats.syntax import all_of, line_of, named, text_of
from proofka.model.deployment.dialects.js_objects import FUNCTIONS, WRAPPED, Objects
from proofka.model.deployment.dialects.keys import KAFKAJS
from proofka.model.deployment.dialects.written import Configured, Value, Written, check_number

if TYPE_CHECKING:
    from tree_sitter import Node

ROLES = {"producer": Role.PRODUCER, "consumer": Role.CONSUMER}
CALLS = {"send": Role.PRODUCER, "sendBatch": Role.PRODUCER, "subscribe": Role.CONSUMER, "run": Role.CONSUMER}
_PLAIN = ("topic", "topics", "messages", "topicMessages", "eachMessage", "eachBatch", "key", "value", "headers")
_OF_CALLS = {
    "send": ("acks", "timeout", "compression", "messages"),
    "sendBatch": ("acks", "timeout", "compression", "topicMessages"),
    "subscribe": ("topic", "topics", "fromBeginning"),
    "run": ("autoCommit", "eachMessage", "eachBatch"),
}
"""Keys of the object that such a call gets; other calls of the same name rarely have them."""

SECURITY = ("ssl", "sasl")
INSIDE = {"retry": "retry."}
INSIDE_CLIENT = {"retry": "client.retry.", "ssl": "ssl.", "sasl": "sasl."}
NO_DELIVERY = "does not change which deliveries are possible"
UNSAFE = "security does not change delivery; every request is assumed to be authorised"
ELSEWHERE = "the options of its client are not in this file"
DIFFERENT = "differs between the calls of {}"

GIVEN_ELSEWHERE = "the options of {}() are not in this file"
SENDS_ELSEWHERE = "the options of send() (acks, timeout) are not in this file: KafkaJS's defaults are assumed"
CALLED_AGAIN = (
    "a handler that throws is called again with the same record; for a handler that catches its errors and skips "
    "the record, use --assume on_processing_error=skip"
)


def clients(program: Program, makers: Iterable[Node]) -> Iterator[Configured]:
    """Yield every producer and consumer that a file makes. ``makers``: the places where it makes clients (``new
    Kafka()``)."""
    made = _Clients(program, list(makers))
    found: list[Configured] = []
    for node in all_of(program.root, "call_expression"):
        maker = node.child_by_field_name("function")
        method = text_of(maker.child_by_field_name("property")) if maker is not None else ""
        if maker is not None and maker.type == "member_expression" and method in ROLES:
            check_number(len(found) + 1, program.file, line_of(node))
            found.append(made.one(node, maker, method))
    _Calls(program, found).read()
    yield from found
    yield from made.unused()


def target_of(node: Node) -> str:
    """Return the name of an expression's target: a variable, a field, a name in an object; empty if there is none."""
    above = node.parent
    while above is not None and above.type in (*WRAPPED, "await_expression", "assignment_expression"):
        if above.type == "assignment_expression":
            return text_of(above.child_by_field_name("left"))
        above = above.parent
    if above is None:
        return ""
    if above.type in ("public_field_definition", "field_definition"):
        name = above.child_by_field_name("name") or above.child_by_field_name("property")
        return f"this.{text_of(name)}"
    return text_of(above.child_by_field_name("name")) if above.type == "variable_declarator" else ""


def of_client(program: Program, node: Node, arguments: list[Node]) -> list[Written]:
    """Return the options of ``new Kafka()``, under the names that a producer and a consumer have for them."""
    reading = Configured("", line_of(node), KAFKAJS)
    objects = Objects(program, reading, node, INSIDE_CLIENT, binding=False)
    for argument in arguments[:1]:
        objects.take(argument)
    return [_of_client(one) for one in reading.written]


def _of_client(one: Written) -> Written:
    if one.key.partition(".")[0] in SECURITY:
        return replace(one, value=Value("", ""), only_if="", ignored=UNSAFE, rejected="")
    return replace(one, ignored=NO_DELIVERY) if one.key in ("brokers", "logCreator", "socketFactory") else one


class _Clients:
    """The options of each ``new Kafka()``, by the name that holds the client."""

    def __init__(self, program: Program, makers: list[Node]) -> None:
        self._program = program
        self._given: dict[int, tuple[Node, list[Written]]] = {}
        self._named: dict[str, list[int]] = {}
        self._used: set[int] = set()
        for node in makers:
            self._given[node.id] = (node, of_client(program, node, named(node.child_by_field_name("arguments"))))
            self._named.setdefault(target_of(node), []).append(node.id)

    def one(self, node: Node, maker: Node, method: str) -> Configured:
        """Return the producer or consumer that a call makes."""
        name = target_of(node) or method
        configured = Configured(name, line_of(node), KAFKAJS, roles={ROLES[method]})
        number = self._client(maker.child_by_field_name("object"))
        if number is None:
            rejected = Written("client", line_of(node), Value(None, ""), rejected=ELSEWHERE)
            configured.written.append(rejected)
        else:
            self._used.add(number)
            configured.written += self._given[number][1]
        objects = Objects(self._program, configured, node, INSIDE, binding=False)
        for argument in named(node.child_by_field_name("arguments"))[:1]:
            objects.take(argument)
        return configured

    def _client(self, node: Node | None) -> int | None:
        """Return the client of a name; if the name is unknown, the only client of the file."""
        while node is not None and node.type in (*WRAPPED, "non_null_expression") and named(node):
            node = named(node)[0]
        if node is not None and node.id in self._given:
            return node.id
        text = text_of(node)
        numbers = self._named.get(text) or self._named.get(f"this.{text}") or list(self._given)
        return numbers[0] if len(numbers) == 1 else None

    def unused(self) -> Iterator[Configured]:
        """Yield clients that make nothing in this file: their options belong to producers and consumers elsewhere."""
        for number, (node, written) in self._given.items():
            if number not in self._used:
                yield Configured(target_of(node) or "Kafka", line_of(node), KAFKAJS, written)


class _Calls:
    """The options of each ``send()``, ``subscribe()`` and ``run()``, which must be equal in every call."""

    def __init__(self, program: Program, found: list[Configured]) -> None:
        self._program = program
        self._found = found
        self._said: dict[int, list[tuple[str, Configured]]] = {}

    def read(self) -> None:
        """Add the options to the producers and consumers of the file; options without an owner become a client of their
        own."""
        for node in all_of(self._program.root, "call_expression"):
            maker = node.child_by_field_name("function")
            if maker is None or maker.type != "member_expression":
                continue
            method = text_of(maker.child_by_field_name("property"))
            arguments = named(node.child_by_field_name("arguments"))
            if method in CALLS and len(arguments) == 1 and self._is_of_kafkajs(method, arguments[0]):
                said = Configured(method, line_of(node), KAFKAJS)
                Objects(self._program, said, node, binding=False).take(arguments[0])
                owner = self._owner(maker.child_by_field_name("object"), CALLS[method])
                if owner is None:
                    owner = Configured(f"{method}()", line_of(node), KAFKAJS, roles={CALLS[method]})
                    owner.written.append(Written("client", line_of(node), Value(None, ""), rejected=ELSEWHERE))
                    self._found.append(owner)
                    check_number(len(self._found), self._program.file, line_of(node))
                self._said.setdefault(id(owner), []).append((method, said))
                self._note_topics(owner, arguments[0])
            elif method in CALLS and len(arguments) == 1:
                self._unread(node, method, maker, arguments[0])
        for owner in self._found:
            calls = self._said.get(id(owner), [])
            self._put(owner, calls)
            if Role.PRODUCER in owner.roles and not calls and not any(one.key in CALLS for one in owner.written):
                owner.notes.append(SENDS_ELSEWHERE)
            for method, one in calls:
                if method == "run":
                    owner.answers["on_processing_error"] = ("retry", one.line)
                    owner.notes.append(CALLED_AGAIN)

    def _unread(self, node: Node, method: str, maker: Node, argument: Node) -> None:
        """Reject a call of a producer or consumer of this file whose options are not in the file."""
        target = text_of(maker.child_by_field_name("object")).rstrip("?!")
        exact = [one for one in self._found if CALLS[method] in one.roles and target in (one.name, f"this.{one.name}")]
        if exact and Objects(self._program, Configured("", 0, KAFKAJS), argument).object_of(argument) is None:
            told = Written(method, line_of(node), Value(None, ""), rejected=GIVEN_ELSEWHERE.format(method))
            exact[0].written.append(told)

    def _is_of_kafkajs(self, method: str, argument: Node) -> bool:
        reading = Objects(self._program, Configured("", 0, KAFKAJS), argument)
        inner = reading.object_of(argument)
        if inner is None:
            return False
        pairs = (one.child_by_field_name("key") or one.child_by_field_name("name") or one for one in named(inner))
        return any(text_of(one).strip("'\"") in _OF_CALLS[method] for one in pairs)

    def _owner(self, node: Node | None, role: Role) -> Configured | None:
        text = text_of(node).rstrip("?!")
        ones = [one for one in self._found if role in one.roles]
        exact = [one for one in ones if text in (one.name, f"this.{one.name}")]
        for choice in (exact, ones):
            if len(choice) == 1:
                return choice[0]
        return None

    def _put(self, owner: Configured, said: list[tuple[str, Configured]]) -> None:
        """Add the options that are equal in all calls; reject those that only some calls have, or that differ."""
        for kind in ({"send", "sendBatch"}, {"subscribe"}, {"run"}):
            calls = [one for method, one in said if method in kind]
            keys = dict.fromkeys(written.key for one in calls for written in one.written)
            for key in keys:
                each = [[written for written in one.written if written.key == key] for one in calls]
                alike = len({tuple(w.value.text or w.value.shown for w in one) for one in each}) == 1
                for written in (w for one in each for w in one):
                    if key in _PLAIN:
                        continue
                    reason = "" if alike or written.ignored else DIFFERENT.format("() and ".join(sorted(kind)) + "()")
                    owner.written.append(replace(written, rejected=written.rejected or reason))

    def _note_topics(self, owner: Configured, argument: Node) -> None:
        inner = Objects(self._program, Configured("", 0, KAFKAJS), argument).object_of(argument)
        for pair in named(inner):
            key = pair.child_by_field_name("key") or pair
            if text_of(key).strip("'\"") not in ("topic", "topics"):
                continue
            value = pair.child_by_field_name("value") or pair
            for item in named(value) if value is not None and value.type == "array" else [value]:
                said = self._program.value(item) if item is not None and item.type not in FUNCTIONS else None
                if said is not None and said.known and said.text:
                    owner.topics.append(said.text)
