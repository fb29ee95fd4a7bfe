"""The house rules of the design, section 1: which way imports point, and what a file may be."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("proofka", "model", "properties", "checker", "reports")
CODE = {".py"}
SHIPPED = {".py", ".json", ".csv", ".j2", ".md", ".yaml"}

MAY_IMPORT = {
    "model": {"model"},
    "properties": {"model", "properties"},
    "reports": {"model", "properties", "reports"},
    "checker": {"model", "properties", "checker"},
    "proofka": {"model", "properties", "checker", "proofka"},
}
SEES_ALL = ROOT / "checker" / "cli"
LAYERS_OF_MODEL = (
    {"durations", "faults", "input"},
    {"deployment", "language"},
    {"published", "state"},
    {"log"},
    {"sequencing"},
    {"replication", "transactions"},
    {"recovery", "producing"},
    {"compaction", "consuming", "timing"},
    {"displays", "pipeline", "relabelling"},
)
"""The folders and files of ``model/``, lowest first: each imports only what stands in a lower layer, or in itself."""
BANNED_NAMES = ("utils", "util", "common", "manager", "helpers")
MAX_LINES = 500
OF_ONE_MACHINE = re.compile(r"\.\./shared|(?<![\w.$/-])/(?:work|home|root|Users)/\w")
"""A pattern of paths that exist on one machine alone."""

ARCHIVED = ("checker/cluster", "checker/reproduction")
"""Folders that ``proofka reproduce --script`` puts into an archive, which runs without Proofka, with an old Python."""
OUTCOME = {"properties/reproduced.py", "properties/reproduced_in_words.py", "properties/sealing.py"}
"""Files of other folders that are in the archive too."""
OF_PROOFKA = {"checker/reproduction/of_trace.py", "checker/reproduction/script.py"}
"""Files of these folders that make plain data of Proofka's own, or the archive, before there is an archive."""
CLIENTS = ("checker/cluster/programs/", {"confluent_kafka", "kafka", "aiokafka"})
"""The folder of the client programs, which run as processes of their own, and the libraries that they are about."""
OLD_PYTHON = (3, 9)
TOO_NEW = {"StrEnum", "KW_ONLY", "Self", "ExceptionGroup", "assert_never", "pairwise", "TypeAlias", "tomllib"}
"""Names that the standard library has only since a later Python."""
TOO_NEW_KEYWORDS = {"dataclass": {"slots", "kw_only"}, "zip": {"strict"}}
"""Arguments that functions have only since a later Python."""

HEAVY = (
    "z3",
    "cvc5",
    "numba",
    "llvmlite",
    "numpy",
    "matplotlib",
    "pyspark",
    "jsonschema",
    "jinja2",
    "networkx",
    "ruamel",
    "reportlab",
)


def files(suffixes: Collection[str]) -> dict[str, Path]:
    """Return every file of the packages with one of these suffixes, by its path within the project."""
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.suffix in suffixes]
    assert {path.relative_to(ROOT).parts[0] for path in found} == set(PACKAGES)
    return {path.relative_to(ROOT).as_posix(): path for path in sorted(found)}


def inside(module: str) -> str:
    """Return the name of a module as the repository's folders have it: without the package that they are installed
    into."""
    inner = module.removeprefix("proofka.")
    return inner if inner.partition(".")[0] in PACKAGES else module


def modules_imported(path: Path) -> Iterator[str]:
    """Yield the name of the module of every import in a file, wherever it stands in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            name = node.module or ""
            yield from (f"{name}.{alias.name}" for alias in node.names) if name == "proofka" else [name]


def imported(path: Path) -> Iterator[str]:
    """Yield the package of every import in a file."""
    yield from (inside(module).partition(".")[0] for module in modules_imported(path))


def forbidden(path: Path) -> list[str]:
    """Return the packages that a file imports and may not."""
    if path.is_relative_to(SEES_ALL):
        return []
    may = MAY_IMPORT[path.relative_to(ROOT).parts[0]]
    return sorted(set(PACKAGES).intersection(imported(path)) - may)


def is_named_for_anything(path: Path) -> bool:
    """Tell whether a file's path has a word that says nothing of what the file holds."""
    return "manager" in path.stem or any(part in BANNED_NAMES for part in path.relative_to(ROOT).with_suffix("").parts)


def test_imports_point_one_way() -> None:
    assert not {name: wrong for name, path in files(CODE).items() if (wrong := forbidden(path))}


def test_packages_are_imported_from_the_package_that_is_installed() -> None:
    """A program with a package ``model`` of its own would load that package instead."""
    folders = set(PACKAGES) - {"proofka"}
    sources = [
        path for folder in (*PACKAGES, "tests", "scripts", "benchmarks") for path in (ROOT / folder).rglob("*.py")
    ]
    found = {str(path): {name.partition(".")[0] for name in modules_imported(path)} & folders for path in sources}
    assert not {name for name, wrong in found.items() if wrong}


