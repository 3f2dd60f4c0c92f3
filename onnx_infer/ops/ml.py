"""The operators of ai.onnx.ml for features and maps; its models are in `ml_models.py`.

If an operator works on rows (N, F), a vector (F,) is one row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.indices import demand_in_bounds
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import confirm, unify
from onnx_infer.laws.statements import conflicting, demand, fresh
from onnx_infer.operators.registration import op
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Map, Sequence
from onnx_infer.values.tensor import SymTensor
from symdim import product, total

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Dim, Elements, Shape, Value, Variadic


DOMAIN = "ai.onnx.ml"


def rows(X: AnyRank) -> Dim:
    """The number of rows N of (N, F); 1 for a vector (F,)."""
    if X.shape is None:
        return fresh("the rank of X is not known")
    if X.rank not in (1, 2):
        return conflicting(f"the rank must be 1 or 2: {X.rank}")
    return X.dims[0] if X.rank == 2 else 1


def features(X: AnyRank) -> Dim | None:
    """The number of features F of (N, F) or (F,), or None."""
    return X.shape[-1] if X.shape else None


def confirm_features(X: AnyRank, count: Dim, of: str) -> None:
    """Demand that X has as many features as the vectors of the model."""
    size = features(X)
    if size is not None:
        confirm(size, count, f"the numbers of features of X and of {of}")


def length(*lists: tuple[Any, ...] | None) -> int:
    """The length of the given list, 0 if none is given."""
    return max(len(values or ()) for values in lists)


def one_of(what: str, *lists: tuple[Any, ...] | None) -> Dim:
    """The length of the list. Exactly one must be given."""
    if sum(values is not None for values in lists) != 1:
        return conflicting(f"exactly one of {what} must be given")
    return length(*lists)


@op("Binarizer", "Imputer", domain=DOMAIN)
def same_shape(X: AnyRank) -> Shape | None:
    """X -> the same shape (Binarizer-1, Imputer-1)."""
    return X.shape


@op("Scaler", domain=DOMAIN)
def scaler(X: AnyRank, *, offset: tuple[float, ...] | None, scale: tuple[float, ...] | None) -> Shape | None:
    """X -> the same shape. `offset` and `scale` have one element for each feature, or one for all (Scaler-1)."""
    shifts, factors = length(offset), length(scale)
    demand(shifts == factors, "offset and scale differ in length", shifts, factors)
    if factors > 1:
        confirm_features(X, factors, "scale")
    return X.shape


@op("Normalizer", domain=DOMAIN)
def normalizer(X: SymTensor) -> Shape:
    """(N, C) or (C,) -> the same shape (Normalizer-1)."""
    demand(X.rank in (1, 2), "the rank must be 1 or 2", X.rank)
    return X.dims


def _opposite(X: AnyRank) -> int | None:
    """The type of the categories on the other side: integers for strings, strings for integers."""
    return None if X.dtype is None else dt.INT64 if X.dtype == dt.STRING else dt.STRING


def _encoded(values_tensor: SymTensor | None, values_strings: Any, values_int64s: Any, values_floats: Any) -> int:
    """The element type of the `values_*` attribute that is given."""
    tensor = None if values_tensor is None else (values_tensor,)
    one_of("the values_* attributes", tensor, values_strings, values_int64s, values_floats)
    if values_tensor is not None:
        return values_tensor.dtype or dt.INT64
    return dt.STRING if values_strings is not None else dt.INT64 if values_int64s is not None else dt.FLOAT


@op("CategoryMapper", domain=DOMAIN, dtype=_opposite)
def category_mapper(X: AnyRank, *, cats_int64s: tuple[int, ...] | None, cats_strings: Any | None) -> Shape | None:
    """X -> the same shape (CategoryMapper-1)."""
    demand(cats_int64s is not None and cats_strings is not None, "cats_int64s and cats_strings go together")
    count, other = length(cats_int64s), length(cats_strings)
    demand(count == other, "cats_int64s and cats_strings differ in length", count, other)
    return X.shape


op("LabelEncoder", domain=DOMAIN, dtype=_opposite)(same_shape)


@op("LabelEncoder", domain=DOMAIN, since=2, dtype=_encoded)
def label_encoder(
    X: AnyRank, *, keys_tensor: SymTensor | None, keys_strings: Any | None, keys_int64s: Any | None,
    keys_floats: Any | None, values_tensor: SymTensor | None, values_strings: Any | None, values_int64s: Any | None,
    values_floats: Any | None, default_tensor: SymTensor | None, output_dtype: int | None,
) -> Shape | None:  # fmt: skip
    """X -> the same shape. The keys have X's element type, and each has a value (LabelEncoder-2, 4)."""
    tensor = None if keys_tensor is None else (keys_tensor,)
    one_of("the keys_* attributes", tensor, keys_strings, keys_int64s, keys_floats)
    counts = []
    for name, whole, *lists in (
        ("keys_tensor", keys_tensor, keys_strings, keys_int64s, keys_floats),
        ("values_tensor", values_tensor, values_strings, values_int64s, values_floats),
    ):
        demand(whole is None or whole.rank == 1, f"{name} is not a vector", whole)
        counts.append(length(*lists) if whole is None else whole.size)
    demand(counts[0] == counts[1], "keys and values differ in number", *counts)
    if default_tensor is not None:
        demand(default_tensor.shape == (1,), "default_tensor is not a vector of one element", default_tensor)
        demand(default_tensor.dtype == output_dtype, "element types of default_tensor and the values differ",
               dt.text(default_tensor.dtype), dt.text(output_dtype))  # fmt: skip
    kinds = ((keys_strings, dt.STRING), (keys_int64s, dt.INT64), (keys_floats, dt.FLOAT))
    key = next((kind for keys, kind in kinds if keys is not None), keys_tensor.dtype if keys_tensor else None)
    demand(X.dtype in (None, key), "the element types of X and the keys differ", dt.text(X.dtype), dt.text(key))
    return X.shape


