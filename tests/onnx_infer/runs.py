"""Cases of `runs/*.txt`: models that onnxruntime runs or refuses, and what inference says of them.

A line is a case; a line that begins with a space goes on with the one before; a line that begins with # is a remark.
A case is the text of a graph and directives behind ` : `. A line that begins with `= ` is the template of the cases
below it: their parts, separated by ` | `, stand for $1, $2, ... in it; a case without parts begins with a colon. A line
that begins with `@ ` has directives of the cases below it, up to the next template.

What a run shows is compared at all sizes of the case; by day, where these are many, at some in which any two symbols
have each pair of their values. A run is refused where a required guard fails; where no guard fails it succeeds, and all
that is claimed of every value of the graph is so. Where there are guards both must happen. Both front ends find the
same. Inference of the written model writes the same bytes, and finds nothing wrong in it. The directives:

- `guards`, `data`, `laws`: the guards, those of data-dependent sizes, and the laws about elements of inputs
- `NAME = TYPE`: the type of a value, with `_d` for each size that only the data decide; `NAME <= (N, 4)`: its upper
  bounds; `decides`: values whose sizes follow from sizes and elements of inputs; `says`: parts of the messages
- `fold`: the operators of the folded model, which gives the same outputs
- `at N=1..4 M=1,3`, `at 1..4`: the sizes; `near N=3 M=4`: these and, one after another, smaller and larger ones
- `feed v=1,2`: elements of an input, of which the last one repeats; others are 0, 1, 2, ... or, of integers, 0
- `opset`, `min_dim`, `assume`, `bounds N=1..4`, `bidirectional`, `assume_declared`: the version of the operators, and
  options of inference
- `exactly`: only a required guard that fails refuses a run; `all`: so does each guard that fails
- `never`: no run succeeds; `lenient`: a run may be refused though no guard fails; `unrun`: nothing is run
- `since`: the first onnxruntime that runs it so

Several texts of a directive are separated by ` ; `.
"""

from __future__ import annotations

import re
from itertools import combinations, product
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
from onnx import helper

from onnx_infer import SymTensor, fold, infer, infer_shapes
from onnx_infer.results.guarantees import with_values
from symdim import Var
from tests.nightly import is_nightly

from .folding import compare, operators
from .oracle import at, contradictions
from .sessions import NOT_LOADED, VERSION, run, session_of
from .texts import both, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from onnx_infer import InferenceResult

HEAD = '<ir_version: {}, opset_import: ["": {}, "com.microsoft": 1, "ai.onnx.ml": 3, "com.acme": 1, "local": 1]>'
SIZES = (1, 2, 3)
MOST_BY_DAY = 27
"""The most sizes of a case of which all are run by day: those of three symbols."""

Sizes = dict[str, int]


class Case(NamedTuple):
    """A graph and what must be so."""

    graph: str
    directives: dict[str, str]

    def texts(self, name: str) -> list[str]:
        """The texts of a directive."""
        return [text for text in self.directives.get(name, "").split(" ; ") if text]

    def model(self) -> onnx.ModelProto:
        """The model of the case."""
        opset = int(self.directives.get("opset", "18"))
        return parsed(f"g {self.graph}", HEAD.format(10 if opset > 9 else 4, opset))

    def options(self) -> dict[str, Any]:
        """The options of inference."""
        found: dict[str, Any] = {"bidirectional": True} if "bidirectional" in self.directives else {}
        if "min_dim" in self.directives:
            found["min_dim"] = int(self.directives["min_dim"])
        if "assume" in self.directives:
            found["assume"] = self.texts("assume")
        if "assume_declared" in self.directives:
            found["assume_declared"] = True
        if "bounds" in self.directives:
            found["bounds"] = {name: (min(n), max(n)) for name, n in numbers(self.directives["bounds"]).items()}
        return found


def cases(path: Path) -> Iterator[tuple[int, Case]]:
    """The cases of a file with the numbers of their lines."""
    template, common = "", ""
    for number, line in logical_lines(path.read_text("utf-8")):
        if line.startswith("="):
            template, common = line[1:].strip(), ""
        elif line.startswith("@"):
            common = line[1:].strip()
        else:
            text, *given = f" {line} ".split(" : ")
            parts = text.strip().split(" | ")
            graph = re.sub(r"\$(\d)", lambda m: "".join(parts[int(m[1]) - 1 : int(m[1])]), template or "$1")  # noqa: B023
            yield number, Case(graph, directives([*filter(None, common.split(" : ")), *given]))


