"""A copy of the core in another project: it needs nothing else, and lives beside the original."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import symdim
from symdim.__main__ import OK, REFUSED, main
from symdim.vendoring import COPIES
from tests.symdim.dim_param_vectors import PATH
from tests.test_rooms import imports, sources, without_types

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

VECTORS = """
import json, sys
from functools import partial
from math import floor
sys.modules["symdim"] = None  # an import of it fails
from acme import _sizes
from acme._sizes.algebra.evaluate import applications_in

def answer(vector):
    read, given = (_sizes.parse, ()) if "declared" not in vector else (_sizes.read_dim_param, (vector["declared"],))
    try:
        dim = read(vector["text"], *given, dialect=vector.get("dialect"))
    except _sizes.ParseError as error:
        if "which this copy of the core lacks" in str(error):
            lacking.append(vector["text"])
        return None
    return str(dim), [value(dim, sizes) for sizes, _ in vector["values"]]

def value(dim, sizes):
    if isinstance(dim, int):
        return dim
    functions = {node.function for node in applications_in([dim]) if node.function.meaning is None}
    try:
        return dim.to_int(sizes | {f: partial(value_of_unknown, f) for f in functions})
    except (_sizes.DivisionByZero, _sizes.UnboundName):
        return None

def value_of_unknown(f, *arguments):
    return len(str(f)) + sum((i + 1) * floor(x) for i, x in enumerate(arguments))

right = 0
lacking = []
for vector in json.load(open(sys.argv[1], encoding="utf-8"))["vectors"]:
    if vector["reads"] == "nothing":  # the reader of models leaves these out before it parses
        right += 1
    elif vector["reads"] == "error":
        right += answer(vector) is None
    elif (found := answer(vector)) is not None:
        text, values = found
        right += text == vector.get("canonical", text) and values == [size for _, size in vector["values"]]
print(right)
named = ("[", "sqrt", "heaviside", "sign")
print(len(lacking), [text for text in lacking if not any(name in text.lower() for name in named)])
print([name for name in sys.modules if name.partition(".")[0] in ("onnx_infer", "onnx", "sympy", "numpy")])
"""

MISSING = """
from acme._sizes.parser.functions import function
for text in ("1 + floor[f32](N)", "Heaviside(N, 1)"):
    print(check(text).message)
try:
    function("sqrt")
except SymdimError as error:
    print(error)
"""

PROOFS = """
import sys
sys.modules["symdim"] = None
import sizes
x = sizes.Var("x")
print(sizes.simplify(x // 8 * 8, sizes.Facts(["x % 8 == 0"])), sizes.equal(x // 2 * 2, x), x.guarantee())
print([name for name in sizes.__all__ if getattr(sizes, name) is None])
"""


def run(program: str, project: Path, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A copy in this process."""
    assert main(["vendor", str(tmp_path), "--package", "vendored_sizes"]) == OK
    monkeypatch.syspath_prepend(str(tmp_path))
    yield import_module("vendored_sizes")
    for name in [name for name in sys.modules if name.partition(".")[0] == "vendored_sizes"]:
        del sys.modules[name]


def test_all_vectors_hold_in_a_project_without_symdim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = tmp_path / "acme"
    assert main(["vendor", str(package), "--package", "_sizes", "--with", "dialects"]) == OK
    assert "files" in capsys.readouterr().out
    number = len(json.loads(PATH.read_text(encoding="utf-8"))["vectors"])
    assert run(VECTORS, tmp_path, str(PATH)).split("\n")[:3] == [str(number), "0 []", "[]"]
    assert (package / "_sizes" / "LICENSE").read_text("utf-8").split()[:3] == ["Apache", "License", "Version"]


def test_the_core_alone_names_what_a_text_needs(tmp_path: Path) -> None:
    package = tmp_path / "acme"
    assert main(["vendor", str(package), "--package", "_sizes"]) == OK
    assert not (package / "_sizes" / "dialects").exists()
    right, lacking, others, _ = run(VECTORS, tmp_path, str(PATH)).split("\n")
    number = len(json.loads(PATH.read_text(encoding="utf-8"))["vectors"])
    assert (lacking.partition(" ")[2], others) == ("[]", "[]")
    assert 0 < number - int(right) < int(lacking.partition(" ")[0]) < 60
    program = f"import sys; sys.modules['symdim'] = None; from acme._sizes import *\n{MISSING}"
    assert run(program, tmp_path).splitlines() == [
        "floor[f32] is read with `symdim.dialects`, which this copy of the core lacks",
        "Heaviside is read with `symdim.dialects`, which this copy of the core lacks",
        "'sqrt' has a meaning: give the function a domain, or another name",
    ]


def test_the_prover_on_request(tmp_path: Path) -> None:
    assert main(["vendor", str(tmp_path), "--package", "sizes", "--with", "prover"]) == OK
    assert run(PROOFS, tmp_path).splitlines() == ["x False x", "[]"]


@pytest.mark.parametrize("extra", COPIES)
def test_what_a_copy_imports_is_in_it(extra: str) -> None:
    texts = sources("symdim")
    files = {m: text for m, text in texts.items() if m.partition(".")[2].partition(".")[0] in COPIES[extra]}
    found = {(m, other) for m, text in files.items() for other in imports(without_types(text), set(texts))}
    assert [(m, other) for m, other in sorted(found) if other not in {*files, "symdim"}] == []


def test_two_copies_live_in_one_process(copy: ModuleType) -> None:
    ours, theirs = symdim.Var("N"), copy.Var("N")
    assert copy.__version__ == symdim.__version__
    assert copy.Var is not symdim.Var
    assert str(copy.parse("floor(N/2 - 1/2) + 1")) == str(symdim.parse("floor(N/2 - 1/2) + 1"))
    assert theirs is not ours
    assert theirs != ours
    with pytest.raises(TypeError):
        theirs + ours
    copy.clear_caches()
    assert symdim.Var("N") is ours


def test_a_copy_is_renewed_and_nothing_else_is_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vendor", str(tmp_path)]) == OK
    copy = tmp_path / "symdim"
    assert main(["vendor", str(tmp_path), "--with", "prover"]) == OK
    assert (copy / "prove.py").exists()
    run("import symdim.prove", tmp_path)  # leaves compiled files
    assert main(["vendor", str(tmp_path)]) == OK
    assert not (copy / "prove.py").exists()
    (tmp_path / "mine").mkdir()
    capsys.readouterr()
    for package in ("mine", "no-name", "class", "None", "__init__"):
        assert main(["vendor", str(tmp_path), "--package", package]) == REFUSED
        assert package in capsys.readouterr().err
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_file_of_the_user_is_never_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vendor", str(tmp_path)]) == OK
    for name in ("mine.py", "algebra/mine.py", "mine/data.bin", "link.py", "errors.py", "LICENSE"):
        mine = tmp_path / "symdim" / name
        mine.parent.mkdir(exist_ok=True)
        before = mine.read_bytes() if mine.exists() else None
        if name == "link.py":
            mine.symlink_to(tmp_path / "symdim" / "errors.py")
        else:
            mine.write_text("# my own")
        assert main(["vendor", str(tmp_path), "--with", "prover"]) == REFUSED
        assert str(mine) in capsys.readouterr().err
        assert mine.is_symlink() or mine.read_text() == "# my own"
        assert not (tmp_path / "symdim" / "prove.py").exists()
        mine.unlink()
        if before is not None:
            mine.write_bytes(before)
    assert main(["vendor", str(tmp_path), "--with", "prover"]) == OK
