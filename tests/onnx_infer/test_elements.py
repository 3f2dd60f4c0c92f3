"""Propagated elements against runs: where all operands are known, an element that we claim is the one of the run.

The operator cases are run at concrete sizes with random small elements, by onnx's reference evaluator.
As a program: `python -m tests.onnx_infer.test_elements` lists the operators that propagate nothing.
"""

from __future__ import annotations

import math
import warnings
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from onnx_infer import infer
from onnx_infer.elements.ratio import Near
from onnx_infer.errors import OnnxInferError
from onnx_infer.testing import infer_node
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from tests.nightly import is_nightly
from tests.onnx_infer.node_cases import NodeCase, element_of, lines, model, read, versions
from tests.onnx_infer.texts import parsed

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Value

MOST = 48
"""The most elements of an operand: floats beyond 64 are weights and not propagated."""


def is_judged(case: NodeCase) -> bool:
    """Whether the reference evaluator is an oracle: it does not align operands by the `axis` of versions 1 to 6."""
    return "broadcast" not in case.attributes


class Run(NamedTuple):
    """A node with all operands known, what we claim of its outputs and what the run gave."""

    case: NodeCase
    claimed: list[Value]
    actual: list[Any]

    @property
    def problems(self) -> list[str]:
        """The claims that are wrong."""
        return [text for c, a in zip(self.claimed, self.actual, strict=False) for text in wrong(c, a)]

    @property
    def propagates(self) -> bool:
        """Whether any element is claimed."""
        return any(isinstance(v, SymTensor) and v.data is not None for v in self.claimed)


def wrong(value: Value, actual: Any) -> list[str]:
    """What a tensor's elements claim that is not so."""
    if not isinstance(value, SymTensor) or value.data is None or not isinstance(actual, (np.ndarray, np.generic)):
        return []
    found = np.asarray(actual)
    if value.shape != found.shape:
        return [f"shape {value.shape} is {found.shape}"]
    pairs = zip(value.data, found.ravel().tolist(), strict=True)
    return [f"element {i}: {c} is {a}" for i, (c, a) in enumerate(pairs) if c is not None and not same(c, a)]


def same(claimed: Any, actual: Any) -> bool:
    """Whether an element is exactly the one of the run, or a float near it."""
    if isinstance(claimed, Near):
        return claimed.low <= actual <= claimed.high
    if isinstance(claimed, float) and math.isnan(actual):
        return False
    return bool(claimed == actual) and isinstance(claimed, str) == isinstance(actual, str)


def with_elements(case: NodeCase, rng: Random) -> NodeCase | None:
    """The case with random elements where operands have none, floats or integers; None where one is no small tensor."""
    inputs: list[Value | None] = []
    number = rng.choice((dt.FLOAT, dt.INT64, dt.INT32))
    for value in case.inputs:
        if value is None:
            inputs.append(None)
            continue
        if isinstance(value, SymTensor) and value.dtype == dt.FLOAT and value.data is None:
            value = SymTensor(number, value.shape)
        if not isinstance(value, SymTensor) or value.shape is None or value.dtype not in FILLED:
            return None
        count = math.prod(int(str(d)) for d in value.shape)
        if count > MOST:
            return None
        if value.data is None:
            elements = [element_of(value.dtype, rng.choice((-3, -2, -1, 0, 0, 1, 1, 2, 3, 5))) for _ in range(count)]
            value = SymTensor(value.dtype, value.shape, elements)
        inputs.append(value)
    return case._replace(inputs=tuple(inputs))


FILLED = {dt.FLOAT, dt.DOUBLE, dt.INT64, dt.INT32, dt.INT8, dt.UINT8, dt.BOOL, dt.FLOAT16, dt.UINT32, dt.STRING}


def run(case: NodeCase) -> Run | None:
    """The case run and inferred; None where either cannot."""
    try:
        claimed = infer_node(
            case.name,
            list(case.inputs),
            case.attributes,
            version=case.version,
            domain=case.domain,
            output_count=case.output_count,
        )
    except OnnxInferError:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            actual = ReferenceEvaluator(model(case)).run(None, {})
        except Exception:  # the reference evaluator says so in many ways that it does not do this node
            return None
    return Run(case, claimed, actual)


def runs(seed: int, rounds: int) -> list[Run]:
    """Every operator case, `rounds` times."""
    rng, found = Random(seed), []
    for line in lines() * rounds:
        case = read(line, rng)
        filled = None if case is None else with_elements(case, rng)
        done = None if filled is None else run(filled)
        if done is not None and is_judged(done.case):
            found.append(done)
    return found


@pytest.mark.parametrize("seed", range(1, 9 if is_nightly else 2))
def test_claimed_elements_are_those_of_the_run(seed: int) -> None:
    found = runs(seed, 1)
    assert sum(r.propagates for r in found) > 200
    assert not [f"{r.case}: {r.problems}" for r in found if r.problems]


def main() -> None:
    """Print wrong claims and the operators that propagate nothing."""
    found = runs(1, 10)
    for r in found:
        if r.problems:
            print(r.case, r.problems)
    some, every = {r.case.name for r in found if r.propagates}, {r.case.name for r in found}
    print("propagate:", *sorted(some))
    print("propagate nothing:", *sorted(every - some))
    print("not run:", *sorted({name for _, name in versions()} - every))


if __name__ == "__main__":
    main()


@pytest.mark.parametrize(("rank", "known"), [(32, True), (33, False), (64, False), (100, False)])
def test_elements_of_tensors_with_many_axes_are_unknown(rank: int, known: bool) -> None:
    """Some functions of NumPy take arrays of up to 32 axes only."""
    ones = ", ".join("1" * rank)
    text = f"o = Constant <value_ints = [{ones}]> () x = ConstantOfShape (o) y = NonZero (x) z = Neg (x)"
    result = infer(parsed(f"g () => (y, z) {{ {text} }}"))
    assert not result.diagnostics
    assert (result.types["x"].data is not None) == known
    assert str(result.types["y"]).startswith(f"i64[{rank}, 0]" if known else f"i64[{rank}, ")


def test_the_indices_of_an_empty_tensor_demand_nothing() -> None:
    """2,000 numbers are known by their ends; none of them is left."""
    text = (
        "g (float[N, 4] x) => (y) "
        "<int64 a = {0}, int64 b = {2000}, int64 c = {1}, int64[2] shape = {rows, 2000}> "
        "{ range = Range (a, b, c)  i = Expand (range, shape)  y = Gather <axis = 1> (x, i) }"
    )
    assert not infer(parsed(text.replace("rows", "0"))).diagnostics
    assert "index 1999 is out of bounds" in str(infer(parsed(text.replace("rows", "1"))).diagnostics[0])
