"""Python programs: dictionaries for confluent-kafka."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.model.deployment.dialects import python_source
from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "Python source"
SHOP = """import os
from confluent_kafka import Consumer, Producer

ACKS = "all"

base = {
    "bootstrap.servers": os.environ["BROKERS"],
    "sasl.password": "hush",
}
conf = {**base, "acks": ACKS, "retries": 2 + 1, 'default.topic.config': {'message.timeout.ms': 5 * 1000}}
if os.environ.get("SAFE"):
    conf["enable.idempotence"] = True
conf.update({"linger.ms": 10})

if __name__ == "__main__":
    producer = Producer(conf, logger=log)
    producer.produce("orders", b"1")
    consumer = Consumer({
        "group.id": f"group-{ACKS}",
        "enable.auto.commit": False,
        "auto.offset.reset": os.getenv("RESET", "earliest"),
        "session.timeout.ms": read_it(),
        "error_cb": print,
        "debug": None,
    })
    consumer.subscribe(["orders", "bills"])
"""


def reasons(found: Found) -> dict[str, str]:
    """Return the reason for which each value is in no component."""
    return {one.given.key: one.reason for one in (*found.ignored, *found.rejected)}


def py(body: str, first: str = "from confluent_kafka import Producer, Consumer") -> Found:
    """Return the content of a file."""
    return read_text(f"{first}\n{body}\n", "a.py", dialect=NAME)


def test_dictionaries_through_names_and_updates() -> None:
    found = read_text(SHOP, "shop.py", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "sasl.password": "hush",
        "acks": "all",
        "retries": "3",
        "message.timeout.ms": "5000",
        "linger.ms": "10",
    }
    assert values(found, Role.CONSUMER) == {
        "group.id": "group-all",
        "enable.auto.commit": "false",
        "auto.offset.reset": "earliest",
    }
    assert {one.given.key: one.reason for one in found.rejected} == {
        "enable.idempotence": 'is set only if os.environ.get("...")',
        "session.timeout.ms": "its value is not in this file: read_it()",
    }
    assert {one.given.key for one in found.ignored} == {"bootstrap.servers", "logger", "error_cb", "debug"}
    producer, consumer = found.components
    assert producer.topics == ("orders",) and consumer.topics == ("orders", "bills")
    assert {one.client.value for one in found.components if one.client} == {"librdkafka"}
    assert "hush" not in str(found.ignored + found.rejected)


def test_environment_variable_with_a_given_value_is_filled_in() -> None:
    found = read_text(SHOP, "shop.py", {"RESET": "error", "BROKERS": "kafka:9092"})
    assert values(found, Role.CONSUMER)["auto.offset.reset"] == "error"
    assert values(found, Role.PRODUCER)["bootstrap.servers"] == "kafka:9092"


def test_producer_without_delivery_reports_ignores_send_errors() -> None:
    plain, asks = py("p = Producer({'acks': 1})\np.produce('t', b'')"), "p.produce('t', b'', on_delivery=f)"
    assert plain.components[0].application["on_send_error"].value == "ignore"
    assert not py(f"p = Producer({{'acks': 1}})\n{asks}").components[0].application
    assert not py("p = Producer({'acks': 1})").components[0].application
    assert not py("p = Producer({'transactional.id': 'x'})\np.produce('t', b'')").components[0].application


def test_offsets_in_a_transaction() -> None:
    text = (
        "c = Consumer({'group.id': 'g'})\np = Producer({'transactional.id': 't'})\np.send_offsets_to_transaction(o, m)"
    )
    assert py(text).by_role[Role.CONSUMER][0].application["sink"].value == "kafka"


@pytest.mark.parametrize("argument", ["conf", "load('x')", "self.conf", "{**other}", "json.load(f)"])
def test_settings_from_elsewhere_are_rejected(argument: str) -> None:
    found = py(f"def f(conf):\n    return Producer({argument})")
    assert [one.given.key for one in found.rejected] == ["settings"]


def test_dictionary_returned_by_a_function_of_the_file_is_read() -> None:
    text = "def conf(a):\n    c = {'acks': 1}\n    c['retries'] = a\n    return c\nProducer(conf(3))"
    found = py(text)
    assert values(found, Role.PRODUCER) == {"acks": "1"} and reasons(found)["retries"].endswith(": a")
    text = "def more(c):\n    c.update({'acks': 0})\n    return c\nProducer(more({'retries': 5}))"
    assert values(py(text), Role.PRODUCER) == {"retries": "5", "acks": "0"}


def test_other_files_are_not_taken() -> None:
    assert not python_source.fits(Document("a.py", "import kafkaesque\nfrom json import loads\n"))


def test_broken_files_are_one_line() -> None:
    with pytest.raises(DeploymentError, match=r"a\.py:2: is not valid Python 3"):
        py("print 'x'")
    with pytest.raises(DeploymentError, match="not valid Python 3"):
        py("x = " + "(" * 5000)
    with pytest.raises(DeploymentError, match="not valid Python 3"):
        py("x = " + "-" * 100_000 + "1")


def test_a_dictionary_that_holds_itself_ends() -> None:
    assert py("a = {**b}\nb = {**a}\np = Producer(a)\n").components


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_but_an_error_of_ours(data: st.DataObject) -> None:
    at, to = sorted(data.draw(st.tuples(*[st.integers(60, len(SHOP))] * 2)))
    words = st.sampled_from(
        ["conf", " = ", "(", ")", "{", "}", "\n", "**", "'", ".update", "[", "]", ":", ",", "\0", "f'"]
    )
    text = SHOP[:at] + "".join(data.draw(st.lists(words, max_size=6))) + SHOP[to:]
    try:
        python_source.read(Document("a.py", text), {})
    except DeploymentError as error:
        assert "\n" not in str(error)


def test_repeatedly_doubled_texts_are_rejected_quickly() -> None:
    doubled = "".join(f"a{n} = a{n - 1} + a{n - 1}\n" for n in range(1, 40))
    text = f'from confluent_kafka import Producer\na0 = "12345678"\n{doubled}Producer({{"acks": a39}})\n'
    assert [one.reason for one in read_text(text, "a.py").rejected] == ["its value is not in this file: a39"]
    text = 'from confluent_kafka import Producer\na = f"{a}{a}"\nProducer({"acks": a})\n'
    assert [one.reason for one in read_text(text, "a.py").rejected] == ["its value is not in this file: a"]
