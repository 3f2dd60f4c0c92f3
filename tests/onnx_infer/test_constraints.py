"""Constraint forms: sound on every operator case with shapes taken away, and each family read backwards."""

from __future__ import annotations

import re
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import onnx.parser
import pytest

from onnx_infer import infer, testing
from onnx_infer.constraints.registration import BoundForm, Operand, bound_form
from onnx_infer.errors import OnnxInferError
from onnx_infer.operators.operator import bind
from onnx_infer.values.tensor import SymTensor, substitute
from symdim import Expr
from symdim.rows import Row
from symdim.store import Contradiction, Store
from tests.counting import calls_of
from tests.onnx_infer.forms import state
from tests.onnx_infer.test_cases import CASES, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_infer.values.tensor import Value
    from symdim import Var

PRIMES = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73)


class Case(NamedTuple):
    """A node whose shapes are all known."""

    form: BoundForm
    attributes: dict[str, Any]
    inputs: list[SymTensor | None]
    outputs: list[SymTensor | None]


@cache
def concrete(line: str) -> Case | None:
    """An operator case with a prime for each symbol; None where it has no form, or no shapes that are all known."""
    text, expected = line.rsplit("->", 1)
    domain, name, version, attributes, values = testing.read_call(text)
    operator = bind(domain, name, version)
    form = None if operator is None else bound_form(domain, name, version, operator.schema)
    if form is None or "error" in expected:
        return None
    inputs = with_primes(values)
    count = len(testing.split(expected))
    try:
        outputs = testing.infer_node(name, inputs, attributes, version=version, domain=domain, output_count=count)
    except OnnxInferError:
        return None
    known: list[Any] = [x for x in (*inputs, *outputs) if x is not None]
    if not all(isinstance(x, SymTensor) and x.shape is not None for x in known):
        return None
    if any(isinstance(d, Expr) for x in known for d in x.shape or ()):
        return None
    kept = [x if text.strip() != "-" else None for x, text in zip(outputs, testing.split(expected), strict=True)]
    return Case(form, attributes, inputs, kept)  # type: ignore[arg-type]


def with_primes(values: list[Value | None]) -> list[Value | None]:
    """The values with a number for each symbol."""
    symbols: dict[Var, int] = {}
    for value in values:
        if isinstance(value, SymTensor):
            for x in (*(value.shape or ()), *(value.data or ())):
                for v in x.variables() if isinstance(x, Expr) else ():
                    symbols.setdefault(v, PRIMES[len(symbols)])
    return [None if value is None else substitute(value, symbols) for value in values]


def views(case: Case) -> Iterator[tuple[str, list[Row | None], list[Row | None]]]:
    """The rows of a case with some of them unknown: none, each one, all inputs, all outputs; ranks or sizes only."""
    operands = [*case.inputs, *case.outputs]
    first = len(case.inputs)
    chosen = [set(), set(range(first)), set(range(first, len(operands))), *({i} for i in range(len(operands)))]
    for which in chosen:
        for sizes_only in (False, True) if which else (False,):

            def row(i: int, value: SymTensor | None, which: set[int] = which, keep: bool = sizes_only) -> Row | None:
                if value is None:
                    return None
                if i not in which:
                    return Row.of(value.dims)
                return Row.of([VARIABLES.fresh(lo=0) for _ in value.dims]) if keep else Row.unknown()

            rows = [row(i, value) for i, value in enumerate(operands)]
            yield f"without {sorted(which)}, {'sizes' if sizes_only else 'ranks'}", rows[:first], rows[first:]


VARIABLES = Store()


def stated(case: Case, inputs: list[Row | None], outputs: list[Row | None]) -> Store:
    """A store with what the form says of these rows."""
    store = Store()

    def operand(i: int, row: Row | None, value: SymTensor | None) -> Operand | None:
        if row is None or value is None:
            return None
        for d in row.dims:
            for v in d.variables() if isinstance(d, Expr) else ():
                store.generated(v)
        return Operand(f"#{i}", row, lambda: value if row.rank is not None else SymTensor(value.dtype, None, None))

    given = [operand(i, row, value) for i, (row, value) in enumerate(zip(inputs, case.inputs, strict=True))]
    made = [operand(i, row, value) for i, (row, value) in enumerate(zip(outputs, case.outputs, strict=True))]
    case.form.state(store, "node", given, made, case.attributes)
    return store