@op("OneHotEncoder", domain=DOMAIN)
def one_hot_encoder(
    X: AnyRank, *, cats_int64s: tuple[int, ...] | None, cats_strings: tuple[str, ...] | None
) -> Shape | None:
    """shape -> (*shape, number of categories) (OneHotEncoder-1)."""
    count = one_of("cats_int64s and cats_strings", cats_int64s, cats_strings)
    return None if X.shape is None else (*X.shape, count)


def _extract(X: Any, Y: Any) -> Any:
    if not all(isinstance(i, int) for i in Y.ravel()):
        raise Unknown("an index is not known")
    return np.atleast_2d(X)[..., [int(i) for i in Y.ravel()]]


@op("ArrayFeatureExtractor", domain=DOMAIN, data=_extract, indices=(1,))
def array_feature_extractor(X: SymTensor, Y: Elements) -> Shape:
    """(*batch, F), K indices of any shape -> (*batch, K); of a vector (1, K) (ArrayFeatureExtractor-1)."""
    require(X.rank >= 1, "the rank of X must be at least 1", X.rank)
    demand_in_bounds(Y, X.dims[-1], negative=False)
    return (*(X.dims[:-1] or (1,)), fresh("the rank of Y is not known") if Y.shape is None else Y.size)


@op("FeatureVectorizer", domain=DOMAIN)
def feature_vectorizer(X: Variadic, *, inputdimensions: tuple[int, ...] | None) -> Shape:
    """(N, C_i) or (C_i,) each -> (N, the sum of inputdimensions, else of the C_i) (FeatureVectorizer-1)."""
    for x in X:
        demand(x.rank >= 1, "the rank must be at least 1", x.rank)
    batches = [x.dims[0] if x.rank > 1 else 1 for x in X]
    batch = batches[0]
    for other in batches[1:]:
        batch = unify(batch, other, "numbers of rows")
    if inputdimensions and len(inputdimensions) != len(X):
        return batch, conflicting(f"inputdimensions must have one element per input: {len(X)}")
    return batch, total(inputdimensions or (product(x.dims[1:] if x.rank > 1 else x.dims) for x in X))


# -- maps --------------------------------------------------------------------------------------------------------------


def _cast_dtype(cast_to: str) -> int:
    casts = {"TO_FLOAT": dt.FLOAT, "TO_STRING": dt.STRING, "TO_INT64": dt.INT64}
    require(cast_to in casts, f"cast_to is none of {', '.join(casts)}", cast_to)
    return casts[cast_to]


def _map_value_dtype(X: Value) -> int | None:
    return X.value.dtype if isinstance(X, Map) and isinstance(X.value, SymTensor) else None


@op("CastMap", domain=DOMAIN, dtype=_cast_dtype)
def cast_map(X: Value, *, map_form: str, max_map: int) -> Shape:
    """A map -> (1, number of its entries), SPARSE: (1, max_map) (CastMap-1)."""
    demand(map_form in ("DENSE", "SPARSE"), "map_form is neither DENSE nor SPARSE", map_form)
    return (1, max_map if map_form == "SPARSE" else fresh("the number of entries of the map"))


@op("DictVectorizer", domain=DOMAIN, dtype=_map_value_dtype)
def dict_vectorizer(
    X: Value, *, int64_vocabulary: tuple[int, ...] | None, string_vocabulary: tuple[str, ...] | None
) -> Shape:
    """A map -> (1, size of the vocabulary) (DictVectorizer-1)."""
    if isinstance(X, Map):
        key = dt.INT64 if string_vocabulary is None else dt.STRING
        demand(X.key == key, "the type of the keys is not that of the vocabulary", dt.text(X.key), dt.text(key))
    return (1, one_of("int64_vocabulary and string_vocabulary", int64_vocabulary, string_vocabulary))


@op("ZipMap", domain=DOMAIN)
def zip_map(
    X: AnyRank, *, classlabels_int64s: tuple[int, ...] | None, classlabels_strings: tuple[str, ...] | None
) -> Value:
    """(N, C) -> a sequence of N maps from C labels to scalars; of a vector (C,) one map (ZipMap-1)."""
    count = one_of("classlabels_int64s and classlabels_strings", classlabels_int64s, classlabels_strings)
    batch = None if X.shape is None else rows(X)
    if X.shape:
        unify(X.shape[-1], count, "the last axis and the number of labels")
    key = dt.STRING if classlabels_strings is not None else dt.INT64
    return Sequence(Map(key, SymTensor(dt.FLOAT, ())), batch)
