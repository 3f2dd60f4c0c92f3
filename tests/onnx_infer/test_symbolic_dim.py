"""`onnx_ir.SymbolicDim` with the arithmetic of symdim."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from random import Random
from typing import Any

import onnx_ir as ir
import pytest

import symdim
from onnx_infer.integrations import onnx_ir, symbolic_dim
from onnx_infer.integrations.symbolic_dim import SymbolicDim
from onnx_infer.operators.context import ShapeInferenceContext
from symdim import BoundsError, ParseError, Rational, Var

N, M = SymbolicDim("N"), SymbolicDim("M")
NOTHING = SymbolicDim(None)


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (N + 1, "N + 1"),
        (1 + N, "N + 1"),
        (N + M, "M + N"),
        (10 - N, "10 - N"),
        (N - 1, "N - 1"),
        (-N, "-N"),
        (2 * N * M, "2*M*N"),
        (N // 2, "floor(N/2)"),
        ((N + 1) // 2, "floor(N/2 + 1/2)"),
        ((N - 3 + 2) // 1 + 1, "N"),
        ((N + 1) // M, "floor((N + 1)/M)"),
        (-(-N // 2), "-floor(-N/2)"),
        (N - -(-N // 2), "N + floor(-N/2)"),
        (N % 2, "Mod(N, 2)"),
        (7 // N, "floor(7/N)"),
        (7 % N, "Mod(7, N)"),
        (N / 3, "N/3"),
        ((N + 1) / 2 + N, "3*N/2 + 1/2"),
        (6 / N, "6/N"),
        (N * M / N, "M"),
        (2 * N / 2, "N"),
        (math.ceil(N / 3), "ceiling(N/3)"),
        (math.floor(N / 3), "floor(N/3)"),
        (math.trunc(N), "N"),
        (SymbolicDim("N + N").simplify(), "2*N"),
        (SymbolicDim("-floor(-N/2)").simplify(), "floor(N/2 + 1/2)"),
        (SymbolicDim("sqrt(N)") * 2, "2*sqrt(N)"),
        (SymbolicDim("sqrt(N**2)") + 0, "N"),
        (SymbolicDim("seq len") * 2, "2*`seq len`"),
        (SymbolicDim("?") * 2 / 2, "?"),
        (SymbolicDim("a:b") + 0, "a:b"),
        (SymbolicDim("TruncToInt(N/2)") + 0, "floor(N/2)"),
        (SymbolicDim(symdim.parse("(N + 1)//2")), "floor(N/2 + 1/2)"),
        (SymbolicDim(Rational(Var("N"), 2)), "N/2"),
    ],
    ids=str,
)
def test_texts(dim: Any, text: str) -> None:
    assert (type(dim), dim.value) == (SymbolicDim, text)


def test_a_chain_stays_short() -> None:
    size: Any = SymbolicDim("H")
    for _ in range(20):
        size = (size + 2 * 1 - 3) // 2 + 1
    assert len(str(size)) < 40


def test_the_steps_of_a_computation_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[Any] = []
    text_of = symbolic_dim.sympy_text
    monkeypatch.setattr(symbolic_dim, "sympy_text", lambda value: printed.append(value) or text_of(value))
    size = ((N + 1) // 2 * 2).simplify() + 0
    others = [copy.copy(size), copy.deepcopy(size), pickle.loads(pickle.dumps(size))]
    assert len(printed) == 1  # a copy is made of the text
    assert {size, *others} == {"2*floor(N/2 + 1/2)"}
    assert len(printed) == 1


def test_nothing_known_absorbs() -> None:
    for dim in (NOTHING + 1, NOTHING * 0, N + NOTHING, 3 - NOTHING, NOTHING / 2, -NOTHING, math.ceil(NOTHING)):
        assert dim.value is None
    assert (NOTHING.simplify().value, NOTHING.evaluate({"N": 1}).value, NOTHING.free_symbols()) == (None, None, set())
    assert NOTHING._expr is None


def test_a_dim_is_its_text() -> None:
    theirs = ir.SymbolicDim("N")
    assert N == "N" == theirs == N
    assert hash(N) == hash("N")
    assert SymbolicDim("N + N") != SymbolicDim("2*N")
    assert NOTHING == None  # noqa: E711
    assert N != 3
    assert copy.deepcopy(N + 1) == N + 1
    with pytest.raises(TypeError, match="use the int itself"):
        SymbolicDim(3)
    with pytest.raises(TypeError, match="made of a text"):
        SymbolicDim(0.5)
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = N + "x"


def test_values() -> None:
    dim = (N + M) // 2 * 3
    assert dim.evaluate({"N": 4, "M": 3}) == 9
    assert dim.evaluate({"N": 4}).evaluate({"M": 3}) == 9
    assert dim.free_symbols() == {"N", "M"}
    assert SymbolicDim("max(N, 1)").evaluate({"N": 0}) == 1
    assert (N / 2).evaluate({"N": 6}) == 3
    assert (N / 2).evaluate({"N": 5}).value == "5/2"
    root = SymbolicDim("sqrt(N + M) + 1")
    assert (root.free_symbols(), root.evaluate({"N": 9, "M": 7}), root.evaluate({"N": 5}).value) == (
        {"N", "M"}, 5, "sqrt(M + 5) + 1",
    )  # fmt: skip
    assert root.evaluate({"N": 2, "M": 1}).value == "sqrt(3) + 1"
    assert SymbolicDim("sqrt(sqrt(N))").evaluate({"N": 16}) == 2
    with pytest.raises(BoundsError, match="'N' is at least 0, not -1"):
        N.evaluate({"N": -1})


@pytest.mark.parametrize("text", ["__import__('os')", "eval('1+1')", "f(N", "(N", ""])
def test_calls_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        SymbolicDim(text).free_symbols()


def test_values_agree_with_arithmetic_of_numbers() -> None:
    random = Random(5)
    operators = {
        "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y,
        "//": lambda x, y: x // y, "%": lambda x, y: x % y,
    }  # fmt: skip
    for _ in range(400):
        sizes = {"N": random.randint(0, 9), "M": random.randint(0, 9)}
        dim: Any = N
        number = sizes["N"]
        for _ in range(random.randint(1, 7)):
            operator = random.choice(list(operators))
            other, value = random.choice([(M, sizes["M"]), (N + 2, sizes["N"] + 2), (3, 3), (-2, -2)])
            if operator in ("//", "%") and value == 0:
                continue
            dim, number = operators[operator](dim, other), operators[operator](number, value)
            if random.random() < 0.2:
                dim, number = -dim, -number
        assert dim.evaluate(sizes) == number, dim
        assert SymbolicDim(dim.value).evaluate(sizes) == number, dim
        symdim.clear_caches()
        assert (SymbolicDim(dim.value).evaluate(sizes), dim.simplify().evaluate(sizes)) == (number, number), dim


def test_installed_it_serves_all_of_onnx_ir() -> None:
    before = ir.SymbolicDim("N")
    with symbolic_dim.installed():
        shape = ir.Shape(["N", 3, before * 2 - ir.SymbolicDim("N")])
        assert str(shape.simplify()[2]) == "N"
        assert shape.evaluate({"N": 4}) == (4, 3, 4)
        assert shape.free_symbols() == {"N"}
        assert type(shape[2]) is ir.SymbolicDim
        assert (7 % before).value == "Mod(7, N)"  # SymPy's class has no such operation
        with symbolic_dim.installed():
            pass
        assert (before // 2 * 2 + before % 2).value == "N"
        value = ir.Value(name="x", shape=shape, type=ir.TensorType(ir.DataType.FLOAT))
        assert ir.serde.serialize_value(value).type.tensor_type.shape.dim[2].dim_param == "N"
        half = (before + 1) // 2
    with pytest.raises(TypeError):
        _ = 7 % before
    assert (half + 1).value == "floor(N/2 + 1/2) + 1"  # SymPy reads the text, which nobody has asked for until now
    assert isinstance(N, ir.SymbolicDim)
    assert ir.Shape([N + 1])[0] == "N + 1"
    symbolic_dim.install()
    symbolic_dim.install()
    symbolic_dim.uninstall()
    symbolic_dim.uninstall()
    assert (before * 2 + 1).value == "2*N + 1"
    with pytest.raises(TypeError):
        _ = 7 % before


def test_sympy_is_loaded_only_for_its_expressions() -> None:
    code = """