def differs(store: Store, row: Row, value: SymTensor) -> str:
    """How what is known of a row contradicts the real shape."""
    solved = store.row(row)
    least, most = store.rank_bounds(row)
    rank = len(value.dims)
    if not least <= rank <= (rank if most is None else most):
        return f"rank in {least}..{most}, really {value}"
    pairs = [*zip(solved.lead, value.dims, strict=False), *zip(solved.trail[::-1], value.dims[::-1], strict=False)]
    for size, real in pairs:
        lo, hi = store.interval(size)
        assert isinstance(real, int)
        if (lo is not None and real < lo) or (hi is not None and real > hi):
            return f"{solved}, really {value}"
    return ""


def check(line: str) -> tuple[list[str], int]:
    """What is wrong about a case with shapes taken away, and how many sizes came back."""
    case = concrete(line)
    if case is None:
        return [], 0
    wrong, back = [], 0
    for title, inputs, outputs in views(case):
        try:
            store = stated(case, inputs, outputs)
            for row, value in zip((*inputs, *outputs), (*case.inputs, *case.outputs), strict=True):
                if row is not None and value is not None:
                    if why := differs(store, row, value):
                        wrong.append(f"{line}\n  {title}: {why}")
                    back += sum(isinstance(d, int) for d in store.row(row).dims) - sum(
                        isinstance(d, int) for d in row.dims
                    )
        except Contradiction as error:
            wrong.append(f"{line}\n  {title}: {error}")
    return wrong, back


DO_NOT_RUN = {"Gather-13: i64[3]={N, 4, H}, i64[1]={3} -> i64[1]"}  # an index out of range


LEAST = {"window": 900, "linear": 500, "indexing": 500, "recurrent": 350}
"""Family -> how many sizes come back at least."""


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_no_form_contradicts_what_runs_and_much_comes_back(path: Path) -> None:
    results = [check(line) for _, line in lines(path) if line not in DO_NOT_RUN]
    assert not [text for wrong, _ in results for text in wrong]
    assert sum(back for _, back in results) >= LEAST.get(path.stem, 0)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_ranks_that_do_not_fit_are_contradictions_and_no_crashes(path: Path) -> None:
    for _, line in lines(path):
        case = concrete(line)
        for rank in (0, 3) if case is not None else ():
            for i in range(len(case.inputs) + len(case.outputs)):
                values = [*case.inputs, *case.outputs]
                if values[i] is not None:
                    rows = [None if x is None else Row.of(x.dims) for x in values]
                    rows[i] = Row.of([5] * rank)
                    with suppress(Contradiction, OnnxInferError):
                        stated(case, rows[: len(case.inputs)], rows[len(case.inputs) :]).propagate()


FAMILIES = Path(__file__).parent / "constraint_cases.txt"
_NODE = re.compile(r"(?:(?P<domain>[\w.]+)::)?(?P<name>\w+)(?:\((?P<attributes>.*?)\))?(?: \{(?P<constants>.*)\})?: ")


@pytest.mark.parametrize("line", [line for _, line in lines(FAMILIES)])
def test_family(line: str) -> None:
    head = _NODE.match(line)
    assert head is not None
    given, expected = line[head.end() :].split(" => ")
    store = Store(least=1)
    inputs, outputs = (testing.split(side) for side in given.split(" -> "))
    texts = [text.strip() for text in (*inputs, *outputs)]
    names = ["" if text == "-" else f"#{i}" for i, text in enumerate(texts)]
    rows = {name: read_row(store, text) for name, text in zip(names, texts, strict=True) if name}
    node = {"onnx": head["name"], "domain": head["domain"] or "", "inputs": names[: len(inputs)],
            "outputs": names[len(inputs) :], "attrs": testing.read_attributes(head["attributes"] or "")}  # fmt: skip
    assert state(store, node, rows, testing.read_attributes(head["constants"] or ""))
    shown = {name: re.sub(r"\b[_a-z]+\d+\b", "?", str(store.row(row).flat())) for name, row in rows.items()}
    solved = [shown.get(name, "-") for name in names]
    assert f"{', '.join(solved[: len(inputs)])} -> {', '.join(solved[len(inputs) :])}" == expected


