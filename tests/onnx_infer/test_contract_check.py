"""The contract in the file: sizes are judged by it, without inference. docs/contract.md."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_infer
from onnx_infer.__main__ import main
from onnx_infer.contract import NoContractError, check, read
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, USAGE
from tests.counting import calls_of

from .test_contract import model, promised


def test_each_fault_of_the_inputs_is_told() -> None:
    found = promised()
    broken = check(found, {"x": np.zeros((4, 3, 1)), "weights": (3, 4)}).broken
    assert [str(b) for b in broken] == [
        "x is f32, and not f64",
        "the input 'w' is missing",
        "x has the rank 2, f32[N, H], and not 3",
        "'weights' is not an input; inputs are 'x', 'w'",
    ]
    assert [str(b) for b in check(found, {"x": (4, 3), "w": (3, 5)}).broken] == ["w.shape[1] is 4, and not 5"]
    with pytest.raises(onnx_infer.ArgumentError, match="feeds: 'x' is neither an array nor a shape, but int"):
        check(found, {"x": 3})


def test_axes_are_solved_for_symbols() -> None:
    found = model("g (float[N, '2*H', '2*H + N'] x) => (y) { y = Relu (x) }".replace("'", '"'), {"version": 1})
    assert check(found, {"x": (3, 8, 11)}).sizes == {"N": 3, "H": 4}
    assert [str(b) for b in check(found, {"x": (3, 7, 11)}).broken] == ["x.shape[1] is 2*H, which is never 7"]
    (broken,) = check(found, {"x": (3, 8, 12)}).broken
    assert (str(broken), broken.sizes) == ("x.shape[2] is 2*H + N, so 11, and not 12", {"H": 4, "N": 3})


def sized(x: str, y: str, *guards: dict[str, object], **bounds: object) -> onnx.ModelProto:
    """Two vectors of these sizes, and a contract."""
    text = f'g (float["{x}"] x, float["{y}"] y, float[2] k) => (z) {{ z = Relu (x) }}'
    return model(text, {"version": 1, "bounds": bounds, "guards": list(guards)})


@pytest.mark.parametrize(
    ("x", "y", "bounds", "sizes", "broken", "unchecked"),
    [
        ("H//2", "H//2", {}, (3, 5), ["y.shape[0] is H//2, so 3 as in x, and not 5"], ["x.shape[0] is H//2: H"]),
        ("H//2", "H//2", {"H": [4, 8]}, (9, 9), ["x.shape[0] is H//2, which is from 2 to 4", "y.shape[0]"], ["H >= 4"]),
        ("H//2", "3", {"H": [4, 8]}, (4, 3), [], ["x.shape[0] is H//2: H is not known", "H >= 4", "H <= 8"]),
        ("H % 4", "3", {}, (9, 3), ["x.shape[0] is H % 4, which is from 0 to 3, and not 9"], []),
        ("a*b", "a + b", {}, (6, 100), [], ["the size 'a*b': what a, b are", "the size 'a + b': what a, b are"]),
        ("a*b", "a*b", {}, (6, 7), ["y.shape[0] is a*b, so 6, and not 7"], ["the size 'a*b': what a, b are"]),
        ("4", "N", {"M": [1, 3]}, (4, 2), [], ["M >= 1", "M <= 3"]),
        ("H", "H//2", {"H": [4, 8]}, (8, 4), [], []),
        (
            "H",
            "4//H",
            {},
            (0, 4),
            ["y.shape[0] is 4//H, which divides by 0", "H = 0 is outside its declared range (H >= 1)"],
            [],
        ),
    ],
)
def test_every_axis_is_judged_or_unchecked(
    x: str, y: str, bounds: dict[str, object], sizes: tuple[int, int], broken: list[str], unchecked: list[str]
) -> None:
    verdict = check(sized(x, y, **bounds), {"x": sizes[:1], "y": sizes[1:], "k": (2,)})
    for texts, starts in ((list(map(str, verdict.broken)), broken), (verdict.unchecked, unchecked)):
        assert len(texts) >= len(starts)
        assert all(text.startswith(start) for text, start in zip(texts, starts, strict=False))
    assert verdict.ok == verdict.runs == (not verdict.broken and not verdict.unchecked)


@pytest.mark.parametrize(
    ("guard", "k", "broken", "unchecked"),
    [
        (("at_least", "N", "`k[0]`"), 2.5, ["N >= k[0] is violated (2 < 2.5)"], 0),
        (("at_least", "N", "`k[0]`"), 1.5, [], 0),
        (("equal", "`k[0]`", 2), 2.5, ["k[0] == 2 is violated (2.5 != 2)"], 0),
        (("equal", "2*`k[0]`", 5), 2.5, [], 0),
        (("at_most", "`k[0]`", "N"), float("inf"), ["k[0] <= N is violated (inf > 2)"], 0),
        (("at_most", "-3*`k[0]`", "N"), float("inf"), [], 0),
        (("at_most", "`k[0]`", "N"), float("nan"), ["k[0] <= N is violated (nan and 2)"], 0),
        (("equal", "`k[0]`", "N"), float("nan"), ["k[0] == N is violated (nan and 2)"], 0),
        (("at_least", 2**53, "`k[0]`"), 2.0**53, [], 0),
        (("at_most", "`k[0]`//2", "N"), 2.5, [], 1),
        (("at_most", "`k[0]` + `k[1]`", "N"), 2.5, [], 1),
        (("at_most", "`k[7]`", "N"), 2.5, [], 1),
    ],
)
def test_elements_that_are_no_integers_are_judged_by_their_value(
    guard: tuple[str, int | str, int | str], k: float, broken: list[str], unchecked: int
) -> None:
    found = sized("N", "N", dict(zip(("relation", "left", "right"), guard, strict=True)))
    verdict = check(found, {"x": (2,), "y": (2,), "k": np.array([k, k])})
    assert [str(b).replace("`", "") for b in verdict.broken if "k is f32" not in str(b)] == broken
    assert len(verdict.unchecked) == unchecked


def test_the_command_judges_elements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "model.onnx")
    onnx.save(sized("N", "N", {"relation": "at_least", "left": "N", "right": "`k[0]`"}), path)
    sizes = [path, "--check", "--bind", "N=4"]
    for value, code, text in (
        ("k=[4, 9]", OK, "the contract holds"),
        ("k=[4.5, 9]", MODEL_ERRORS, "broken: N >= k[0] is violated (4 < 4.5)"),
        ("q=[4]", USAGE, "onnx-infer: --value: 'q' is not an input of the graph; inputs are 'x', 'y', 'k'"),
    ):
        assert main([*sizes, "--value", value]) == code
        output = capsys.readouterr()
        assert (output.out + output.err).strip() == text
    assert main(sizes) == MODEL_ERRORS
    assert "not checked: N >= k[0]" in capsys.readouterr().out


def test_the_time_is_linear_in_the_number_of_guards() -> None:
    def calls(count: int) -> int:
        guards = [
            {"relation": "at_most", "left": f"N + {i}", "right": right} for i in range(count // 2) for right in "NQ"
        ]
        found, sizes = sized("N", "N", *guards), {"x": (2,), "y": (2,), "k": (2,)}
        assert len(check(found, sizes).unchecked) == count // 2
        return calls_of(lambda: check(found, sizes))

    assert calls(3000) < 12 * calls(300)  # 10 times; a search among all guards for each makes it 100


def test_every_kind_of_model_is_judged(tmp_path: Path) -> None:
    found, path = promised(), tmp_path / "model.onnx"
    onnx.save(found, path)
    for of in (found, found.SerializeToString(), path, ir.from_proto(found)):
        assert check(of, {"x": (4, 3), "w": (3, 4)}).ok
        verdict = check(of, {"x": (3, 3), "w": (3, 4)})
        assert (verdict.ok, verdict.runs, str(verdict)) == (
            False, True, "assumed by the caller: N % 2 == 0 is violated (1 != 0) (declared)",
        )  # fmt: skip
    with pytest.raises(NoContractError, match="the model has no contract"):
        check(model(), {})
    with pytest.raises(NoContractError, match="version 3 is not read here"):
        read(model(entry={"version": 3}))


def test_verdicts_are_those_of_the_result() -> None:
    text = """g (float[N, C, H] x, float[8, C, 3] w, float[N, K] a, float[M, 5] b) => (y, z) {
        c = Conv (x, w)  p = MaxPool <kernel_shape = [4], strides = [2]> (c)  y = Add (p, p)  z = Add (a, b) }"""
    found = model(text)
    result = onnx_infer.infer(found)
    result.apply(found, contract=True)
    rng, refused = Random(0), 0
    for _ in range(200):
        sizes = {name: rng.choice((1, 2, 3, 5, 6, 9)) for name in "NCHKM"}
        n, c, h, k, m = sizes.values()
        verdict = check(found, {"x": (n, c, h), "w": (8, c, 3), "a": (n, k), "b": (m, 5)})
        assert [str(b) for b in verdict.broken] == [str(v) for v in result.check(dict(sizes.items()))]
        refused += not verdict.ok
    assert 50 < refused < 190


def test_no_engine_is_loaded(tmp_path: Path) -> None:
    path = str(tmp_path / "model.onnx")
    onnx.save(promised(), path)
    call = f"from onnx_infer import contract; assert contract.check({path!r}, {{'x': (4, 3), 'w': (3, 4)}}).ok"
    sizes = "'--bind', 'N=4', '--input-shape', 'x:4,3', '--input-shape', 'w:3,4'"
    command = f"from onnx_infer.__main__ import main; assert main([{path!r}, '--check', {sizes}]) == 0"
    for program in (call, command):
        rooms = "'onnx_infer.engine', 'onnx_infer.ops', 'onnx_infer.inference', 'onnx_infer.api'"
        loaded = f"import sys; {program}; assert not [m for m in sys.modules if m.startswith(({rooms}))]"
        subprocess.run([sys.executable, "-c", loaded], check=True, stdout=subprocess.DEVNULL)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, typed = str(tmp_path / "model.onnx"), str(tmp_path / "typed.onnx")
    onnx.save(model(), source)

    def run(*words: str) -> tuple[int, str]:
        code = main([*words])
        output = capsys.readouterr()
        return code, (output.out + output.err).strip()

    assert run(source, "--check")[0] == USAGE
    assert run(source, "-o", typed, "--contract", "--bounds", "N=1..64")[0] == OK
    assert run(typed, "--check", "--bind", "N=64", "--bind", "H=2", "--bind", "M=2") == (OK, "the contract holds")
    code, text = run(typed, "--check", "--bind", "N=64")
    assert (code, text.splitlines()) == (
        MODEL_ERRORS,
        [
            "no violation found, but not everything was checked",
            "not checked: x.shape[1] is H: H is not known",
            "not checked: w.shape[0] is M: M is not known",
            "not checked: H == M",
        ],
    )
    code, text = run(typed, "--check", "--bind", "N=65", "--input-shape", "x:?,3", "--input-shape", "w:2,4")
    assert (code, text.splitlines()) == (
        MODEL_ERRORS,
        [
            "broken: N = 65 is outside its declared range (N <= 64)",
            "broken: MatMul 'y': inner sizes of the product: H == M is violated (3 != 2)",
        ],
    )
    assert run(typed, "--check", "--bind", "Q=1") == (
        USAGE, "onnx-infer: --bind: the model has no symbol 'Q'; its symbols are 'H', 'M', 'N'",
    )  # fmt: skip
    assert "is not a number" in run(typed, "--check", "--bind", "N=2*n")[1]
    folded = str(tmp_path / "folded.onnx")
    assert run(source, "--fold", "-o", folded, "--contract")[0] == OK
    assert read(folded).guards
    for words, message in (("--check -o a", "writes no model"), ("--contract", "needs -o"), ("--check --costs", "not")):
        with pytest.raises(SystemExit):
            main([source, *words.split()])
        assert message in capsys.readouterr().err
