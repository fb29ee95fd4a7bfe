"""Python programs: what is followed of a dictionary of settings, and what keeps the verdict back."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_text, values

SAFE = "conf = {'acks': 'all', 'enable.idempotence': True}\n"
FIRST = "import copy, json, logging\nfrom confluent_kafka import Producer, Consumer\n"


def py(body: str) -> Found:
    """Return the content of a file."""
    return read_text(f"{FIRST}{body}\n", "a.py", dialect="Python source")


def acks(found: Found) -> list[str | None]:
    """Return the acks of each producer."""
    return [values(found, Role.PRODUCER, number).get("acks") for number, _ in enumerate(found.by_role[Role.PRODUCER])]


def rejected(found: Found) -> list[tuple[str, int | None]]:
    """Return the line and reason of each value that prevents a verdict."""
    return [(one.given.key, one.given.origin.line) for one in found.rejected]


CHANGED = [
    ("tune(conf)", "settings"),
    ("def tune(c):\n    c['acks'] = 0\ntune(conf)", "settings"),
    ("def tune(c):\n    d = c\n    d['acks'] = 0\ntune(conf)", "settings"),
    ("def tune(*c):\n    pass\ntune(conf)", "settings"),
    ("other = conf\nother['acks'] = 0", "settings"),
    ("other = conf\nthird = other\nthird.update(acks=0)", "settings"),
    ("both = {'conf': conf}", "settings"),
    ("all_of_them.append(conf)", "settings"),
    ("class A:\n    c = conf", None),
    ("class A:\n    c = conf\n    c['acks'] = 0", "settings"),
    ("x.conf = conf", "settings"),
    ("change = conf.update\nchange(acks=0)", "settings"),
    ("safe and conf.update({'acks': 0})", "settings"),
    ("[conf.update({'acks': a}) for a in b]", "settings"),
    ("conf.clear()", "settings"),
    ("conf.update(a, b)", "settings"),
    ("conf.update(load())", "settings"),
    ("conf |= load()", "settings"),
    ("conf[key] = 0", "a setting"),
    ("for key, value in more.items():\n    conf[key] = value", "a setting"),
    ("del conf[key]", "settings"),
    ("del conf['acks']", "acks"),
    ("conf.pop('acks')", "acks"),
    ("conf.setdefault('acks', 0)", "acks"),
    ("conf['acks'] += 1", "acks"),
    ("conf['acks'], x = 0, 1", "acks"),
    ("conf['acks'] = read_it()", "acks"),
    ("if fast:\n    conf['acks'] = 0", "acks"),
    ("for x in y:\n    conf['acks'] = 0", "acks"),
    ("try:\n    conf['acks'] = 0\nexcept KeyError:\n    pass", "acks"),
    ("with suppress(KeyError):\n    conf['acks'] = 0", "acks"),
    ("match x:\n    case 1:\n        conf['acks'] = 0", "acks"),
    ("def later():\n    conf['acks'] = 0", "acks"),
    ("def later():\n    global conf\n    conf = {}", "settings"),
    ("from shop import *", "settings"),
    ("globals()['conf'] = {}", "settings"),
    ("if fast:\n    conf = {'acks': 0}", "settings"),
    ("for conf in y:\n    pass", "settings"),
    ("with x as conf:\n    pass", "settings"),
    ("import conf", "settings"),
    ("(conf, x) = y", "settings"),
    ("conf = conf or {}", "settings"),
    ("print(conf['default.topic.config'])", "settings"),
    ("def get():\n    return conf\nc = get()\nc['acks'] = 0", "settings"),
]


@pytest.mark.parametrize(("change", "key"), CHANGED)
def test_changes_of_a_dictionary_that_are_not_followed_prevent_the_verdict(change: str, key: str | None) -> None:
    found = py(f"{SAFE}{change}\np = Producer(conf)")
    assert key is None or key in [one for one, _ in rejected(found)]
    first = SAFE.count("\n") + FIRST.count("\n")
    assert all(line is not None and line >= first for _, line in rejected(found))
    assert key is not None or not found.rejected


@pytest.mark.parametrize(
    "use",
    [
        "print(conf)",
        "logging.info('with %s', conf)",
        "log.debug(f'{conf}')",
        "print(json.dumps(conf), len(conf), sorted(conf))",
        "other = conf.copy()\nother['acks'] = 0",
        "other = copy.deepcopy(conf)\nother['acks'] = 0",
        "other = {**conf, 'acks': 0}",
        "other = dict(conf, acks=0)",
        "other = conf | {'acks': 0}",
        "other.update(conf)\nother['acks'] = 0",
        "for key, value in conf.items():\n    print(key, conf[key])",
        "if 'acks' in conf and not conf.get('x'):\n    pass",
        "def show(c):\n    print(c)\nshow(conf)",
        "def run(c):\n    return Consumer(c)\nrun(conf)",
        "def get():\n    return conf\nq = Consumer(get())",
        "other = conf\nq = Consumer(other)",
        "def own():\n    conf = {}\n    conf['acks'] = 0\n    return conf",
        "def own(conf):\n    conf['acks'] = 0",
        "class A:\n    def own(self):\n        self.conf = {}\n        self.conf['acks'] = 0",
        "other = [conf for conf in y]\nf = lambda conf: conf.clear()",
        "conf.pop('client.id')",
    ],
)
def test_harmless_uses_of_a_dictionary_do_not_prevent_the_verdict(use: str) -> None:
    found = py(f"{SAFE}{use}\np = Producer(conf)")
    (producer,) = (one for one in found.by_role[Role.PRODUCER] if one.name == "p")
    assert {key: one.value for key, one in producer.settings.items()} == {"acks": "all", "enable.idempotence": "true"}
    assert "Consumer(c)" in use or not found.rejected


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "def f():\n    c = {'acks': 0}\n    return Producer(c)\ndef g():\n    c = {}\n"
            "    c['acks'] = 1\n    return Producer(c)",
            "01",
        ),
        ("c = {'acks': 0}\np = Producer(c)\nc['acks'] = 1\nq = Producer(c)", "01"),
        ("c = {'acks': 0}\np = Producer(c)\nc = {'acks': 1}\nq = Producer(c)", "01"),
        (
            "def f(fast):\n    c = {'acks': 0}\n    if fast:\n        return Producer(c)\n"
            "    c['acks'] = 1\n    return Producer(c)",
            "01",
        ),
        ("if a:\n    c = {'acks': 0}\n    c['acks'] = 1\np = Producer(c)", "1"),
        ("if a:\n    c = {'acks': 0}\n    p = Producer(c)\nelse:\n    c = {'acks': 1}\n    p = Producer(c)", "01"),
        ("b = {'acks': 0}\nc = {**b, 'retries': 1, **b}\nb['acks'] = 1\np = Producer(c)", "0"),
        ("b = {'acks': 0}\nc = {**b, 'acks': 1, **b}\np = Producer(c)", "0"),
        ("c = {}\nc |= {'acks': 1}\np = Producer(c)", "1"),
        ("c = {'acks': 0}\ndef f():\n    c['acks'] = 1\n    return Producer(c)", "1"),
        ("c = {'acks': 0}\nc['acks'] = 1\ndef f():\n    return Producer(c)", "1"),
        (
            "class A:\n    def __init__(self):\n        self.c = {'acks': 0}\n"
            "        self.c['acks'] = 1\n    def go(self):\n        return Producer(self.c)",
            "1",
        ),
        (
            "class A:\n    def __init__(self):\n        self.c = {'acks': 0}\n"
            "        self.p = Producer(self.c)\nclass B:\n    def __init__(self):\n"
            "        self.c = {'acks': 1}\n        self.p = Producer(self.c)",
            "01",
        ),
        (
            "class A:\n    def c(self, n):\n        return {'acks': n, 'acks': 1}\n    def go(self):\n"
            "        return Producer(self.c(2))",
            "1",
        ),
        ("def more(c, *, d):\n    c.update(d)\n    return c\np = Producer(more({'acks': 0}, d={'acks': 1}))", "1"),
        (
            "def base():\n    return {'acks': 0}\ndef more():\n    c = base()\n    c['acks'] = 1\n"
            "    return c\np = Producer(more())",
            "1",
        ),
        ("try:\n    c = {'acks': 0}\n    c['acks'] = 1\nexcept KeyError:\n    raise\np = Producer(c)", "1"),
    ],
)
def test_names_have_scopes_and_lines_an_order(body: str, said: str) -> None:
    found = py(body)
    assert not found.rejected
    assert acks(found) == list(said)


@pytest.mark.parametrize(
    "body",
    [
        "for x in y:\n    p = Producer(conf)\n    conf['acks'] = 0",
        "def f():\n    p = Producer(conf)\n    conf['acks'] = 0",
        "def f():\n    return Producer(conf)\nf()\nconf['acks'] = 0",
        "class A:\n    def __init__(self):\n        self.c = {'acks': 1}\n    def more(self):\n"
        "        self.c['acks'] = 0\n"
        "    def go(self):\n        return Producer(self.c)",
        "class A:\n    def __init__(self):\n        self.c = {'acks': 1}\n    def go(self):\n"
        "        return Producer(self.c)\n"
        "A().c['acks'] = 0",
        "class A:\n    def __init__(self):\n        self.c = {'acks': 1}\n    def go(self):\n"
        "        return Producer(self.c)\n"
        "class B(A):\n    def more(self):\n        self.c = {}",
        "class A:\n    c = {'acks': 1}\n    def go(self):\n        return Producer(self.c)",
        "class A:\n    def __init__(self):\n        self.c = {'acks': 1}\n        if a:\n            return\n"
        "        self.c['acks'] = 0\n    def go(self):\n        return Producer(self.c)",
        "class A:\n    def __init__(self, **more):\n        self.c = {'acks': 1}\n        for key in more:\n"
        "            setattr(self, key, more[key])\n    def go(self):\n        return Producer(self.c)",
        "def f():\n    c = {'acks': 1}\n    def g():\n        nonlocal c\n        c = {}\n    g()\n"
        "    return Producer(c)",
        "def f():\n    c = {'acks': 1}\n    def g():\n        c['acks'] = 0\n    g()\n    return Producer(c)",
        "a = b = {'acks': 1}\nb['acks'] = 0\np = Producer(a)",
        "a = {'acks': 1}\nb = a\na['acks'] = 0\nb['acks'] = 2\np = Producer(b)",
        "@cache\ndef f():\n    return {'acks': 1}\np = Producer(f())",
        "def f():\n    if a:\n        return {'acks': 1}\n    return {'acks': 0}\np = Producer(f())",
        "def f():\n    return {'acks': 1}\nif a:\n    def f():\n        return {'acks': 0}\np = Producer(f())",
        "def f():\n    return {'acks': 1}\nclass A:\n    def go(self):\n        return Producer(self.f())",
        "def f(c={'acks': 1}):\n    return Producer(c)",
        "p = partial(Producer, conf)()",
        "class Mine(Producer):\n    pass",
        "Make = Producer",
    ],
)
def test_changes_at_another_time_or_place_prevent_the_verdict(body: str) -> None:
    assert py(SAFE + body).rejected


@pytest.mark.parametrize(
    "body",
    [
        "for acks in a:\n    pass",
        "with a as acks:\n    pass",
        "try:\n    pass\nexcept E as acks:\n    pass",
        "from a import acks",
        "[x, *acks] = a",
        "match a:\n    case [acks]:\n        pass",
        "(acks := 0)",
        "del acks",
        "def acks():\n    pass",
        "def f():\n    global acks\n    acks = 0",
        "acks += 'x'",
    ],
)
def test_a_name_that_is_bound_again_stands_for_nothing_known(body: str) -> None:
    found = py(f"acks = 'all'\n{body}\np = Producer({{'acks': acks}})")
    assert rejected(found)[0][0] == "acks"


def test_a_name_of_a_class_is_not_seen_in_its_methods() -> None:
    found = py("a = 1\nclass A:\n    a = 0\n    def go(self):\n        return Producer({'acks': a})")
    assert acks(found) == ["1"]


def test_every_name_of_a_library() -> None:
    found = read_text("from kafka import *\np = KafkaProducer(acks=0)\n", "a.py", dialect="Python source")
    assert values(found, Role.PRODUCER) == {"acks": "0"}


def test_a_topic_whose_settings_are_changed() -> None:
    text = "from kafka.admin import NewTopic\nc = {'min.insync.replicas': 2}\nc['min.insync.replicas'] = 1\n"
    assert (
        values(read_text(text + "NewTopic('t', 1, 3, topic_configs=c)\n", "a.py"), Role.TOPIC)["min.insync.replicas"]
        == "1"
    )
    assert read_text(text + "more(c)\nNewTopic('t', 1, 3, topic_configs=c)\n", "a.py").rejected


def test_functions_of_functions_end() -> None:
    text = "".join(f"def f{n}():\n    return {{{f'**f{n + 1}(), ' * 12}}}\n" for n in range(12))
    assert py(f"{text}p = Producer(f0())").rejected


def test_many_settings_of_many_clients_are_refused() -> None:
    text = "conf = {}\n" + "".join(f"conf['k{n}'] = 1\n" for n in range(700)) + "Producer(conf)\n" * 40
    with pytest.raises(DeploymentError, match="more than 20000 settings in all"):
        py(text)


@pytest.mark.parametrize(
    "text",
    [
        "from kafka import KafkaProducer\np = KafkaProducer({'acks': 0})\n",
        "try:\n    from confluent_kafka import Producer\nexcept ImportError:\n"
        "    from aiokafka import AIOKafkaProducer as Producer\n"
        "p = Producer(acks=1)\n",
        "from confluent_kafka import Producer\np = Producer(*settings)\n",
    ],
)
def test_client_with_unknown_arguments_is_rejected(text: str) -> None:
    assert rejected(read_text(text, "a.py", dialect="Python source"))[0][0] == "settings"
