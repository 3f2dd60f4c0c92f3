"""Other processes give the same answers: new ones, forked ones, those that read a pickle, under every hash seed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from onnx.parser import parse_model

import onnx_infer
import symdim
from onnx_infer import infer, make_dynamic, materialize
from symdim import Bindings, Facts, Row, Scope, Shape, Store, Var, maximum, minimum, parse
from symdim.einsum.reader import parse_spec
from symdim.rows import RowVar
from tests.answers import MODELS, OPTIONS, inference
from tests.nightly import HASH_SEEDS, is_nightly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STEPS = int(os.environ.get("STEPS", "8" if is_nightly else "2"))

FIRST_USE = """
import os, sys
import onnx.parser
from tests.interleaving import interrupted, number_of_steps

def action():
    from tests.answers import inference
    return inference()

def told(step):
    # what a forked process says, whose first use of the packages was interrupted
    end, pipe = os.pipe()
    if not os.fork():
        os.close(end)
        text = str(interrupted(action, step)) * 0 + action() if step else f"{number_of_steps(action)} {action()}"
        with os.fdopen(pipe, "w") as out:
            out.write(text)
        os._exit(0)
    os.close(pipe)
    with os.fdopen(end) as answer:
        text = answer.read()
    os.wait()
    return text

total, _, expected = told(0).partition(" ")
total, tries = int(total), int(sys.argv[1])
print(total, [step for step in range(total // tries // 2, total, total // tries) if told(step) != expected])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_an_interrupt_of_the_first_use_leaves_nothing_half_loaded() -> None:
    done = python("-c", FIRST_USE, str(STEPS))
    total, _, wrong = done.partition(" ")
    assert int(total) > 100_000
    assert wrong.strip() == "[]", done


FORK = """
import os, signal
from threading import Event, Thread
from symdim import Var, clear_caches, maximum
from symdim.algebra import interning, variable
from onnx_infer.values import tensor
from tests.answers import algebra, inference

def same_in_a_child():
    child = os.fork()
    if not child:
        signal.alarm(60)
        clear_caches()
        same = (algebra(), inference()) == expected and Var("N") is N and maximum(N, 3) * 2 is 2 * maximum(N, 3)
        os._exit(0 if same else 1)
    return child

def ending(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

expected = algebra(), inference()
N, held, done = Var("N"), Event(), Event()
print(ending(same_in_a_child()), flush=True)

def hold():
    with interning._lock, variable._lock, tensor._lock:
        held.set()
        done.wait()

Thread(target=hold).start()
held.wait()
child = same_in_a_child()
done.set()
print(ending(child))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_answers_as_its_parent() -> None:
    """Also if a thread held every lock in that moment: in the child no thread is left that could release them."""
    assert python("-W", "ignore", "-c", FORK).split() == ["0", "0"]


OUTPUTS = """
import sys
from pathlib import Path
from tests.answers import algebra, commands, inference
sys.stdout.reconfigure(encoding="utf-8")
print(algebra(), inference(), commands(Path(sys.argv[1])), sep="\\n")
"""


def test_outputs_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    found = {python("-c", OUTPUTS, str(tmp_path), PYTHONHASHSEED=seed) for seed in HASH_SEEDS}
    assert len(found) == 1


def python(*arguments: str, **environment: str) -> str:
    """What a new Python prints."""
    path = os.pathsep.join(p for p in sys.path if p)
    given = {**os.environ, "PYTHONPATH": path, **environment}
    done = subprocess.run([sys.executable, *arguments], env=given, capture_output=True, encoding="utf-8", check=False)
    assert not done.returncode, done.stderr
    return done.stdout


def errors() -> Iterator[BaseException]:
    """One of each public error."""
    arguments = {
        "ParseError": ("N +", 3, "unexpected end: expected an operand"),
        "UnboundFunction": ("f(16)", "f"),
        "UnboundName": (("N", "M"),),
        "UnknownSymbol": ("assume", ["Q"], ["N", "H"]),
        "UnsupportedDynamicShape": ("Resize", "sizes", "a name", "N"),
        "Contradiction": ("rank_mismatch", "what is wrong"),
    }
    for package in (symdim, symdim.errors, onnx_infer):
        for name in getattr(package, "__all__", vars(package)):
            kind = getattr(package, name)
            if isinstance(kind, type) and issubclass(kind, BaseException):
                yield kind(*arguments.get(name, ("what is wrong",)))


def test_errors_come_back_from_a_worker() -> None:
    made = list(errors())
    assert len(made) >= 15
    for error in made:
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error)), error


def test_what_a_pickle_holds_is_the_same_expression_and_symbol() -> None:
    N, M = Var("N"), Scope().var("M", 0, 9)
    dims = [N + M, N * M**2, N // (M + 1), N % 7, maximum(N, M, 3), minimum(N, 4 * M), parse("round(N/4)"), N, M]
    assert all(map(lambda a, b: a is b, pickle.loads(pickle.dumps(dims)), dims))


def things() -> Iterator[object]:
    """One of each type of results and of what is given."""
    N, row = Var("N"), RowVar("r")
    store = Store()
    store.eq_row(Row((N,), row), Row.of([4, 5]))
    yield from (Shape([N, 2]), Row((N,), row), Facts(["N % 2 == 0"]), Bindings(N=3), parse_spec("ij;jk=>ik"), store)
    result = infer(parse_model(MODELS["data"]), **OPTIONS["data"])
    yield from (N.guarantee(), result, result.types["x"], *result.diagnostics, *result.guards, *result.data_guards)
    yield from (result.reasons, result.data_laws, result.guarantees, result.planner(), result.memory())
    static = parse_model('<ir_version: 8, opset_import: ["": 18]> g (float[4, 8] x) => (y) { y = Relu (x) }')
    yield from (make_dynamic(static, {"x": {0: "N"}}), materialize(result.shapes["y"], result))


def test_results_are_pickled() -> None:
    for thing in things():
        again = pickle.loads(pickle.dumps(thing))
        assert type(again) is type(thing)
        assert repr(again) == repr(thing)


def test_a_result_from_another_process_has_the_same_symbols(tmp_path: Path) -> None:
    """A name with bounds or under assumptions, too, stands for the same size in each process."""
    written = "with open(sys.argv[1], 'wb') as file: pickle.dump(found(), file)"
    python("-c", f"import pickle, sys; from tests.test_processes import found\n{written}", str(tmp_path / "result"))
    theirs = pickle.loads((tmp_path / "result").read_bytes())
    ours = found()
    assert ours.types["y"] is theirs.types["y"]
    assert ours.symbols["H"] is theirs.symbols["H"]
    assert ours.guards == theirs.guards


def found() -> onnx_infer.InferenceResult:
    """A result under bounds and an assumption."""
    return infer(parse_model(MODELS["data"]), **OPTIONS["data"])


@pytest.mark.parametrize("name", MODELS)
def test_answers_do_not_depend_on_what_was_inferred_before(name: str) -> None:
    for other in (*MODELS, name):
        inference(other)
    assert inference(name) + "\n" == python("-c", f"from tests.answers import inference; print(inference({name!r}))")