def read_row(store: Store, text: str) -> Row:
    """The row of a text in which ? is a size of which nothing is known."""
    items = [item.strip() for item in text[1:-1].split(",") if item.strip()]
    return Row.of([store.fresh() if item == "?" else int(item) if item.isdigit() else item for item in items])


def test_a_contradiction_names_node_operand_and_axis() -> None:
    store, x = Store(), Row.of(["N", 4, 8, 8])
    state(store, {"onnx": "Conv", "name": "stem", "inputs": ["X", "W"], "outputs": ["Y"]},
          {"X": x, "W": Row.of([64, 3, 3, 3]), "Y": Row.unknown()})  # fmt: skip
    with pytest.raises(Contradiction, match=r"4 == 3.*\(stem, X, axis 1\)") as raised:
        store.propagate()
    assert raised.value.kind == "size_mismatch"


def test_a_node_without_a_form_states_nothing() -> None:
    assert not state(Store(), {"onnx": "TfIdfVectorizer", "inputs": ["X"], "outputs": ["Y"]}, {"X": Row.unknown()})


def test_a_form_that_asks_for_more_states_nothing() -> None:
    rows = {"X": Row.unknown(), "Y": Row.unknown(), "repeats": Row.unknown()}
    assert not state(Store(), {"onnx": "Tile", "inputs": ["X", "repeats"], "outputs": ["Y"]}, rows)
    assert not state(Store(), {"onnx": "MaxPool", "inputs": ["X"], "outputs": ["Y"]}, rows)
    assert not state(Store(), {"onnx": "Gather", "inputs": ["X"], "outputs": ["Y"]}, rows)  # no indices
    assert not state(Store(), {"onnx": "MatMul", "inputs": ["X"], "outputs": ["Y"]}, rows)  # no second operand


@pytest.mark.parametrize("indices", [3, -4, (None, 3)])
def test_a_known_index_demands_a_size(indices: int | tuple[int | None, ...]) -> None:
    shape = Row.of([] if isinstance(indices, int) else [2])
    for size, fits in ((4, True), (3, False)):
        store = Store()
        node = {"onnx": "Gather", "inputs": ["X", "I"], "outputs": ["Y"]}
        state(store, node, {"X": Row.of([size]), "I": shape, "Y": shape}, {"indices": indices})
        with nullcontext() if fits else pytest.raises(Contradiction, match="axis 0"):
            store.propagate()


@pytest.mark.parametrize(
    "node, solved",
    [({"onnx": "LSTM", "attrs": {"hidden_size": 16}, "inputs": ["X", "W", "R"], "outputs": []}, {"W": "[1, 64, 10]"}),
     ({"onnx": "Relu", "inputs": [], "outputs": ["X"]}, {"X": "[...]"})],
)  # fmt: skip
def test_a_node_without_outputs_or_operands(node: dict[str, Any], solved: dict[str, str]) -> None:
    store = Store()
    rows = {"X": Row.unknown(), "W": Row.of([1, store.fresh(), 10]), "R": Row.unknown()}
    assert state(store, node, rows)
    assert {name: str(store.row(rows[name]).flat()) for name in solved} == solved


def test_an_equation_with_more_labels_than_a_tensor_may_have_axes_is_not_stated():
    def model(count: int) -> onnx.ModelProto:
        text = f"""<ir_version: 10, opset_import: ["": 20]> g (float[N, 4] x) => (y) {{
            y = Einsum<equation = "{"a" * count}->a">(x) }}"""
        return onnx.parser.parse_model(text)

    few, many = (model(count) for count in (2_000, 40_000))
    assert [d.severity for d in infer(many, bidirectional=True).diagnostics] == ["error"]
    work = [calls_of(lambda m=m: infer(m, bidirectional=True)) for m in (few, many)]
    assert work[1] < 2 * work[0]
