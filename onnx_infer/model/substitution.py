"""Symbols of a model replaced: by sizes, or by other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import ArgumentError
from onnx_infer.model.size_texts import is_name, said
from symdim import Expr, SymdimError, UnboundName, Var
from symdim.parsing import parse, read_dim_param

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from onnx_infer.values.tensor import Dim


def substituted(
    texts: Iterable[str], sizes: Mapping[str, Dim | str], inner: Container[str] = ()
) -> dict[str, int | str]:
    """What becomes of the declared texts that contain one of the symbols, of these sizes all at once.

    A size may be a text, an expression of other symbols or of new ones.

    Raises `UnboundName` for symbols that no text contains, `SymdimError` for a size that makes another negative. The
    `inner` texts, which only bodies have, may become negative: at these sizes the body does not run.

    >>> substituted(["N", "2*N + H", "H"], {"N": 4}), substituted(["s0", "s0//2"], {"s0": Var("batch")})
    ({'N': 4, '2*N + H': 'H + 8'}, {'s0': 'batch', 's0//2': 'batch//2'})
    >>> substituted(["H", "H//2"], {"H": "32*h"})
    {'H': '32*h', 'H//2': '16*h'}
    """
    texts = dict.fromkeys(t for t in texts if isinstance(said(t), str))
    names = {name: Var.fresh(name, lo=0) for name in (*filter(is_name, texts), *sizes)}  # a size may be 0
    new_names = _NewNames()
    read = {n: parse(size, names, scope=new_names) if isinstance(size, str) else size for n, size in sizes.items()}
    used: set[str] = set()
    found: dict[str, int | str] = {}
    for text in texts:
        size = read_dim_param(text, names)
        if not isinstance(size, Expr) or size.free_symbols().isdisjoint(sizes):
            continue
        held = size.free_symbols() & sizes.keys()
        used |= held
        new = size.substitute({name: read[name] for name in held})
        if isinstance(new, int) and new < 0 and text not in inner:
            raise SymdimError(f"{text} is {new} at these sizes")
        found[text] = new if isinstance(new, int) else str(new)
    if missing := tuple(sorted(sizes.keys() - used)):
        raise UnboundName(missing)
    return found


def renamed(texts: Iterable[str], names: Mapping[str, str]) -> dict[str, int | str]:
    """What becomes of the declared texts that contain one of the symbols, under their new names.

    Raises `UnboundName` for symbols that no text contains, `ArgumentError` for new names that would make two symbols
    one, or that read as expressions.

    >>> renamed(["s17", "s17*s0"], {"s17": "batch", "s0": "seq"})
    {'s17': 'batch', 's17*s0': 'batch*seq'}
    >>> renamed(["s17", "s17*s0"], {"s17": "s0"})
    Traceback (most recent call last):
    ...
    onnx_infer.errors.ArgumentError: 's17' cannot be renamed to 's0': another symbol has this name
    """
    texts = [t for t in texts if isinstance(said(t), str)]
    declared = frozenset(filter(is_name, texts)) | names.keys()
    read = [size for size in (read_dim_param(t, declared) for t in texts) if isinstance(size, Expr)]
    kept = frozenset[str]().union(*(size.free_symbols() for size in read)) - names.keys()
    taken: set[str] = set()
    for old, new in names.items():
        if not new or not said(new) or not is_name(new):
            raise ArgumentError(f"{old!r} cannot be renamed to {new!r}: it does not read as a name")
        if new in kept or new in taken:
            raise ArgumentError(f"{old!r} cannot be renamed to {new!r}: another symbol has this name")
        taken.add(new)
    return substituted(texts, {old: Var.fresh(new, lo=0) for old, new in names.items()})


class _NewNames:
    """The variables of names that no text has: sizes that may be 0, one for each name."""

    def __init__(self) -> None:
        self._of: dict[str, Var] = {}

    def var(self, name: str, /) -> Var:
        return self._of.setdefault(name, Var.fresh(name, lo=0))
