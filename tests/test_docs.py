"""The pages: no block of code in them escapes a test, the site lists them, and the reference has every public name."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import conftest
import onnx_infer
import onnx_infer.rules
import symdim
import symdim.einsum
from onnx_infer.tools.cli.arguments import read_arguments
from symdim.algebra.caches import Cache
from tests.pages import PAGES, ROOT, Block, blocks_of, check_commands, text_of, toml_of

NOT_RUN = {"ebnf", "text"}
"""Languages of blocks that are no code: grammars and diagrams."""

FILES = {
    "docs/emit.md": "tests/onnx_infer/test_emitted_c.py",
    "docs/fleets.md": "integration_tests/test_dask.py",
    "docs/first_hour.md": "tests/onnx_infer/test_first_hour_page.py",
    "docs/coming_from.md": "tests/test_coming_from.py",
    "docs/plugins.md": "tests/onnx_infer/test_plugins.py",
    "CONTRIBUTING.md": "tests/test_docs.py",
}
"""Pages with Python that is no session, or with C, and the test that runs it."""

WORKPLACES = {"docs/fleets.md": "tests/test_workplaces.py"}
"""Pages with YAML, and the test that reads it."""

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = toml_of((ROOT / "pyproject.toml").read_text("utf-8"))
COLLECTED = PROJECT["tool"]["pytest"]["ini_options"]["testpaths"]
BLOCKS = [(page, block) for page in PAGES for block in blocks_of(page)]


def runner_of(page: str, block: Block) -> str | None:
    """What tests a block; None for one that escapes."""
    if block.language in NOT_RUN:
        return "nothing"
    if block.is_example:
        is_collected = page.split("/")[0] in COLLECTED and page not in conftest.BY_A_TEST
        return "doctest" if is_collected else FILES.get(page)
    if block.language in ("python", "c"):
        return FILES.get(page)
    if block.language == "yaml":
        return WORKPLACES.get(page)
    return {"console": "commands", "sh": "commands that exist", "toml": "a reader", "js": "node"}.get(block.language)


@pytest.mark.parametrize("page, block", BLOCKS, ids=lambda x: x if isinstance(x, str) else x.text.split("\n")[0][:40])
def test_no_block_escapes(page: str, block: Block) -> None:
    assert runner_of(page, block) is not None, f"{page}: a test must run this block, or its language say that it cannot"
    if block.language == "toml":
        toml_of(block.text)


def test_a_block_that_escapes_is_found() -> None:
    assert runner_of("docs/planning.md", Block("python", "import onnx\n", "")) is None
    assert runner_of("docs/planning.md", Block("", "onnx-infer\n", "")) is None
    assert runner_of("SECURITY.md", Block("python", ">>> 1\n1\n", "")) is None


def test_every_fence_is_a_block() -> None:
    for page in PAGES:
        assert len(re.findall(r"^ *```", text_of(page), re.M)) == 2 * len(blocks_of(page)), page


def test_pages_that_a_test_runs_are_named_in_it() -> None:
    assert set(conftest.BY_A_TEST) <= set(FILES)
    assert "tests/test_coming_from.py" in text_of(".github/workflows/test.yml"), "the job with torch, onnxscript, spox"
    for page, test in (*FILES.items(), *WORKPLACES.items()):
        assert page.rpartition("/")[2] in (ROOT / test).read_text("utf-8")


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        if page not in conftest.BY_A_TEST and any(block.language == "console" for block in blocks_of(page))
    ],
)
def test_commands_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    for block in blocks_of(page):
        if block.language == "console":
            check_commands(block.text, tmp_path)


@pytest.mark.parametrize("page, text", [(page, block.text) for page, block in BLOCKS if block.language == "sh"])
def test_the_commands_of_a_page_exist(page: str, text: str) -> None:
    for line in text.splitlines():
        for command in re.split(r"&& | \|\| ", line):
            words = shlex.split(command, comments=True)
            while words and words[-2:-1] in (["<"], [">"]):
                words = words[:-2]
            if words:
                check_program(words)


def check_program(words: list[str]) -> None:
    """Check that a program has the module, script, extra or options with which it is called."""
    program, *arguments = words
    program = program.removeprefix(".venv/bin/").replace("python3", "python")
    if program == "python" and arguments[0] == "-m":
        program, arguments = ("pip", arguments[2:]) if arguments[1] == "pip" else (arguments[1], arguments[2:])
        assert program in ("pip", "coverage", "pre_commit") or find_spec(program), words
    if program == "python":
        assert (ROOT / arguments[0]).is_file(), words
    elif program in ("onnx-infer", "onnx_infer"):
        read_arguments(arguments)
    elif program == "pip":
        known = PROJECT["project"]["optional-dependencies"]
        assert all(extra in known for word in arguments for extra in extras_of(word)), words
        groups = [word for before, word in pairwise(arguments) if before == "--group"]
        assert all(group in PROJECT["dependency-groups"] for group in groups), words
    else:
        tools = ("cc", "venv", "pytest", "coverage", "mutmut", "pre_commit", "ruff", "mypy")
        assert program in tools or find_spec(program), words


def extras_of(word: str) -> list[str]:
    """The extras of a requirement.

    >>> extras_of("-e"), extras_of("onnx-symdim[onnx,cli]")
    ([], ['onnx', 'cli'])
    """
    return word.partition("[")[2].rstrip("]").split(",") if "[" in word else []


def test_the_rule_and_the_form_of_the_contribution_guide_run() -> None:
    """The cases below the rule hold for it."""
    rule, cases, form = [block.text for block in blocks_of("CONTRIBUTING.md") if block.language in ("python", "text")]
    program = f"""
