"""Integer elements that only a run knows, at random. `runs/run_time.txt` has what cancels and what does not."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer import infer
from symdim import Var

from .oracle import at
from .sessions import session_of
from .texts import parsed

if TYPE_CHECKING:
    import onnx

    from onnx_infer import InferenceResult

GRAPH = """g (float[B, S] x, int64[T] t, int64[T] u, int64 p, int64[1] q, int64[2] v) => (OUTPUTS) {
    zero = Constant<value_int=0>() one = Constant<value_int=1>() ten = Constant<value_int=10>()
    at0 = Constant<value_ints=[0]>() last = Constant<value_ints=[-1]>()
    s1 = Shape<start=1>(x) s = Squeeze(s1, at0)
    NODES }"""


# -- random models against onnxruntime ---------------------------------------------------------------------------------


def random_model(rng: random.Random) -> onnx.ModelProto:
    """Integers computed of inputs and of elements of tensors; ranges between them, and tensors of these sizes."""
    scalars = ["p", "s", "zero", "one", "ten"]
    nodes = []
    for i, operator in enumerate(rng.choices(["Gather", "ReduceMax", "Add", "Sub", "Mul", "Max", "Cast", "Neg"], k=9)):
        a, b = rng.choices(scalars, k=2)
        nodes.append(
            {
                "Gather": f"n{i} = Gather({rng.choice('tuv')}, {rng.choice(['zero', 'one'])})",
                "ReduceMax": f"n{i} = ReduceMax<keepdims=0>({rng.choice('tu')})",
                "Mul": f"n{i} = Mul({a}, one)",
                "Cast": f"c{i} = Cast<to=6>({a}) n{i} = Cast<to=7>(c{i})",
                "Neg": f"n{i} = Neg({a})",
            }.get(operator, f"n{i} = {operator}({a}, {b})")
        )
        scalars.append(f"n{i}")
    for i in range(5):
        a, b = rng.choices(scalars, k=2)
        nodes.append(f"e{i} = Add({a}, {b}) r{i} = Range({rng.choice([a, b])}, e{i}, one)")
        nodes.append(f"m{i} = Max({a}, zero) f{i} = Unsqueeze(m{i}, at0) z{i} = ConstantOfShape(f{i})")
    nodes.append("w = Concat<axis=0>(s1, f0, f1) y = Add(w, f2) z = ConstantOfShape(y)")
    names = [f"{kind}{i}" for i in range(5) for kind in "rz"]
    return parsed(GRAPH.replace("NODES", " ".join(nodes)).replace("OUTPUTS", ", ".join([*names, "z"])))


def wrong_sizes(result: InferenceResult, actual: dict[str, Any], sizes: dict[str, int]) -> list[str]:
    """The sizes that a run contradicts; what one size is that only a run knows, the first tensor tells."""
    pairs = [(dim, n) for name, x in actual.items() for dim, n in zip(result.shapes[name], x.shape, strict=True)]
    known = dict(sizes)
    known.update((dim.name, n) for dim, n in reversed(pairs) if isinstance(dim, Var) and dim.name not in sizes)
    return [f"{dim} is {n} at {known}" for dim, n in pairs if isinstance(at(dim, known), int) and at(dim, known) != n]


def integers(rng: random.Random, *shape: int) -> np.ndarray[Any, Any]:
    return np.array([rng.randint(-6, 9) for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)


def test_random_integers_against_onnxruntime() -> None:
    rng = random.Random(16)
    for _ in range(60):
        model = random_model(rng)
        result = infer(model)
        session = session_of(model)
        names = [output.name for output in session.get_outputs()]
        for _ in range(3):
            sizes = {"B": rng.randint(1, 3), "S": rng.randint(1, 5), "T": rng.randint(2, 4)}
            vectors = {name: integers(rng, sizes["T"]) for name in "tu"}
            others = {"p": integers(rng), "q": integers(rng, 1), "v": integers(rng, 2)}
            feeds = {"x": np.zeros((sizes["B"], sizes["S"]), np.float32), **vectors, **others}
            given = {i.name for i in session.get_inputs()}
            actual = dict(zip(names, session.run(None, {n: x for n, x in feeds.items() if n in given}), strict=True))
            assert wrong_sizes(result, actual, sizes) == [], model


def test_the_value_of_a_size_that_is_expanded_to_an_element() -> None:
    size = Var("N")
    (expanded,) = infer(parsed("g (float[N] x, int64[1] t) => (y) { y = Expand(x, t) }")).shapes["y"]
    value = expanded.origin.size
    (asked,) = set(value.variables()) - {size}
    for n, element in [(1, 1), (1, 4), (3, 1), (3, 3)]:
        assert value.evaluate({size: n, asked: element}) == max(n, element)