import sys
from onnx_infer.integrations import symbolic_dim
symbolic_dim.install()
import onnx_ir as ir
N = ir.SymbolicDim("N")
shape = ir.Shape([(N + 1)//2, -(-N // 3), N / 2])
assert shape.evaluate({"N": 6}) == (3, 2, 3), shape
assert "sympy.core" not in sys.modules
assert str((N + 1)._expr) == "N + 1"
assert "sympy.core" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_expressions_of_sympy() -> None:
    import sympy  # onnx_ir needs it

    symbol = sympy.Symbol("N", integer=True, positive=True)
    dim = SymbolicDim(sympy.floor(symbol / 2) + 1)
    assert (dim.value, (dim * 2).value, dim._expr) == (
        "floor(N/2) + 1",
        "2*floor(N/2) + 2",
        sympy.floor(symbol / 2) + 1,
    )
    assert ((N + 1) // 2)._expr == sympy.floor((symbol + 1) / 2)
    assert math.ceil(N / 3)._expr == sympy.ceiling(symbol / 3)
    assert (SymbolicDim("seq len") + 1)._expr == sympy.Symbol("seq len", integer=True, positive=True) + 1
    assert SymbolicDim("sqrt(N)")._expr == sympy.sqrt(symbol)


def test_the_words_of_the_design_of_onnx_ir() -> None:
    """Sizes of onnx_ir in a shape, elements in the metadata of values, names of new sizes."""
    shape = symdim.Shape([ir.SymbolicDim("N"), 3, ir.SymbolicDim("N") + 1, ir.SymbolicDim(None)])
    assert shape[:3] == (Var("N"), 3, Var("N") + 1)
    assert symdim.Shape(ir.Shape(["N", 2])) == (Var("N"), 2)
    assert str(ShapeInferenceContext().new_symbolic_dim("kept")) == "kept0"
    model = ir.from_onnx_text(
        '<ir_version: 10, opset_import: ["": 20]> g (float[N, 3, H] x) => (y) { s = Shape (x)  y = Identity (s) }'
    )
    onnx_ir.infer_symbolic_shapes(model)
    for node in model.graph:
        assert node.outputs[0].meta["symbolic_value"] == ["N", 3, "H"]
        assert isinstance(node.outputs[0].meta["symbolic_value"][0], ir.SymbolicDim)