def test_the_installed_package_has_a_link_to_each_folder() -> None:
    for folder in set(PACKAGES) - {"proofka"}:
        link = ROOT / "proofka" / folder
        assert link.is_symlink() and link.readlink() == Path("..", folder)


def layer_of_model(module: str) -> tuple[int, str]:
    """Return the layer of a module of ``model/``, and the folder or file of ``model/`` that holds the module."""
    part = module.split(".")[1]
    return next(number for number, parts in enumerate(LAYERS_OF_MODEL) if part in parts), part


def upward_imports(path: Path) -> list[str]:
    """Return the modules of the same or a higher layer of ``model/`` that a file imports, outside its own folder."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    layer, part = layer_of_model(module)
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (of := inside(node.module or "")).partition(".")[0] == "model":
            names = [of] if "." in of else [f"model.{alias.name}" for alias in node.names]
            others = [(name, *layer_of_model(name)) for name in names]
            found += [name for name, other, its_part in others if its_part != part and other >= layer]
    return found


def test_the_model_is_built_in_layers() -> None:
    of_model = {name: path for name, path in files(CODE).items() if name.startswith("model/") and name.count("/") > 1}
    assert not {name: wrong for name, path in of_model.items() if (wrong := upward_imports(path))}


def test_files_are_named_for_their_content_and_stay_small() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in files(CODE).items()}
    assert not [name for name, path in files(CODE).items() if is_named_for_anything(path)]
    assert not {name: count for name, count in lines.items() if count > MAX_LINES}


def test_nothing_depends_on_one_machine() -> None:
    text = {name: path.read_text(encoding="utf-8") for name, path in files(SHIPPED).items()}
    assert not {name: found.group() for name in text if (found := OF_ONE_MACHINE.search(text[name]))}


def archived() -> dict[str, Path]:
    """Return the files of Python that are put into archives, by their path within the project."""
    folders = tuple(f"{folder}/" for folder in ARCHIVED)
    there = {name: path for name, path in files(CODE).items() if name.startswith(folders) or name in OUTCOME}
    assert set(there) >= OUTCOME | OF_PROOFKA
    return {name: path for name, path in there.items() if name not in OF_PROOFKA}


def foreign_imports(name: str, tree: ast.Module) -> list[str]:
    """Return the modules that an archive lacks and that a file of the archive imports."""
    modules = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            modules += [
                f"{node.module}.{alias.name}" if node.module == "proofka.checker" else str(node.module)
                for alias in node.names
            ]
    folder, libraries = CLIENTS
    there = sys.stdlib_module_names | (libraries if name.startswith(folder) else set())
    own = tuple(folder.replace("/", ".") for folder in ARCHIVED)
    outcome = {one.removesuffix(".py").replace("/", ".") for one in OUTCOME}
    outside = [one for one in map(inside, modules) if not one.startswith(own) and one not in outcome]
    return [one for one in outside if one.partition(".")[0] not in there]


def too_new(tree: ast.Module) -> list[str]:
    """Return the names and arguments of later Pythons that a file uses."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            found += [node.name] if node.name in TOO_NEW else []
        elif isinstance(node, ast.Attribute):
            found += [node.attr] if node.attr in TOO_NEW else []
        elif isinstance(node, ast.Call):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            later = TOO_NEW_KEYWORDS.get(function, set())
            found += [f"{function}({one.arg}=...)" for one in node.keywords if one.arg in later]
    return found


def test_files_of_archives_import_the_standard_library_alone() -> None:
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in archived().items()}
    assert not {name: wrong for name, tree in trees.items() if (wrong := foreign_imports(name, tree))}


def test_files_of_archives_are_written_for_an_old_python() -> None:
    for name, path in archived().items():
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=name, feature_version=OLD_PYTHON)
        assert "annotations" in imports_from_the_future(tree) or not tree.body[1:], name
        assert not too_new(tree), name


def imports_from_the_future(tree: ast.Module) -> set[str]:
    """Return the later behaviour that a file asks for."""
    futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    return {alias.name for node in futures for alias in node.names}


def old_python() -> str | None:
    """Return a program that is the old Python; None if this machine has none."""
    named = ".".join(map(str, OLD_PYTHON))
    places = [
        *sorted(Path.home().glob(f".pyenv/versions/{named}.*/bin/python")),
        *filter(None, [shutil.which(f"python{named}")]),
    ]
    return next((str(one) for one in places if not subprocess.run([one, "-V"], capture_output=True).returncode), None)


def test_an_old_python_imports_the_files_of_archives() -> None:
    python = old_python()
    if python is None:
        pytest.skip(f"no Python {OLD_PYTHON} on this machine")
    modules = [name.removesuffix(".py").replace("/", ".") for name in archived() if not name.startswith(CLIENTS[0])]
    imports = "; ".join(f"import proofka.{name.removesuffix('.__init__')}" for name in modules)
    run = subprocess.run([python, "-B", "-c", imports], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_the_command_line_starts_without_the_heavy_packages() -> None:
    program = "import sys, proofka.checker.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not set(HEAVY).intersection(run.stdout.split())
