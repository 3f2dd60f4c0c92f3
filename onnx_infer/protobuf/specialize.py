"""Fixing or renaming symbols of a model: in every dim_param that it has, in subgraphs, functions and shardings too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.errors import ArgumentError
from onnx_infer.inference import Request, run, sizes_of
from onnx_infer.model.attributes import declared_size
from onnx_infer.model.given import contract_in, given_bound
from onnx_infer.model.size_texts import is_name, said
from onnx_infer.model.symbols import Symbols
from onnx_infer.protobuf.declarations import innermost_dims, write_sizes
from onnx_infer.protobuf.names import clear_sizes, dims_in, dims_of, drop_arena, sharded_dims, sharding_specs
from onnx_infer.protobuf.nodes import all_graphs
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from onnx_infer.protobuf.wire import dim_param
from onnx_infer.protobuf.writing import write_contract
from onnx_infer.values.text import text
from symdim import Expr, SymdimError, UnboundName, Var
from symdim.algebra.dims import variables_of
from symdim.parsing import parse, read_dim_param

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping

    from onnx import ModelProto

    from onnx_infer.model.input_shapes import InputShape
    from onnx_infer.values.tensor import Dim


def specialize(model: ModelProto, sizes: Mapping[str, int | str]) -> ModelProto:
    """A copy of the model with the symbols of these names fixed, or written as expressions of others.

    An axis of an input without a name has the name that inference gives it. A size in a body that would be negative is
    left out, because a body may run at other sizes only: the branch of an If. Raises `UnboundName` for names that occur
    in no dim_param, and `SymdimError` if a size in the main graph would be negative.
    """
    copy = type(model)()
    copy.CopyFrom(model)
    _put(copy, read_sizes(_texts(dims_of(copy)), sizes))
    return copy


def _put(model: ModelProto, sizes: Mapping[str, Dim]) -> None:
    """Put these sizes in place of symbols, in every declared type and in the contract."""
    in_file = contract_in(ModelProtoFrontEnd(model))
    _name_axes(model, sizes.keys())
    texts = _texts(dims_of(model))
    _write(dims_of(model), substituted(texts, sizes, inner=set(texts).difference(_texts(dims_in(model.graph)))))
    drop_arena(model)
    if in_file.contract is not None:
        write_contract(model.graph, in_file.contract.substituted(sizes).text())


def with_input_shapes(
    model: ModelProto, shapes: Mapping[str, InputShape], bind: Mapping[str, int | str] | None = None
) -> ModelProto:
    """A copy of the model whose inputs have these shapes, as with `onnx_infer.infer(model, input_shapes=...)`.

    If a number of an input becomes another one, the numbers in the types of other values are dropped.
    """
    copy = type(model)()
    copy.CopyFrom(model)
    bound = given_bound(ModelProtoFrontEnd(copy), bind or {}, shapes)
    for info in copy.graph.input:
        if text(info.name) in bound.shapes:
            write_sizes(info.type.tensor_type.shape, bound.shapes[text(info.name)])
    if bound.of:
        _put(copy, read_sizes(_texts(dims_of(copy)), bound.of))
    if bound.is_other:
        _drop_numbers(copy)
        drop_inferred(copy)
    return copy


def drop_inferred(model: ModelProto) -> None:
    """Drop what follows from numbers that are others now, in place: sizes of shardings, plans, inferred contracts."""
    constants = {tensor.name for tensor in model.graph.initializer}
    for graph in all_graphs(model):
        for node in graph.node:
            specs = [spec for spec in sharding_specs(node) if spec.tensor_name not in constants]
            clear_sizes(sharded_dims(specs), only_numbers=True)
    drop_arena(model)
    in_file = contract_in(ModelProtoFrontEnd(model))
    if in_file.contract is not None:
        write_contract(model.graph, in_file.contract.declared().text())


def _drop_numbers(model: ModelProto) -> None:
    for graph in all_graphs(model):
        inputs = () if graph is model.graph else graph.input
        for info in (*inputs, *graph.output, *graph.value_info):
            if not isinstance(info, str):
                clear_sizes(innermost_dims(info.type), only_numbers=True)


def rename_symbols(model: ModelProto, names: Mapping[str, str]) -> None:
    """Give the symbols of a model other names, in place. Raises as `new_symbols`, and UnboundName as `specialize`."""
    _put(model, new_symbols(_texts(dims_of(model)), names))


def _texts(dims: Iterable[Any]) -> list[str]:
    return [text(dim.dim_param) for dim in dims if dim.dim_param]


def _write(dims: Iterable[Any], sizes: Mapping[str, int | str]) -> None:
    """Write the new sizes in place of texts."""
    for dim in dims:
        new = sizes.get(text(dim.dim_param)) if dim.dim_param else None
        if isinstance(new, int) and new < 0:
            dim.ClearField("dim_param")
        elif isinstance(new, int):
            dim.dim_value = new
        elif new is not None:
            dim.MergeFromString(dim_param(new))


def _name_axes(model: ModelProto, wanted: Collection[str]) -> None:
    """Write the wanted names of nameless axes: names after the input and the axis, or declared for a result."""
    front = ModelProtoFrontEnd(model)
    texts = front.dim_params()
    if not any(None in sizes for _, sizes in front.inputs()) or set(texts[0]).issuperset(wanted):
        return
    plain = {name: sizes_of(value) for name, value in front.view(Symbols(*texts)).graph.inputs}
    for named in (plain, run(Request(front)).inputs):
        for info in model.graph.input:
            dims, names = list(innermost_dims(info.type)), named.get(text(info.name), ())
            for dim, name in zip(dims, names, strict=False):
                if declared_size(dim) is None and name in wanted:
                    dim.dim_param = str(name)


def substituted(texts: Iterable[str], sizes: Mapping[str, Dim], inner: Container[str] = ()) -> dict[str, int | str]:
    """What becomes of the declared texts that contain one of the symbols, of these sizes all at once.

    Raises `UnboundName` for symbols that no text contains, `SymdimError` for a size that makes another negative. The
    `inner` texts, which only bodies have, may become negative: at these sizes the body does not run.

    >>> substituted(["N", "2*N + H", "H"], {"N": 4}), substituted(["s0", "s0//2"], {"s0": Var("batch")})
    ({'N': 4, '2*N + H': 'H + 8'}, {'s0': 'batch', 's0//2': 'batch//2'})
    """
    texts = _read_texts(texts)
    names = {name: Var(name, 0) for name in (*filter(is_name, texts), *sizes)}  # a size may be 0
    used: set[str] = set()
    changed: dict[str, int | str] = {}
    for written in texts:
        size = read_dim_param(written, names)
        if not isinstance(size, Expr) or size.free_symbols().isdisjoint(sizes):
            continue
        held = size.free_symbols() & sizes.keys()
        used |= held
        new = size.substitute({name: sizes[name] for name in held})
        if isinstance(new, int) and new < 0 and written not in inner:
            raise SymdimError(f"{written} is {new} at these sizes")
        changed[written] = new if isinstance(new, int) else str(new)
    if missing := tuple(sorted(sizes.keys() - used)):
        raise UnboundName(missing)
    return changed


def read_sizes(texts: Iterable[str], sizes: Mapping[str, int | str]) -> dict[str, Dim]:
    """The sizes of symbols: numbers, or texts of other symbols or of new names.

    >>> texts = ["H", "H//2"]
    >>> substituted(texts, read_sizes(texts, {"H": "32*h"}))
    {'H': '32*h', 'H//2': '16*h'}
    """
    names = frozenset((*filter(is_name, _read_texts(texts)), *sizes))
    return {n: parse(size, names, scope=_Sizes) if isinstance(size, str) else size for n, size in sizes.items()}


def new_symbols(texts: Iterable[str], names: Mapping[str, str]) -> dict[str, Dim]:
    """The symbols of the new names. Raises `ArgumentError` for one that makes two symbols one, or reads as no name.

    >>> substituted(["s17", "s17*s0"], new_symbols(["s17", "s17*s0"], {"s17": "batch", "s0": "seq"}))
    {'s17': 'batch', 's17*s0': 'batch*seq'}
    >>> new_symbols(["s17", "s17*s0"], {"s17": "s0"})
    Traceback (most recent call last):
    ...
    onnx_infer.errors.ArgumentError: 's17' cannot be renamed to 's0': another symbol has this name
    """
    texts = _read_texts(texts)
    declared = frozenset(filter(is_name, texts)) | names.keys()
    taken = {v.name for v in variables_of([read_dim_param(t, declared) for t in texts])} - names.keys()
    for old, new in names.items():
        if not new or not said(new) or not is_name(new):
            raise ArgumentError(f"{old!r} cannot be renamed to {new!r}: it does not read as a name")
        if new in taken:
            raise ArgumentError(f"{old!r} cannot be renamed to {new!r}: another symbol has this name")
        taken.add(new)
    return {old: Var(new, 0) for old, new in names.items()}


def _read_texts(texts: Iterable[str]) -> dict[str, None]:
    """The texts that say something, each once."""
    return dict.fromkeys(t for t in texts if isinstance(said(t), str))


class _Sizes:
    """The variables of names: sizes that may be 0."""

    @staticmethod
    def var(name: str, /) -> Var:
        return Var(name, 0)