def logical_lines(text: str) -> list[tuple[int, str]]:
    """The lines with those that go on with them, without remarks."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(" "):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif line and line[0] != "#":
            found.append((number, line.strip()))
    return found


def directives(texts: list[str]) -> dict[str, str]:
    """Name -> text; later ones replace earlier ones."""
    found = {}
    for text in texts:
        name, _, rest = text.strip().partition(" ")
        found[f"{name} <=" if rest.startswith("<= ") else name] = rest
    return found


def numbers(text: str) -> dict[str, list[int]]:
    """`N=1..4 M=1,3` as names with their numbers; the name is empty where none is written."""
    found = {}
    for part in text.split():
        name, _, values = part.rpartition("=")
        ends = values.split("..")
        found[name] = [*range(int(ends[0]), int(ends[1]) + 1)] if len(ends) == 2 else [*map(int, values.split(","))]
    return found


def grid(case: Case, result: InferenceResult) -> list[Sizes]:
    """The sizes at which the case is run."""
    names = sorted({v.name for v in result.sources.symbols})
    if "near" in case.directives:
        base = {name: values[0] for name, values in numbers(case.directives["near"]).items()}
        around = {name: sorted({1, 2, n - 1, n + 1, 2 * n} - {0, n}) for name, n in base.items()}
        return [base, *({**base, name: other} for name, others in around.items() for other in others)]
    given = numbers(case.directives.get("at", ""))
    values = [given.get(name, given.get("", SIZES)) for name in names]
    whole = [dict(zip(names, sizes, strict=True)) for sizes in product(*values)]
    return whole if is_nightly or len(whole) <= MOST_BY_DAY else pairs_of(whole)


def pairs_of(whole: list[Sizes]) -> list[Sizes]:
    """Some of the sizes: those that are all equal, and so many that any two symbols have each pair of their values."""
    found, seen = [], set[tuple[tuple[str, int], ...]]()
    for sizes in Random(0).sample(whole, len(whole)):
        pairs = set(combinations(sizes.items(), 2))
        if len(set(sizes.values())) == 1 or pairs - seen:
            found.append(sizes)
            seen |= pairs
    return found


def feeds(case: Case, model: onnx.ModelProto, result: InferenceResult, sizes: Sizes) -> Iterator[dict[str, Any]]:
    """The inputs of runs at these sizes."""
    constants = {tensor.name for tensor in model.graph.initializer}
    for text in case.texts("feed") or [""]:
        given, arrays = numbers(text), {}
        for info in model.graph.input:
            if info.name in constants:
                continue
            value = result.types[info.name]
            assert isinstance(value, SymTensor)
            shape = [at(d, sizes) for d in value.dims]
            dtype = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
            array = np.zeros(shape, dtype)
            if info.name in given:
                elements = given[info.name]
                array.flat = (elements + elements[-1:] * array.size)[: array.size]
            elif array.dtype.kind == "f":
                array.flat = np.arange(array.size)
            arrays[info.name] = array
        yield arrays


def exposed(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model in which all values of the graph are outputs."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    shown = {output.name for output in copy.graph.output}
    for name in [name for node in copy.graph.node for name in node.output if name and name not in shown]:
        copy.graph.output.append(onnx.ValueInfoProto(name=name))
    return copy


def known_in(result: InferenceResult, arrays: Mapping[str, Any], sizes: Sizes) -> Sizes:
    """The sizes, the elements of integer inputs, and the sizes that the data decided in a run."""
    known = dict(sizes)
    for name, array in arrays.items():
        value = result.types.get(name)
        if not isinstance(value, SymTensor) or not isinstance(array, np.ndarray):
            continue
        if name in result.inputs and array.dtype.kind == "i" and array.size < 9:
            known |= {f"{name}[{i}]": int(element) for i, element in enumerate(array.flat)}
        for dim, size in zip(value.shape or (), array.shape, strict=False):
            if isinstance(dim, Var):
                known.setdefault(dim.name, size)
    return known


class Claims(NamedTuple):
    """What is said of the values of a model; elements of inputs and sizes alone give the sizes of `decided`."""

    result: InferenceResult
    upper_bounds: Mapping[str, Any]
    decided: list[str]

    def wrong(self, arrays: Mapping[str, Any], sizes: Sizes) -> list[str]:
        """What is not so in a run."""
        shapes, known, found = self.result.shapes, known_in(self.result, arrays, sizes), []
        elements = {
            name: array.ravel().tolist() if array.ndim else int(array)
            for name, array in arrays.items()
            if name in self.result.inputs and array.dtype.kind == "i" and shapes[name] == array.shape
        }
        for name, array in arrays.items():
            value = self.result.types.get(name)
            found += [f"{name}: {value}: {text}" for text in contradictions(value, array, known)]
            actual = getattr(array, "shape", ())
            for dim, size in zip(shapes.get(name, ()) if elements else (), actual, strict=False):
                own = at(with_values(dim, elements), sizes)
                if own != size and (isinstance(own, int) or name in self.decided):
                    found.append(f"{name}: with the elements {elements} {dim} is {own}, and not {size}")
            for dim, size in zip(shapes.get(name, ()), actual, strict=False):
                low, high = dim.bounds() if isinstance(dim, Var) else (None, None)
                if size < (low or 0) or (high is not None and size > high):
                    found.append(f"{name}: {size} is not between the bounds of {dim}: {low} and {high}")
            for most, size in zip(self.upper_bounds.get(name, ()), actual, strict=False):
                bound = at(most, known)
                if isinstance(bound, int) and size > bound:
                    found.append(f"{name}: {size} is above the bound {most}")
        return found


def check_runs(case: Case, model: onnx.ModelProto, written: onnx.ModelProto, result: InferenceResult) -> None:
    """Compare what is inferred with the runs of the case. The written model is loaded, too."""
    shown = exposed(model)
    names = [output.name for output in shown.graph.output]
    try:
        session = session_of(shown)
    except NOT_LOADED:
        session = None
    else:
        session_of(written)
    claims = Claims(result, result.upper_bounds, case.directives.get("decides", "").split())
    outcomes = set()
    guards = [*result.guards, *result.data_guards]
    for sizes in grid(case, result):
        for given in feeds(case, model, result, sizes):
            outputs = None if session is None else run(session, given)
            known = known_in(result, given, sizes)
            elements = {v: known[v.name] for g in guards for v in g.variables() if v.name in known.keys() - sizes}
            failing = {violation.kind for violation in result.check({**sizes, **elements})}
            told = (sizes, {name: array.tolist() for name, array in given.items() if array.dtype.kind == "i"}, failing)
            outcomes.add(outputs is not None)
            if "required" in failing or ("all" in case.directives and failing):
                assert outputs is None, told
            elif (not failing or "exactly" in case.directives) and not {"lenient", "never"} & case.directives.keys():
                assert outputs is not None, told
            if outputs is not None and not failing:
                arrays = given | dict(zip(names, outputs, strict=True))
                assert claims.wrong(arrays, sizes) == [], told
    assert (True in outcomes) != ("never" in case.directives)
    if "lenient" not in case.directives:
        assert False in outcomes or not any(guard.kind == "required" for guard in result.guards)


def plain(text: str, like: str = "") -> str:
    """The text without the numbers of data-dependent sizes, unless the other text has such numbers."""
    return text if re.search(r"\b_d\d", like) else re.sub(r"\b_d\d+", "_d", text)


def told_guards(guards: Any) -> list[str]:
    """Guards as the cases write them."""
    return [f"{guard}{'' if guard.kind == 'required' else f' ({guard.kind})'}" for guard in guards]


def check(case: Case) -> None:
    """Infer the model of a case, compare what is said of it, and run it."""
    model, options = case.model(), case.options()
    result = both(model, **options)
    says = [f"{d.severity} {d}" for d in result.diagnostics]
    parts = case.texts("says")
    assert len(says) == len(parts), says
    assert all(part in text for part, text in zip(parts, says, strict=True)), says
    for name, found in (
        ("guards", told_guards(result.guards)),
        ("data", told_guards(result.data_guards)),
        ("laws", [str(law) for law in result.data_laws]),
    ):
        assert name not in case.directives or [*map(plain, found)] == case.texts(name), found
    for name, text in case.directives.items():
        if text.startswith("= "):
            assert plain(str(result.types[name]), text) == text[2:]
        elif text.startswith("<= "):
            assert str(result.upper_bounds[name.removesuffix(" <=")]) == text[3:]
    once = infer_shapes(model, **options)
    assert infer_shapes(once, **options) == once
    assert parts or infer(once, policy="strict", **options).diagnostics == []
    if "fold" in case.directives:
        changed = fold(model, **options)
        assert operators(changed) == case.directives["fold"]
        if "never" not in case.directives:
            compare(model, changed, SIZES)
    if "unrun" not in case.directives and tuple(map(int, case.directives.get("since", "1.0").split("."))) <= VERSION:
        check_runs(case, model, once, result)