from onnx_infer.constraints import form
from onnx_infer.constraints.relations import Relations
from onnx_infer.rules import *
from symdim import Row
{rule}
{form}
for case in {cases.splitlines()!r}:
    found, expected = run_case(case)
    assert found == expected, case
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


# the site


def nav() -> list[str]:
    """The pages in the navigation of the site."""
    return re.findall(r"^ +- (?:[^:\n]+: )?([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M)


def test_the_site_lists_pages_that_exist() -> None:
    pages = nav()
    assert 20 < len(pages) == len(set(pages)) <= 24, "few pages; a new one takes the place of another"
    left_out = {"docs/package_page.md"}  # the page of the package index
    assert {f"docs/{page}" for page in pages} == {page for page in PAGES if page.startswith("docs/")} - left_out


def links_of(page: str) -> list[str]:
    """The files to which a page links, relative to it."""
    prose = re.sub(r"`[^`\n]+`", "", text_of(page))  # `floor[f32](x)` is no link
    return [target for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose) if "://" not in target]


def test_the_index_links_to_every_page() -> None:
    assert set(nav()) - {"index.md"} <= set(links_of("docs/index.md"))


def test_every_page_begins_with_its_question() -> None:
    for page in nav():
        title, first, *_ = text_of(f"docs/{page}").split("\n\n")
        assert title.startswith("# "), page
        assert re.match(r"[A-Z](?:[^.]|\.\w)*\?", first), f"{page} begins with the question that it answers"


@pytest.mark.parametrize("page", ["docs/verdicts.md", "SECURITY.md"])
def test_the_tests_that_hold_a_promise_exist(page: str) -> None:
    first, *others = text_of(page).split("\n## ")
    text = first if page.startswith("docs/") else "".join((first, *others))
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    held = [re.findall(r"`(tests/[\w/]+\.py)`", row) for row in rows]
    assert held
    assert all(held)
    assert [path for paths in held for path in paths if not (ROOT / path).is_file()] == []


def test_the_design_has_one_section_for_each_room() -> None:
    text = text_of("docs/design.md")
    named = [
        room for heading in re.findall(r"^### (.*)$", text, re.MULTILINE) for room in re.findall(r"(\w+)/", heading)
    ]
    rooms = [path.parent.name for top in ("symdim", "onnx_infer") for path in (ROOT / top).glob("*/__init__.py")]
    assert sorted(named) == sorted(rooms)
    glossary = text.partition("## Glossary")[2].partition("\n## ")[0]
    assert 20 <= glossary.count("\n| ") - 1 <= 30


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in links_of(page):
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}"


@pytest.mark.parametrize("module", [symdim, symdim.einsum, onnx_infer, onnx_infer.rules], ids=lambda m: m.__name__)
def test_the_reference_has_every_public_name(module: object) -> None:
    listed = {name for page in PAGES for name in re.findall(r"^::: ([\w.]+)$", text_of(page), re.M)}
    package = module.__name__  # type: ignore[attr-defined]
    names = {f"{package}.{name}" for name in module.__all__} - {"onnx_infer.__version__"}  # type: ignore[attr-defined]
    assert names <= listed


