"""Strings: concatenation, normalization, splitting, matching, and n-gram features."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from onnx_infer.elements.lifting import lift
from onnx_infer.errors import require
from onnx_infer.laws.sizes import broadcast, unify
from onnx_infer.laws.statements import conflicting, demand, fresh
from onnx_infer.operators.registration import op

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Shape, Strings, SymTensor


@op("StringConcat", data=lift(operator.add, 2))
def string_concat(X: SymTensor, Y: SymTensor) -> Shape:
    """X, Y that broadcast to each other -> their broadcast shape (StringConcat-20)."""
    return broadcast(X.dims, Y.dims)


@op("StringNormalizer")
def string_normalizer(X: SymTensor, case_change_action: str, stopwords: Strings | None) -> Shape:
    """(C) or (1, C) -> the same without the stop words; at least one string stays (StringNormalizer-10)."""
    require(X.rank in (1, 2), "rank of X is not 1 or 2", X.rank)
    demand(case_change_action in ("LOWER", "UPPER", "NONE"), "no such case_change_action", case_change_action)
    if X.rank == 2:
        unify(X.dims[0], 1, "the first size of X")
    size = X.dims[-1]
    demand(size != 0, "X holds no string")
    kept = size if not stopwords or size in (0, 1) else fresh("the number of stop words", at_most=size, at_least=1)
    return (kept,) if X.rank == 1 else (1, kept)


@op("StringSplit")
def string_split(X: SymTensor, maxsplit: int | None) -> list[Shape]:
    """X -> substrings (*X, the largest number of any element), and their number per element (StringSplit-20)."""
    most = None if maxsplit is None or maxsplit < 0 else maxsplit + 1
    return [(*X.dims, fresh("the largest number of substrings", at_most=most)), X.dims]


@op("RegexFullMatch")
def regex_full_match(X: AnyRank) -> Shape | None:
    """X -> a boolean for each element (RegexFullMatch-20)."""
    return X.shape


@op("TfIdfVectorizer")
def tf_idf_vectorizer(X: SymTensor, mode: str, ngram_indexes: tuple[int, ...]) -> Shape:
    """(C) -> (max(ngram_indexes) + 1), (N, C) -> (N, max(ngram_indexes) + 1) (TfIdfVectorizer-9)."""
    require(X.rank in (1, 2), "rank of X is not 1 or 2", X.rank)
    demand(mode in ("TF", "IDF", "TFIDF"), "no such mode", mode)
    if not ngram_indexes:
        return (*X.dims[:-1], conflicting("ngram_indexes is empty"))
    demand(min(ngram_indexes) >= 0, "ngram_indexes must be at least 0", list(ngram_indexes))
    return (*X.dims[:-1], max(ngram_indexes) + 1)
