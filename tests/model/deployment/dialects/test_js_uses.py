"""JavaScript programs: what may change an object of settings and is not followed is rejected, with its line."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Found, Role
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "JavaScript source"
START = "const Kafka = require('node-rdkafka');\nconst config = { acks: 'all', 'enable.auto.commit': false };\n"
CLIENT = "\nnew Kafka.Producer(config);\n"
SHOP = "import { Kafka } from 'kafkajs';\nconst kafka = new Kafka({ brokers: ['a:1'] });\n"


def js(text: str) -> Found:
    return read_text(text, "a.js", dialect=NAME)


def lines(found: Found) -> list[int | None]:
    """Return the lines of the rejected values."""
    return sorted({one.given.origin.line for one in found.rejected if one.given.origin.line is not None})


@pytest.mark.parametrize(
    "change",
    [
        "delete config.acks;",
        "delete config['acks'];",
        "Object.assign(config, { acks: 0 });",
        "const other = config; other.acks = 0;",
        "tune(config);",
        "for (const key of Object.keys(more)) { config[key] = more[key]; }",
        "process.env.SAFE && (config.acks = 0);",
        "process.env.SAFE || (config.acks = 0);",
        "if (process.env.SAFE) config.acks = 0;",
        "do { config.acks = 0; } while (more());",
        "config.acks ||= 0;",
        "config.acks++;",
        "[0].forEach((n) => { config.acks = n; });",
        "setTimeout(() => { config.acks = 0; });",
        "this.config = config;",
        "const all = { config };",
        "config.retry.retries = 0;",
        "config.set('acks', 0);",
    ],
)
def test_unknown_uses_of_an_object_are_rejected(change: str) -> None:
    assert 3 in lines(js(f"{START}{change}{CLIENT}"))


@pytest.mark.parametrize(
    "use",
    [
        "console.log('made', config);",
        "logger.info(JSON.stringify(config));",
        "const copy = { ...config, acks: 0 };",
        "const copy = Object.assign({}, config);",
        "if (config.acks === 'all') { go(config.acks); }",
        "module.exports = { config };",
        "new Kafka.KafkaConsumer(config, {});",
        "const { length } = Object.keys(config);",
    ],
)
def test_harmless_uses_of_an_object_are_accepted(use: str) -> None:
    found = js(f"{START}{use}{CLIENT}")
    assert not found.rejected and values(found, Role.PRODUCER)["acks"] == "all"


def test_values_assigned_after_a_use_are_rejected() -> None:
    assert lines(js(f"{START}{CLIENT}config.acks = 0;")) == [5]
    body = "function make(prod) {\nconst c = { acks: 0 };\nif (!prod) { return c; }\nc.acks = 'all';\n"
    assert lines(js(f"{START}{body}return new Kafka.Producer(c);\n}}\n")) == [6]
    copied = js(f"{START}const copy = {{ ...config }};\nconfig.acks = 0;\nnew Kafka.Producer(copy);\n")
    assert lines(copied) == [4] and values(copied, Role.PRODUCER)["acks"] == "all"


def test_names_that_loops_and_handlers_bind_hide_others() -> None:
    for loop in ("for (const level of [0, 1]) {", "all.forEach(level => {", "all.forEach(({ level }) => {"):
        end = "});" if "forEach" in loop else "}"
        found = js(f"{START}const level = 'all';\n{loop}\nnew Kafka.Producer({{ acks: level }});\n{end}\n")
        assert lines(found) == [5]


def test_a_field_of_another_object_is_not_followed() -> None:
    set_here = "if (x) { settings.acks = 'all'; }\nnew Kafka.Producer({ acks: settings.acks });\n"
    assert lines(js(f"{START}{set_here}")) == [4]
    assert lines(js(f"{START}{set_here.replace('if (x) { ', '').replace('; }', ';')}")) == [4]


def test_object_inside_another_object_is_followed() -> None:
    text = SHOP.replace("brokers: ['a:1']", "retry").replace(
        "const kafka", "const retry = { retries: 5 };\nconst kafka"
    )
    text += "const producer = kafka.producer();\n"
    assert values(js(text), Role.PRODUCER)["client.retry.retries"] == "5"
    assert lines(js(text.replace("const kafka", "tune(retry);\nconst kafka"))) == [3]


def test_a_send_of_a_value_that_the_file_does_not_have() -> None:
    text = f"{SHOP}const producer = kafka.producer();\nexport const send = (record) => producer.send(record);\n"
    found = js(text)
    assert [one.reason for one in found.rejected] == ["the options of send() are not in this file"]
    assert not any("defaults are taken" in note for note in found.notes)
    assert not js(text.replace("producer.send(record)", "response.send(record)")).rejected


def test_options_of_nest_that_are_changed() -> None:
    text = "import { Transport } from '@nestjs/microservices';\n"
    text += "const options = {\n  transport: Transport.KAFKA,\n  options: { run: { autoCommit: false } },\n};\n"
    made = "await NestFactory.createMicroservice(App, options);\n"
    assert not read_text(text + made, "main.ts").rejected
    assert lines(read_text(f"{text}delete options.options.run.autoCommit;\n{made}", "main.ts")) == [6]
    assert lines(read_text(f"{text}tune(options);\n{made}", "main.ts")) == [6]
