"""What is remembered never changes an answer: threads, interrupts, and caches that are emptied at any moment.

`STEPS=1000 pytest tests/test_state.py` interrupts at so many steps; see `interleaving.py`.
"""

from __future__ import annotations

import gc
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier, Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
from onnx.parser import parse_model

import onnx_infer.inference
from onnx_infer import InferenceResult, infer
from onnx_infer.testing import read_attributes
from onnx_infer.values import tensor
from symdim import Expr, Scope, Var, clear_caches, maximum, parse
from symdim.algebra import interning, variable
from tests.answers import MODELS, TEXTS, algebra, folding, inference
from tests.interleaving import interleaved, interrupted, number_of_steps
from tests.nightly import is_nightly
from tests.test_processes import python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEPS = int(os.environ.get("STEPS", "8" if is_nightly else "2"))

ACTIONS: list[Callable[[], str]] = [algebra, inference, folding]
actions = pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.__name__)


def forget() -> None:
    """Empty the caches, and free the expressions of former runs, so that each run takes as many steps."""
    clear_caches()
    gc.collect()


def sampled(action: Callable[[], object]) -> range:
    """Some steps of an action, all over its first nine tenths.

    Another run may end before the last one, because expressions that still live need not be made again.
    """
    total = number_of_steps(action) * 9 // 10
    return range(1 + total // (2 * STEPS), total, 1 + total // STEPS)


# -- emptied caches ---------------------------------------------------------------------------------------------------


EMPTIED = """
from symdim import clear_caches
from tests.answers import algebra, folding, inference
from tests.interleaving import interleaved
from tests.nightly import is_nightly

every_line = ((algebra, 1), (inference, 5), (folding, 7))
for action, every in every_line if is_nightly else ((algebra, 3), (inference, 17), (folding, 29)):
    print(interleaved(action, clear_caches, every, every) == action())
"""


def test_caches_may_be_emptied_before_any_line() -> None:
    """In a new process: to empty caches costs more the more values and sizes are alive. Nightly at more lines."""
    assert set(python("-c", EMPTIED).split()) == {"True"}


def test_expressions_and_symbols_are_the_same_after_caches_are_emptied() -> None:
    bounds: dict[str, tuple[int, int | None]] = {"N": (4, None)}
    old_dim, old = parse(TEXTS[0]), infer(parse_model(MODELS["data"]), bounds=bounds)
    clear_caches()
    new = infer(parse_model(MODELS["data"]), bounds=bounds)
    assert parse(TEXTS[0]) is old_dim
    assert new.types["y"] is old.types["y"]
    assert new.guards == old.guards
    assert str(new.types["z"]) == str(old.types["z"])
    assert new.types["z"] != old.types["z"]  # as always, a data-dependent size belongs to one result


# -- threads ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def _hasty() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_hasty")
def test_cases_as_text_are_read_by_many_threads() -> None:
    """A collection of garbage that runs Python code, here a callback, may change the thread in any allocation."""
    text, thresholds = f"axes=[{', '.join(f'[-{i}, [{i}, [-1]]]' for i in range(20))}]", gc.get_threshold()

    def read(_: int) -> int:
        junk: list[object] = []
        for _ in range(100):
            read_attributes(text)
            junk.append(junk)
        return len(junk)

    def called(phase: str, info: dict[str, int]) -> None:
        for _ in range(20):
            pass

    gc.callbacks.append(called)
    gc.set_threshold(20)
    try:
        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(read, range(6))) == [100] * 6
    finally:
        gc.callbacks.remove(called)
        gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("_hasty")
@pytest.mark.parametrize("is_clearing", [False, True])
def test_threads_with_cold_caches_answer_as_one_does(is_clearing: bool) -> None:
    work = {"algebra": algebra, **{name: lambda name=name: inference(name) for name in MODELS}}
    expected = {name: action() for name, action in work.items()}
    random = Random(5)
    orders = [random.sample(list(work), len(work)) if i % 2 else list(work) for i in range(8 if is_nightly else 4)]
    start, stop = Barrier(len(orders)), Event()
    clear_caches()
    gc.collect()

    def clear() -> None:
        while not stop.wait(0.001):
            clear_caches()

    def answers(order: list[str]) -> list[tuple[str, str]]:
        start.wait()
        return [(name, work[name]()) for name in order]

    clearing = Thread(target=clear)
    if is_clearing:
        clearing.start()
    try:
        with ThreadPoolExecutor(len(orders)) as pool:
            found = list(pool.map(answers, orders))
    finally:
        stop.set()
    if is_clearing:
        clearing.join()
    for name, text in [answer for some in found for answer in some]:
        assert text == expected[name]