# limits

DATA = ROOT / "tests" / "data"
LIMITS = [
    tuple(line.split(" | ")[:2]) for line in (DATA / "limits.txt").read_text("utf-8").splitlines()[3:] if " | " in line
]
SHOWN = re.findall(r"^\| `([\w.]+)` \| ([\d*]+) \|", text_of("docs/limits.md"), re.M)


@pytest.mark.parametrize("limit, value", LIMITS, ids=lambda x: x)
def test_limits_are_those_of_the_code(limit: str, value: str) -> None:
    module, _, name = limit.rpartition(".")
    found = getattr(import_module(module), name, None)
    if isinstance(found, Cache):
        found = found.limit
    elif hasattr(found, "cache_parameters"):  # a function that remembers its results
        found = found.cache_parameters()["maxsize"]
    base, _, exponent = value.partition("**")
    assert found == int(base) ** int(exponent or 1), "correct tests/data/limits.txt"


def test_the_page_of_limits_shows_some_of_them() -> None:
    assert len(LIMITS) == len(set(LIMITS)) > 100
    assert len(SHOWN) > 30
    assert set(SHOWN) <= set(LIMITS)


@pytest.mark.parametrize("page, most", [("docs/limits.md", 2000), ("docs/design.md", 3500)])
def test_long_pages_stay_short(page: str, most: int) -> None:
    assert len(text_of(page).split()) <= most


# loops


def loops_of(path: Path) -> Iterator[str]:
    """The functions of a file with a loop that may go on: `while`, or `for` with a number that nobody reads."""

    def visit(node: ast.AST, name: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            is_open = isinstance(child, ast.While)
            if isinstance(child, ast.For):
                called = ast.unparse(child.iter.func) if isinstance(child.iter, ast.Call) else ""
                is_open = called == "count" or ast.unparse(child.target) == "_"
            if is_open:
                yield name
            named = isinstance(child, ast.ClassDef | ast.FunctionDef)
            yield from visit(child, f"{name}.{child.name}" if named else name)  # type: ignore[attr-defined]

    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    yield from visit(ast.parse(path.read_text("utf-8")), module)


def test_every_loop_has_a_reason_to_end() -> None:
    text = (DATA / "loops.txt").read_text("utf-8")
    listed = re.findall(r"(?:^    | \| )((?:symdim|onnx_infer)\.[\w.]+)$", text, re.M)
    found = {name for top in ("symdim", "onnx_infer") for path in (ROOT / top).rglob("*.py") for name in loops_of(path)}
    assert len(listed) == len(set(listed))
    assert found - set(listed) == set(), "say in tests/data/loops.txt why these loops end"
    assert set(listed) - found == set()


# the playground


def test_the_program_of_the_playground_answers_what_the_page_asks() -> None:
    """The Python of `playground.js`, with what the fields of the page say at first."""
    script = text_of("docs/site/playground.js")
    (program,) = re.findall(r"const PROGRAM = `\n(.*?)`;", script, re.S)
    page = text_of("docs/index.md")
    given = dict(re.findall(r'<input data-name="(\w+)"[^>]*?value="([^"]*)"', page.replace("&gt;", ">")))
    namespace: dict[str, Any] = {}
    exec(program, namespace)

    def answer(name: str, **others: str) -> dict[str, str]:
        found: dict[str, str] = json.loads(namespace["answer"](name, json.dumps({**given, **others})))
        return found

    outputs = re.findall(r'<output data-name="(\w+)">', page)
    assert set(outputs) | {"most"} == set(given)
    assert [answer(name) for name in outputs[:3]] == [{"text": "(H + 1)//2"}, {"text": "H//2"}, {"text": "always"}]
    values = json.loads(answer("plot")["text"])
    assert values == [-h % 8 for h in range(1, 65)]
    assert answer("statement", statement="H//2*2 == H") == {"text": "not always: not for {H: 1}"}
    assert "position 3" in answer("size", size="N +")["error"]
    assert "over one symbol" in answer("plot", plot="N + M")["error"]


def test_the_site_has_the_files_that_its_settings_name() -> None:
    named = re.findall(r"\bsite/[\w.]+", (ROOT / "mkdocs.yml").read_text("utf-8"))
    assert len(named) == 3, named
    assert "site/" not in text_of(".gitignore").splitlines(), "this would keep docs/site/ out of the repository"
    assert all((ROOT / "docs" / name).is_file() for name in named)
