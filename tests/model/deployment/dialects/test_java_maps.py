"""Java programs: what a map holds where a client takes it, and what is not followed and so rejected, with its line."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "Java source"
IMPORTS = "import org.apache.kafka.clients.producer.*;\nimport org.springframework.kafka.core.*;\n"
SAFE = 'p.put("acks", "all");'
FAST = 'p.put("acks", "0");'
NEW = "Properties p = new Properties();"
MADE = "new KafkaProducer<>(p);"


def java(members: str) -> Found:
    """Return the content of a file with these members in a class; the first is in line 4."""
    return read_text(f"{IMPORTS}class A {{\n{members}\n}}\n", "A.java", dialect=NAME)


def body(*lines: str) -> Found:
    """Return the content of a file with these lines in a method; the first is line 5."""
    return java("\n".join(("void m(Map<String, Object> given, boolean b) {", *lines, "}")))


def rejected(found: Found) -> list[tuple[int | None, str, str]]:
    """Return the line, name and reason of each value that prevents a verdict."""
    return [(one.given.origin.line, one.given.key, one.reason) for one in found.rejected]


def acks(found: Found) -> list[str | None]:
    """Return the ``acks`` of each producer."""
    return [one.settings["acks"].value if "acks" in one.settings else None for one in found.by_role[Role.PRODUCER]]


def test_putall_of_another_map_counts_in_its_order() -> None:
    other = 'Properties q = new Properties(); q.put("acks", "0");'
    assert acks(body(other, NEW, SAFE, "p.putAll(q);", MADE)) == ["0"]
    assert acks(body(other, NEW, "p.putAll(q);", SAFE, MADE)) == ["all"]


def test_each_client_gets_the_entries_of_the_map_at_its_creation() -> None:
    found = body(NEW, FAST, MADE, SAFE, MADE)
    assert acks(found) == ["0", "all"] and not found.rejected
    assert len({one.name for one in found.components}) == 2
    assert acks(body(NEW, FAST, MADE, "p = new Properties();", 'p.put("retries", "1");', MADE)) == ["0", None]
    assert acks(body(NEW, SAFE, MADE, "new KafkaProducer<>(p, s, s);")) == ["all"]


def test_map_returned_by_a_method_is_named_by_the_method() -> None:
    found = java(f"Properties conf() {{ {NEW} {SAFE} return p; }}")
    assert [one.name for one in found.components] == ["conf: p"] and acks(found) == ["all"] and not found.rejected
    found = java(f"void tune(Properties p) {{\n{SAFE} }}")
    assert acks(found) == ["all"] and [key for _, key, _ in rejected(found)] == ["settings"]


def test_settings_after_the_construction_of_the_client_are_ignored() -> None:
    found = body(NEW, SAFE, MADE, FAST)
    assert acks(found) == ["all"] and [one.given.origin.line for one in found.ignored] == [8]


@pytest.mark.parametrize(
    "change",
    [
        "p.load(in);",
        "p.clear();",
        'p.replace("acks", "0");',
        'p.merge("acks", "0", f);',
        "p.computeIfAbsent(k, f);",
        "p.keySet().removeIf(f);",
        "for (Map.Entry e : p.entrySet()) { e.setValue(1); }",
        "given.forEach(p::put);",
        "tune(p);",
        "this.tuner.tune(p);",
        "new Tuner(p);",
        "Properties q = p; q.put(k, 1);",
        "q = p;",
        'if (b) p.remove("acks");',
        "p.remove(k);",
        "if (b) p = new Properties();",
        "p.putAll(given);",
        "p.putAll(others());",
        "p.put(k, 1);",
        "for (String k : given.keySet()) p.put(k, given.get(k));",
        "List.of(p);",
    ],
)
def test_changes_of_a_map_that_are_not_followed_are_rejected(change: str) -> None:
    found = body(NEW, SAFE, change, MADE)
    assert acks(found) == ["all"]
    assert [(line, key) for line, key, _ in rejected(found)] == [(7, "settings")]


@pytest.mark.parametrize(
    "harmless",
    [
        'log.info("with {}", p);',
        'String s = p.getProperty("acks") + p;',
        "System.out.println(p);",
        "for (String k : p.stringPropertyNames()) { log.info(k); }",
        "p.forEach((k, v) -> log.info(k));",
        "AdminClient.create(p);",
        "Properties q = p; log.info(q);",
        'Properties q = new Properties(); q.putAll(p); q.put("acks", "1");',
        'if (p.isEmpty()) throw new IllegalStateException("none");',
    ],
)
def test_reads_of_a_map_are_harmless(harmless: str) -> None:
    found = body(NEW, SAFE, harmless, MADE)
    assert "all" in acks(found) and not found.rejected


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        (f"if (b) {{ {SAFE} }}", "b"),
        (f"optional.ifPresent(x -> {{ {SAFE} }});", "the code in line 7 is called"),
        (f"while (b) {SAFE}", "while statement"),
        (f"try {{ open(); {SAFE} }} catch (Exception e) {{ log.warn(e); }}", "nothing fails before it"),
        ('boolean x = b && p.put("acks", "all") == null;', "b"),
    ],
)
def test_conditions(change: str, condition: str) -> None:
    assert rejected(body(NEW, FAST, change, MADE)) == [(7, "acks", f"is set only if {condition}")]


def test_client_under_the_same_condition_gets_the_setting() -> None:
    found = body(NEW, f"if (b) {{ {FAST} {MADE} }} else {{ {SAFE} {MADE} }}")
    assert acks(found) == ["0", "all"] and not found.rejected


def test_a_loop_comes_round_again() -> None:
    found = body(NEW, f"while (b) {{ {MADE}", f"{SAFE} }}")
    assert [(line, key) for line, key, _ in rejected(found)] == [(7, "settings")]


def test_an_early_return_makes_a_condition() -> None:
    made = f"Properties conf(boolean b) {{ {NEW} {FAST}\nif (b) return p;\n{SAFE} return p; }}"
    found = java(f"{made}\nvoid m() {{ new KafkaProducer<>(conf(true)); }}")
    assert rejected(found) == [(6, "acks", "is set only if line 5 does not return before")]
    found = java(
        f"Properties conf() {{ {NEW} if (x) return q; return p; }}\nvoid m() {{ new KafkaProducer<>(conf()); }}"
    )
    assert rejected(found)[0][:2] == (5, "settings")


def test_removed_key_is_not_set() -> None:
    found = body(NEW, SAFE, 'p.remove("acks");', MADE)
    assert acks(found) == [None] and not found.rejected and found.ignored[0].reason == "is removed in line 7"
    assert acks(body(NEW, SAFE, 'p.remove("acks");', FAST, MADE)) == ["0"]


def test_if_absent_needs_the_entries_of_the_map() -> None:
    absent = 'p.putIfAbsent("acks", "all");'
    assert acks(body(NEW, FAST, absent, MADE)) == ["0"]
    assert acks(body(NEW, absent, MADE)) == ["all"]
    found = body("Map<String, Object> p = new HashMap<>(given);", absent, MADE)
    assert acks(found) == [None] and {key for _, key, _ in rejected(found)} == {"acks", "settings"}


@pytest.mark.parametrize(
    "start",
    [
        "new HashMap<>(given)",
        "kafkaProperties.buildProducerProperties(null)",
        "conf.get()",
        "new Properties(defaults)",
        "b ? one : other",
        "new HashMap<>() {{ load(in); }}",
    ],
)
def test_a_map_that_begins_elsewhere_is_rejected(start: str) -> None:
    found = body(f"Map<String, Object> p = {start};", SAFE, MADE)
    assert [(line, key) for line, key, _ in rejected(found)] == [(5, "settings")]


@pytest.mark.parametrize(
    "start",
    [
        'new HashMap<>(Map.of("acks", "0"))',
        'new HashMap<>() {{ put("acks", "0"); }}',
        'ImmutableMap.<String, Object>builder().put("acks", "0").build()',
        'Map.ofEntries(Map.entry("acks", "0"))',
        '(Map) Collections.unmodifiableMap(new TreeMap<>(Map.of("acks", "0")))',
    ],
)
def test_copies_of_known_maps(start: str) -> None:
    found = body(f"Map<String, Object> p = {start};", MADE)
    assert acks(found) == ["0"] and not found.rejected and len(found.components) == 1


def test_methods_of_the_file_are_followed() -> None:
    tune = 'static void tune(Properties q, String a) {\nq.put(KEY, a); }\nstatic final String KEY = "acks";'
    use = f'void m() {{ {NEW} {SAFE}\ntune(p, "0"); {MADE} }}'
    found = java(f"{tune}\n{use}")
    assert acks(found) == ["0"] and not found.rejected and len(found.components) == 1
    base = (
        'Map<String, Object> base(String a) {\nMap<String, Object> q = new HashMap<>(); q.put("acks", a); return q; }'
    )
    one = f'void m() {{ var p = base("0"); {MADE} }}'
    two = f'void n() {{ var p = base("all"); p.put("retries", 1); {MADE} }}'
    found = java(f"{base}\n{one}\n{two}")
    assert acks(found) == ["0", "all"] and len({one.name for one in found.components}) == 2


def test_a_helper_that_may_not_run_or_calls_itself() -> None:
    tune = f"void tune(Properties p) {{\n{FAST} }}"
    found = java(f"{tune}\nvoid m(boolean b) {{ {NEW} {SAFE} if (b) tune(p); {MADE} }}")
    assert rejected(found) == [(5, "acks", "is set only if b")]
    found = java(f"void tune(Properties p) {{\ntune(p); }}\nvoid m() {{ {NEW} {SAFE} tune(p); {MADE} }}")
    assert {key for _, key, _ in rejected(found)} == {"settings"}


def test_names_of_one_method_are_not_those_of_another() -> None:
    found = java(f"void f() {{ {NEW} {FAST} {MADE} }}\nvoid g() {{ {NEW} {SAFE} {MADE} }}")
    assert acks(found) == ["0", "all"]
    found = body(f"{{ {NEW} {FAST} {MADE} }}", f"{{ {NEW} {SAFE} {MADE} }}")
    assert acks(found) == ["0", "all"]
    found = java(f'String acks = "all";\nvoid f() {{ {NEW} for (String acks : x)\np.put("acks", acks); {MADE} }}')
    assert rejected(found) == [(6, "acks", "is set only if enhanced for statement")]


def test_fields() -> None:
    field = "Properties p = new Properties();"
    found = java(f"{field}\nA() {{ {FAST} }}\nvoid m() {{ {MADE} }}")
    assert acks(found) == ["0"] and not found.rejected
    found = java(f"{field}\n{{ {FAST} }}\nvoid m() {{ {SAFE} {MADE} }}")
    assert acks(found) == ["all"]
    found = java(f"{field}\nvoid late() {{\n{FAST} }}\nvoid m() {{ {SAFE} {MADE} }}")
    assert acks(found) == ["all"] and not found.rejected
    found = java(f"{field}\nvoid late() {{\n{FAST} }}\nvoid m() {{ {MADE} }}")
    assert rejected(found) == [(6, "acks", "is set only if late() has run before")]
    found = java(f"{field}\nvoid set() {{ {FAST} }}\nvoid m() {{ set(); {MADE} }}")
    assert acks(found) == ["0"] and not found.rejected
    found = java(f"Properties p;\nvoid init() {{ p = new Properties(); {FAST} }}\nvoid m() {{ {MADE} }}")
    assert acks(found) == ["0"] and not found.rejected
    found = java(f"static {field}\nvoid m() {{ {MADE} }}\nstatic class B {{ void n() {{\nA.p.load(in); }} }}")
    assert rejected(found)[0][:2] == (7, "settings")


def test_fields_by_other_names() -> None:
    field, use = "Properties p = new Properties();", f"void m() {{ {MADE} }}"
    for change in ("A.this.p.load(in);", "other.p.load(in);", "super.p.load(in);"):
        found = java(f"{field}\n{use}\nclass B {{ void n() {{\n{change} }} }}")
        assert rejected(found)[0][:2] == (7, "settings")
    inherited = f"static class B {{ {field}\n{use} }}\nstatic class C extends B {{ void n() {{\np.load(in); }} }}"
    assert rejected(java(inherited))[0][:2] == (7, "settings")
    value = 'String acks = "all";\nvoid set(A other) { other.acks = "0"; }'
    found = java(f'{value}\nvoid m() {{ {NEW} p.put("acks", acks); {MADE} }}')
    assert rejected(found) == [(6, "acks", "its value is not in this file: acks")]


def test_classes_that_are_called_alike_are_others() -> None:
    found = java('class KafkaProducer { }\nvoid m() { new KafkaProducer("topic"); }')
    assert not found.components and not found.rejected
    text = (
        f"import io.vertx.kafka.client.producer.KafkaProducer;\n{IMPORTS}class A {{ Object o = new KafkaProducer(v); }}"
    )
    assert not read_text(text, "A.java", dialect=NAME).rejected


def test_many_clients_of_a_large_map_end() -> None:
    puts = "\n".join(f'p.put("k{n}.ms", "1");' for n in range(500))
    with pytest.raises(DeploymentError, match="in more steps than the reader follows"):
        body(NEW, puts, *(f'p.put("acks", "{n}"); {MADE}' for n in range(45)))


@pytest.mark.parametrize("marks", ['@Option(names = "a") private String acks', "@Setter String acks"])
def test_field_filled_by_a_framework_is_unknown(marks: str) -> None:
    found = java(f'{marks} = "all";\nvoid m() {{ {NEW}\np.put("acks", acks); {MADE} }}')
    assert rejected(found) == [(6, "acks", "its value is not in this file: acks")]


def test_names_of_settings() -> None:
    puts = 'String k = "acks"; p.put(k, "0"); p.put("enable." + "idempotence", "false");'
    assert values(body(NEW, puts, MADE), Role.PRODUCER) == {"acks": "0", "enable.idempotence": "false"}
    found = body(NEW, "p.put(OurConfig.ACKS, 1);", MADE)
    assert rejected(found)[0][:2] == (6, "settings") and "whose name is not in this file" in rejected(found)[0][2]
    found = body(NEW, 'p.put(JsonSerializer.TYPE_MAPPINGS, "a:b");', SAFE, MADE)
    assert acks(found) == ["all"] and not found.rejected


def test_prefixes_of_streams_are_in_the_account() -> None:
    names = ("producerPrefix", "consumerPrefix", "mainConsumerPrefix", "adminClientPrefix")
    found = body(NEW, *(f'p.put(StreamsConfig.{name}("acks"), "1");' for name in names), "new KafkaStreams(t, p);")
    assert [(line, key) for line, key, _ in rejected(found)] == [
        (6, "producer.acks"),
        (7, "consumer.acks"),
        (8, "main.consumer.acks"),
        (9, "admin.acks"),
    ]
    assert not found.components


@pytest.mark.parametrize(
    "change",
    [
        'factory.updateConfigs(Map.of("client.id", "a"));',
        'factory.removeConfig("acks");',
        'factory.setTransactionIdPrefix("tx-");',
        "new KafkaTemplate<>(factory, overrides);",
        "container.setKafkaConsumerProperties(overrides);",
    ],
)
def test_settings_that_outrank_the_map_of_a_factory_are_rejected(change: str) -> None:
    found = body(NEW, SAFE, "ProducerFactory factory = new DefaultKafkaProducerFactory<>(p);", change)
    assert acks(found) == ["all"] and [line for line, _, _ in rejected(found)] == [8]


def test_listeners_may_outrank_their_consumer() -> None:
    found = java('@KafkaListener(topics = "t",\nproperties = "enable.auto.commit=true") void m() { }')
    assert rejected(found) == [
        (5, "KafkaListener.properties", "outranks the settings of the consumer, which cannot be followed")
    ]
    assert not java('@KafkaListener(topics = "t", properties = "client.id=a") void m() { }').rejected


@pytest.mark.parametrize(
    ("mode", "commit"), [("", "after"), ("BATCH", "after"), ("MANUAL", None), ("MANUAL_IMMEDIATE", None)]
)
def test_commits_of_a_container_follow_its_ack_mode(mode: str, commit: str | None) -> None:
    says = f"f.getContainerProperties().setAckMode(AckMode.{mode});" if mode else ""
    consumer = 'p.put("enable.auto.commit", false); new DefaultKafkaConsumerFactory<>(p);'
    found = body(NEW, consumer, "ConcurrentKafkaListenerContainerFactory f = g();", says)
    (one,) = found.by_role[Role.CONSUMER]
    assert (one.application["commit"].value if "commit" in one.application else None) == commit
    assert bool(found.notes) == (commit is None)
    if commit is not None:
        assert one.application["commit"].origin.kind == ("file" if mode else "rule")


def test_a_mode_that_is_not_said_is_rejected() -> None:
    found = body("ConcurrentKafkaListenerContainerFactory f = g();", "f.getContainerProperties().setAckMode(mode());")
    assert rejected(found)[0][:2] == (6, "setAckMode")


def test_texts_of_expressions_are_not_told() -> None:
    found = body(NEW, 'p.put("acks", vault("hunter2"));', 'p.putAll(login("hunter2"));', MADE)
    assert len(found.rejected) == 2 and "hunter2" not in str(found.rejected)


def test_maps_that_copy_each_other_are_refused_quickly() -> None:
    lines = "\n".join(f"Properties q{n} = new Properties(); q{n}.putAll(p); p.putAll(q{n});" for n in range(45))
    with pytest.raises(DeploymentError, match="sets more than 5000 settings"):
        body(NEW, SAFE, lines, MADE)


def test_placeholders_without_an_end_are_read_once() -> None:
    field = '@Value("' + "${a" * 60_000 + '") String acks;'
    found = java(f'{field}\nvoid m() {{ {NEW} p.put("acks", acks); {MADE} }}')
    assert rejected(found) == [(5, "acks", "its value is not in this file: @Value acks")]