@pytest.mark.usefixtures("_hasty")
def test_threads_that_empty_caches_build_one_object() -> None:
    start = Barrier(8)

    def work(_: int) -> list[Expr]:
        start.wait()
        made = []
        for i in range(30):
            v, w = Var(f"t{i}"), Var(f"u{i}")
            made.append((maximum(v // 2, w, 7) + 3) * (v + w))
            clear_caches()
        return made

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(8)))
    for equal in zip(*found, strict=True):
        assert len(set(map(id, equal))) == 1


@actions
def test_another_inference_may_run_between_any_two_lines(action: Callable[[], str]) -> None:
    """As another thread does; where a lock is held, it would wait."""
    expected, locks = action(), (interning._lock, variable._lock, tensor._lock)

    def other() -> None:
        if not any(lock._is_owned() for lock in locks):  # type: ignore[attr-defined]
            clear_caches()
            algebra()
            inference("data")

    assert interleaved(action, other, 500, 20_011 if is_nightly else 60_013) == expected


# -- interrupts -------------------------------------------------------------------------------------------------------


@actions
def test_an_interrupt_leaves_no_false_entry(action: Callable[[], str]) -> None:
    expected = action()
    forget()
    stopped = 0
    for step in sampled(action):
        forget()
        stopped += interrupted(action, step)
        assert action() == expected, step
    assert stopped > STEPS // 2


def test_an_interrupt_while_a_scope_dies_leaves_no_entry() -> None:
    entries = len(Scope._live)
    total = number_of_steps(lambda: str(Scope()))
    for step in range(1, total + 1):
        interrupted(lambda: str(Scope()), step)
        assert len(Scope._live) == entries, step


def test_an_interrupt_while_a_result_is_asked_leaves_it_whole() -> None:
    """The sizes of a result become its own when it is first asked; the rest of the answers are about the same ones."""
    model = parse_model(MODELS["data"])

    def asked(result: InferenceResult) -> str:
        sizes: dict[str, set[Var]] = {}
        for shape in result.shapes.values():
            for var in [v for d in shape if isinstance(d, Expr) for v in d.variables()]:
                sizes.setdefault(var.name, set()).add(var)
        assert all(len(same) == 1 for same in sizes.values()), sizes
        return repr((result.types, result.guards, result.data_guards, result.reasons))

    results = iter([infer(model) for _ in range(2 * STEPS + 4)])
    expected = asked(next(results))
    for step in sampled(lambda: next(results).types):
        result = next(results)
        interrupted(lambda result=result: result.types, step)  # type: ignore[misc]
        assert asked(result) == expected, step


def test_the_collector_runs_again_after_an_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the inference raises. Where the collector did not run before, it does not run afterwards."""
    model = parse_model('<ir_version: 10, opset_import: ["": 20]> g (float[N] x) => (y) { y = Neg (x) }')
    seen: list[bool] = []
    outer = onnx_infer.inference.infer_forward

    def infer_forward(*given: Any, **options: Any) -> Any:
        seen.append(gc.isenabled())
        return outer(*given, **options)

    monkeypatch.setattr(onnx_infer.inference, "infer_forward", infer_forward)
    infer(model)
    assert gc.isenabled()
    with pytest.raises(ValueError, match="policy"):
        infer(model, policy="none")  # type: ignore[arg-type]
    assert gc.isenabled()
    gc.disable()
    try:
        infer(model)
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert seen == [False, False]


def test_the_collector_runs_after_inferences_in_several_threads() -> None:
    """Another inference, which has turned the collector off, ends between any two lines of this one."""
    model = parse_model('<ir_version: 10, opset_import: ["": 20]> g (float[N] x) => (y) { y = Neg (x) }')
    infer(model)
    try:
        for line in range(1, 100):
            gc.disable()
            interleaved(lambda: infer(model), gc.enable, line, sys.maxsize)
            assert gc.isenabled(), line
    finally:
        gc.enable()
