"""Cases written as data (`format` symdim-row-cases/1) about shapes with rows, and their answers.

A size is an int, a name, "?" (unknown), `{size, label}`, `{stride, over, kernel, dilation, padding}` or
`{concat: [...]}`; a row is a list of sizes with at most one "..." or "..name..", `{lead, trail}`, or None; a shape is
an output row, `{batch, input, output}`, or None. Names in shapes are given sizes; the store finds all others.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from symdim.algebra.texts.printing import to_text
from symdim.algebra.variable import Scope, Var
from symdim.einsum.reader import NameClash
from symdim.einsum.spec import KINDS, SpecError
from symdim.errors import ParseError, SymdimError
from symdim.rows import Axes, Row, RowVar, row_name
from symdim.store.constraints import Origin
from symdim.store.solver import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symdim.algebra.expr import Dim

    Data = Mapping[str, Any]
    Answer = dict[str, Any]


def solve(case: Data) -> Answer:
    """The answers to a case, `entailed` and `closed`, each with shapes, rows, vars, open, one_of and labels, or error.

    >>> solve({"facts": [{"dim_eq": [{"stride": 2, "over": "p"}, 6]}]})["entailed"]["vars"]
    {'p': 3}
    """
    try:
        stated = Case(case)
        stated.state()
        entailed = stated.answer()
    except SymdimError as error:
        return {when: {"error": kind_of(error)} for when in ("entailed", "closed")}
    try:
        stated.close()
        return {"entailed": entailed, "closed": stated.answer()}
    except SymdimError as error:
        return {"entailed": entailed, "closed": {"error": kind_of(error)}}


def holds(result: Any, operand: Any) -> bool:
    """Whether an operand of known sizes broadcasts to a result.

    >>> holds([3, 9, 5], {"lead": [3], "trail": [5]}), holds([3], [5])
    (True, False)
    """
    stated = Case({})
    stated.store.refine_row(stated.row(result), stated.row(operand))
    try:
        stated.store.propagate()
    except SymdimError:
        return False
    return True


def kind_of(error: SymdimError) -> str:
    """The kind of an error, as the cases name it. Only errors of the reader do not have it as an attribute."""
    if isinstance(error, ParseError):
        return "name_clash" if isinstance(error, NameClash) else "parse_error"
    return str(getattr(error, "kind", "size_mismatch"))


class Case:
    """The store of a case, and the meaning of its names."""

    def __init__(self, case: Data) -> None:
        self.case = case
        self.store = Store(least=1)
        self.scope = Scope()
        self.names: dict[str, Var] = {}
        self.rows: dict[str, RowVar] = {}
        self.empty: dict[str, Var] = {}
        self.printed: dict[RowVar, RowVar] = {}
        self.leaves: list[Axes | Row | Var] = []
        self.params: list[Axes | Row | Var] = []
        self.reading_shapes = True
        self.shapes = {name: self.shape(shape) for name, shape in case.get("shapes", {}).items()}
        self.reading_shapes = False

    # reading

    def var(self, name: str, least: int = 1) -> Var:
        """The size of this name."""
        if name not in self.names:
            self.names[name] = v = self.scope.var(name, least)
            if not self.reading_shapes:
                self.store.generated(v)
        return self.names[name]

    def dim(self, data: Any, origin: str = "") -> Dim:
        """A size. Its further properties in the data are stated."""
        if isinstance(data, int):
            return data
        if isinstance(data, str):
            return self.store.fresh() if data == "?" else self.var(data)
        v = self.store.fresh()
        if "concat" in data:
            self.store.concat(v, [self.dim(part) for part in data["concat"]], origin=origin)
        elif "label" in data:
            self.store.eq(v, self.dim(data["size"]), origin=origin)
            self.store.label(v, data["label"], origin=origin)
        else:
            kernel, padding = data.get("kernel"), data.get("padding")
            if kernel is not None and not isinstance(padding, bool):
                raise SpecError("padding_unspecified", f"{data} has a kernel but no padding")
            self.store.affine(
                v,
                self.dim(data["over"]),
                stride=data.get("stride", 1),
                kernel=None if kernel is None else self.dim(kernel),
                dilation=data.get("dilation", 1),
                padding=padding is not False,
                origin=origin,
            )
        return v

    def row(self, data: Any) -> Row:
        """A row; None is an unknown row."""
        if data is None:
            return Row.unknown()
        if isinstance(data, str):
            return Row((), self.row_variable(data))
        if isinstance(data, dict):
            lead, trail = (tuple(self.dim(d) for d in data.get(part, ())) for part in ("lead", "trail"))
            name = data.get("row")
            return Row(lead, None if name is None else self.row_variable(f"..{name}.."), trail)
        places = [i for i, item in enumerate(data) if row_name(item) is not None]
        if not places:
            return Row((), None, tuple(self.dim(d) for d in data))
        at = places[0]
        lead, trail = (tuple(self.dim(d) for d in part) for part in (data[:at], data[at + 1 :]))
        return Row(lead, self.row_variable(data[at]), trail)

    def row_variable(self, text: str) -> RowVar:
        """The row variable of a text `..name..`, or a new one for `...`."""
        name = row_name(text)
        return self.rows.setdefault(name, RowVar(name)) if name else RowVar.fresh()

    def shape(self, data: Any) -> Axes | Row:
        """The rows of a shape; a plain row in a case about an ONNX operator."""
        if self.case.get("group") == "onnx":
            return self.row(data)
        if data is None:
            return Axes(*(Row.unknown(kind) for kind in KINDS))
        if isinstance(data, list):
            return Axes(output=self.row(data))
        return Axes(*(self.row(data[kind]) if kind in data else Row() for kind in KINDS))

    def axes(self, name: str) -> Axes:
        """The three rows of a tensor."""
        shape = self.shapes[name]
        return shape if isinstance(shape, Axes) else Axes(output=shape)

    # statements

    def state(self) -> None:
        """State the operations and the facts of the case in a fixed order, which decides names such as `_d0`."""
        operations = self.case.get("ops", ())
        for i, operation in _in_order(operations):
            if "onnx" in operation:
                from tests.onnx_infer.forms import state  # all other cases do without this package

                state(self.store, operation, self.shapes, self.case.get("constants", {}))
            else:
                self._operation(operation, f"{operation['op']}_{i}", len(operations) == 1)
        for i, fact in _in_order(self.case.get("facts", ())):
            for kind, content in fact.items():
                self._fact(kind, content, f"fact {i}: {kind}")
        self.store.propagate()

    def _operation(self, operation: Data, node: str, single: bool) -> None:
        kind, names = operation["op"], operation["args"]
        args, out = [self.axes(name) for name in names], self.axes(operation["out"])
        if kind in ("einsum", "block"):
            self._einsum(operation, [*args, out], [*names, operation["out"]], node, single)
            return
        where = [Origin(node, name) for name in names]
        if kind == "pointwise":
            for arg, origin in zip(args, where, strict=True):
                self._refine(out, arg, origin)
        elif kind == "transpose":
            self._refine(out, Axes(args[0].batch, args[0].output, args[0].input), where[0])
        elif kind in ("compose", "compose_accumulate"):
            first, second = args[:2]
            self.store.refine_row(first.input, second.output, origin=where[0])
            self._refine(out, Axes(first.batch, Row(), first.output), where[0], ("batch", "output"))
            self._refine(out, Axes(second.batch, second.input, Row()), where[1], ("batch", "input"))
            for arg, origin in zip(args[2:], where[2:], strict=True):
                self._refine(out, arg, origin)
        elif kind == "batch_slice":
            size: Dim = self.store.fresh() if operation.get("range") is None else operation["range"]
            batch = Row((size, *out.batch.lead), out.batch.variable, out.batch.trail)
            for a, b in zip(Axes(batch, out.input, out.output), args[0], strict=True):
                self.store.eq_row(a, b, origin=where[0])
        elif kind == "bit_spread":
            size = self.store.fresh()
            self.store.exact((args[0].batch, args[0].output, args[0].input), [size], origin=where[0])
            self.store.elements(out, 16 // operation["bytes"] * size, origin=where[0])
        else:
            raise SymdimError(f"no operation {kind!r}")

    def _refine(self, result: Axes, operand: Axes, origin: Origin, kinds: Sequence[str] = KINDS) -> None:
        for kind in kinds:
            self.store.refine_row(getattr(result, kind), getattr(operand, kind), origin=origin)

    def _einsum(self, operation: Data, axes: list[Axes], names: list[str], node: str, single: bool) -> None:
        from symdim.einsum.constraints import state
        from symdim.einsum.reader import parse_spec
        from symdim.einsum.spec import discardable

        spec = parse_spec(operation["spec"])
        may_be_empty = discardable(spec)
        sizes: dict[str, Dim] = {}
        rows: dict[str, RowVar] = {}
        if single:  # the labels are names of the case
            sizes = {label: self.var(label, 0 if label in may_be_empty else 1) for label in spec.labels()}
            rows = {v: self.row_variable(f"..{v}..") for v in spec.row_variables() if v not in KINDS}
        found = state(self.store, spec, axes, sizes=sizes, rows=rows, node=node, operands=names)
        self.empty.update({f"{node}.{v}": d for v in may_be_empty if isinstance(d := found.sizes[v], Var)})

    def _fact(self, kind: str, content: Any, origin: str) -> None:  # noqa: C901 (one case per kind of fact)
        store, dim, row = self.store, self.dim, self.row
        match kind:
            case "dim_eq":
                store.eq(dim(content[0]), dim(content[1]), origin=origin)
            case "dim_le":
                result, operand = content["result"], content["operand"]
                if any(isinstance(side, dict) and "stride" in side for side in (result, operand)):
                    store.eq(dim(result), dim(operand), origin=origin)  # a strided axis is never stretched
                else:
                    store.refine(dim(result), dim(operand), origin=origin)
            case "row_eq":
                store.eq_row(row(content[0]), row(content[1]), origin=origin)
            case "row_le":
                store.refine_row(row(content["result"]), row(content["operand"]), origin=origin)
            case "at_least":
                store.bounds(dim(content[0]), content[1], origin=origin, law="index")
            case "elements":
                self._elements([row(r) for r in content["rows"]], content, origin)
            case "exact":
                store.exact([row(r) for r in content["rows"]], [dim(d) for d in content["dims"]], origin=origin)
            case "scale":
                large, small = dim(content["large"]), dim(content["small"])
                store.affine(large, small, stride=content["factor"], origin=origin)
            case "window":
                self._window(content, origin)
            case "shape_eq":
                for a, b in zip(self.axes(content[0]), self.axes(content[1]), strict=True):
                    store.eq_row(a, b, origin=origin)
            case "input_equals_output":
                store.eq_row(self.axes(content).input, self.axes(content).output, origin=origin)
            case "terminal" | "param":
                (self.leaves if kind == "terminal" else self.params).append(self._place(content))
            case "terminal_elements":
                store.elements(self.axes(content[0]), content[1], origin=origin)
            case _:
                raise SymdimError(f"no fact {kind!r}")

    def _place(self, name: str) -> Axes | Row | Var:
        if name in self.shapes:
            return self.axes(name)
        return self.row(name) if row_name(name) is not None else self.var(name)

    def _elements(self, rows: list[Row], content: Data, origin: str) -> None:
        equals, divisors = content["equals"], [self.dim(d) for d in content.get("divided_by", ())]
        if isinstance(equals, dict):
            divisors.append(self.dim(equals.get("denom", 1)))
            self.store.elements(rows, equals.get("coeff", 1) * self.dim(equals["var"]), divisors, origin=origin)
        else:
            self.store.elements(rows, self.dim(equals), divisors, origin=origin)

    def _window(self, content: Data, origin: str) -> None:
        sizes = [self.dim(content[part]) for part in ("in", "out", "kernel")]
        given = {name: content[name] for name in ("stride", "dilation", "auto_pad", "ceil") if name in content}
        before, after = content.get("pads", (0, 0))
        self.store.window(*sizes, pads=(before, after), origin=origin, **given)

    def close(self) -> None:
        """Close the store with the leaves and parameters of the case."""
        rows: list[Axes | Row | Var] = [*self.shapes.values(), *(Row((), v) for v in self.rows.values())]
        self.store.close(self.leaves, self.params, may_be_empty=list(self.empty.values()), others=rows)

    # answers

    def answer(self) -> Answer:
        """The knowledge of the store as data."""
        shapes = {name: self._shape(shape) for name, shape in self.shapes.items()}
        sizes = {name: self._size(v) for name, v in self.names.items()}
        one_of = {name: self.store.candidates(v) for name, v in self.names.items()}
        for name, shape in self.shapes.items():
            row = shape if isinstance(shape, Row) else shape.output
            for axis, size in enumerate(self.store.row(row).dims):
                one_of[f"{name}.{axis}"] = self.store.candidates(size)
        return {
            "shapes": shapes,
            "rows": {name: self._row(Row((), v)) for name, v in self.rows.items()},
            "vars": sizes,
            "open": [name for name, size in sizes.items() if not isinstance(size, int)],
            "one_of": {name: list(found) for name, found in one_of.items() if found and len(found) > 1},
            "labels": {name: label for name, v in self.names.items() if (label := self.store.label_of(v)) is not None},
            "ok": True,
        }

    def _size(self, dim: Dim) -> int | str:
        value = self.store.value(dim)
        return value if isinstance(value, int) else to_text(value)

    def _row(self, row: Row) -> list[int | str]:
        row = self.store.row(row)
        lead, trail = (list(map(self._size, part)) for part in (row.lead, row.trail))
        if row.variable is None:
            return lead + trail
        return [*lead, repr(self.printed.setdefault(row.variable, self._row_name(row.variable))), *trail]

    def _row_name(self, v: RowVar) -> RowVar:
        return v if v == self.rows.get(v.name) else RowVar(f"_r{len(self.printed)}")

    def _shape(self, shape: Axes | Row) -> Any:
        if isinstance(shape, Row):
            return self._row(shape)
        rows = {kind: self._row(row) for kind, row in zip(KINDS, shape, strict=True)}
        if not rows["batch"] and not rows["input"]:
            return rows["output"]
        return {kind: row for kind, row in rows.items() if row}


def _in_order(items: Sequence[Data]) -> list[tuple[int, Data]]:
    """The items with their numbers, sorted by their text."""
    return sorted(enumerate(items), key=lambda item: json.dumps(item[1], sort_keys=True))
