"""Program expressions in messages: a message shows names and calls, and none of the texts in them."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Found
from tests.model.deployment.dialects.accounting import read_text

GO = """package main
import ("os"; "github.com/confluentinc/confluent-kafka-go/v2/kafka")
func main() {
  c := kafka.ConfigMap{"acks": BODY}
  kafka.NewProducer(&c)
}
"""
JAVA = """import org.apache.kafka.clients.producer.*;
class A { void a() {
  Properties p = new Properties();
  p.put("acks", BODY);
  new KafkaProducer(p);
} }
"""
JS = "const K = require('node-rdkafka');\nconst p = new K.Producer({'acks': BODY});\n"
PYTHON = "import os\nfrom confluent_kafka import Producer\np = Producer({'acks': BODY})\n"


def said(text: str, name: str) -> str:
    """Return every reason of the file."""
    found: Found = read_text(text, name)
    assert found.rejected
    return " ".join(one.reason for one in found.rejected)


@pytest.mark.parametrize(
    ("program", "name", "expression", "form"),
    [
        (GO, "a.go", 'login("u", "hush", `hush`, \'h\')', 'login("...", "...", "...", "...")'),
        (JAVA, "A.java", "login(\"hush\" /* don't */, 'h')", 'login("..." , "...")'),
        (JS, "a.js", "login('hush', `hush ${user}`, /'/.test('hush'))", 'login("...", "...", "...".test("..."))'),
        (PYTHON, "a.py", "login('hush', f'hush{user}', b'hush', key='hush')", 'login("...", "...", "...", key="...")'),
        (
            PYTHON,
            "a.py",
            "login(user, host, port, database, schema, table, column, order, row)",
            "login(user, host, port, ",
        ),
    ],
)
def test_expressions_are_shown_without_their_texts(program: str, name: str, expression: str, form: str) -> None:
    reasons = said(program.replace("BODY", expression), name)
    assert f"its value is not in this file: {form}" in reasons
    assert "hush" not in reasons and ", at" not in reasons


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from confluent_kafka import Producer\np = Producer(make('u', password='hush'))\n", "a.py"),
        ("from confluent_kafka import Producer\nc = {'acks': 1, x['hush']: 2}\np = Producer(c)\n", "a.py"),
        ("from confluent_kafka import Producer\nc = {}\nif t == 'hush':\n    c['acks'] = 0\nProducer(c)\n", "a.py"),
        ("from confluent_kafka.admin import NewTopic\nNewTopic('t', 1, 1, config=make('hush'))\n", "a.py"),
        (JS.replace("{'acks': BODY}", "make('hush')"), "a.js"),
        (JS.replace("'acks': BODY", "[name('hush')]: 1"), "a.js"),
        (JAVA.replace("p.put", 'if (t.equals("hush")) p.put').replace("BODY", '"0"'), "A.java"),
        (GO.replace("kafka.New", 'if t == "hush" { c["acks"] = 0 }; kafka.New').replace("BODY", '"all"'), "a.go"),
    ],
)
def test_nor_are_those_of_settings_names_and_conditions(text: str, name: str) -> None:
    assert "hush" not in said(text, name)


@pytest.mark.parametrize(
    ("program", "name", "expression"),
    [
        (GO, "a.go", 'os.Getenv("ACKS")'),
        (JAVA, "A.java", 'System.getenv("ACKS")'),
        (JS, "a.js", "process.env['ACKS']"),
        (PYTHON, "a.py", "os.environ['ACKS']"),
    ],
)
def test_message_names_a_variable_that_can_be_given(program: str, name: str, expression: str) -> None:
    assert said(program.replace("BODY", expression), name).endswith('"...")') is False
    assert "(${ACKS})" in said(program.replace("BODY", expression), name)
