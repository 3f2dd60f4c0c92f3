"""The models of ai.onnx.ml: linear models, support vector machines, tree ensembles.

They work on rows (N, F) of F features; a vector (F,) is one row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.laws.limits import demand_at_least, demand_at_most
from onnx_infer.laws.sizes import exact_quotient, of_rank
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import uncounted
from onnx_infer.ops.ml import DOMAIN, confirm_features, features, length, one_of, rows
from onnx_infer.values import dtype as dt
from symdim import maximum

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Shapes
    from onnx_infer.ops.kinds import AnyRank, Dim, Ints, Shape
    from onnx_infer.values.tensor import SymTensor


def demand_coefficients(X: AnyRank, coefficients: tuple[float, ...] | None, sets: Dim) -> None:
    """Demand F coefficients in each set. Runtimes ignore coefficients that are left over."""
    size = features(X)
    if size is not None and coefficients:
        demand_at_most(size * sets, len(coefficients), "the number of coefficients")


def _products(inputs: Shapes, _: Shapes, attributes: Attributes) -> Dim:
    """Multiply-adds: each row of X is multiplied with all coefficients."""
    x: Any = inputs[0]
    return (x[0] if len(x) > 1 else 1) * len(attributes["coefficients"])


@op("LinearRegressor", domain=DOMAIN, cost=_products)
def linear_regressor(X: AnyRank, *, coefficients: tuple[float, ...] | None, targets: int) -> Shape:
    """(N, F) -> (N, targets); each target has F coefficients (LinearRegressor-1)."""
    demand_coefficients(X, coefficients, targets)
    return (rows(X), targets)


def confirm_support(X: AnyRank, elements: int, vectors: int, coefficients: int, sets: int = 1) -> None:
    """Demand that X has F features: the size of a support vector, or of a set of coefficients if there are none."""
    if elements and vectors > 0:
        demand(
            elements % vectors == 0, "support_vectors is not a multiple of their number", elements, vectors, sign=","
        )
        confirm_features(X, elements // vectors, "support_vectors")
    elif coefficients and sets and vectors <= 0:
        confirm_features(X, coefficients // sets, "coefficients")


@op("SVMRegressor", domain=DOMAIN, cost=uncounted)
def svm_regressor(
    X: AnyRank, *, coefficients: tuple[float, ...] | None, n_supports: int, support_vectors: tuple[float, ...] | None
) -> Shape:
    """(N, F) -> (N, 1). Each support vector has F elements; without them there are F coefficients (SVMRegressor-1)."""
    confirm_support(X, length(support_vectors), n_supports, length(coefficients))
    return (rows(X), 1)


def _label_dtype(classlabels_strings: Any) -> list[int | None]:
    """Labels are strings if there are string labels, else integers. The schema gives the type of the scores."""
    return [dt.STRING if classlabels_strings else dt.INT64, None]


@op("LinearClassifier", domain=DOMAIN, dtype=_label_dtype, cost=_products)
def linear_classifier(
    X: AnyRank, *, coefficients: tuple[float, ...], intercepts: tuple[float, ...] | None,
    classlabels_ints: tuple[int, ...] | None, classlabels_strings: tuple[str, ...] | None,
) -> list[Shape]:  # fmt: skip
    """(N, F) -> labels (N,), scores (N, E) (LinearClassifier-1).

    E is the number of intercepts, one per set of F coefficients. One set that separates two labels gives 2 scores.
    """
    batch = rows(X)
    scores: Dim = length(intercepts)
    if scores != 0:
        demand_coefficients(X, coefficients, scores)
    else:
        size = features(X)
        size = fresh("the number of features") if size is None else size
        scores = exact_quotient(len(coefficients), size, "the number of coefficients")
    if length(classlabels_ints, classlabels_strings) == 2 and scores != 0:
        scores = maximum(scores, 2)
    return [(batch,), (batch, scores)]


@op("SVMClassifier", domain=DOMAIN, dtype=_label_dtype, cost=uncounted)
def svm_classifier(
    X: AnyRank, *, classlabels_ints: tuple[int, ...] | None, classlabels_strings: tuple[str, ...] | None,
    coefficients: tuple[float, ...] | None, prob_a: tuple[float, ...] | None,
    support_vectors: tuple[float, ...] | None, vectors_per_class: tuple[int, ...] | None,
) -> list[Shape]:  # fmt: skip
    """(N, F) -> labels (N,), scores (N, E) of C classes; each support vector has F elements (SVMClassifier-1).

    With support vectors but no probabilities, E = C(C - 1)/2: one score per pair of classes. Otherwise E = C. Two
    classes have two scores.
    """
    batch, classes = rows(X), length(classlabels_ints, classlabels_strings)
    confirm_support(X, length(support_vectors), sum(vectors_per_class or ()), length(coefficients), classes)
    pairwise = any(vectors_per_class or ()) and not prob_a and classes != 2
    scores = classes * (classes - 1) // 2 if pairwise else classes
    return [(batch,), (batch, scores or fresh("the number of scores without classes"))]


def demand_compared_features(size: Dim, nodes_featureids: Ints | None, nodes_modes: tuple[str, ...] | None) -> None:
    """Demand that X has every feature that an inner node compares. The feature of a leaf does not count."""
    compared = (i for i, mode in zip(nodes_featureids or (), nodes_modes or (), strict=False) if mode != "LEAF")
    demand_at_least(size, max(compared, default=-1) + 1, "a feature that a tree compares")


@op("TreeEnsembleClassifier", domain=DOMAIN, dtype=_label_dtype)
def tree_ensemble_classifier(
    X: AnyRank, *, classlabels_int64s: tuple[int, ...] | None, classlabels_strings: tuple[str, ...] | None,
    nodes_featureids: tuple[int, ...] | None, nodes_modes: tuple[str, ...] | None,
) -> list[Shape]:  # fmt: skip
    """(N, F) -> labels (N,), scores (N, number of labels) (TreeEnsembleClassifier-1, 3, 5)."""
    batch, size = of_rank(X.shape, 2, "X")
    demand_compared_features(size, nodes_featureids, nodes_modes)
    scores = one_of("classlabels_int64s and classlabels_strings", classlabels_int64s, classlabels_strings)
    return [(batch,), (batch, scores)]


@op("TreeEnsembleRegressor", domain=DOMAIN)
def tree_ensemble_regressor(
    X: AnyRank, *, n_targets: int | None, nodes_featureids: tuple[int, ...] | None, nodes_modes: tuple[str, ...] | None
) -> Shape:
    """(N, F) -> (N, n_targets) (TreeEnsembleRegressor-1, 3, 5)."""
    batch, size = of_rank(X.shape, 2, "X")
    demand_compared_features(size, nodes_featureids, nodes_modes)
    return (batch, fresh("n_targets is not given") if n_targets is None else n_targets)


@op("TreeEnsemble", domain=DOMAIN)
def tree_ensemble(
    X: AnyRank, *, n_targets: int | None, aggregate_function: int, post_transform: int, tree_roots: tuple[int, ...],
    nodes_featureids: tuple[int, ...], nodes_splits: SymTensor, nodes_modes: SymTensor,
    nodes_truenodeids: tuple[int, ...], nodes_falsenodeids: tuple[int, ...], nodes_trueleafs: tuple[int, ...],
    nodes_falseleafs: tuple[int, ...], nodes_hitrates: SymTensor | None,
    nodes_missing_value_tracks_true: tuple[int, ...] | None, leaf_targetids: tuple[int, ...], leaf_weights: SymTensor,
) -> Shape:  # fmt: skip
    """(N, F) -> (N, n_targets); nodes_* have one element per inner node, leaf_* one per leaf (TreeEnsemble-5)."""
    nodes, leaves = nodes_splits.size, leaf_weights.size
    for name, attribute, count in (
        ("nodes_featureids", nodes_featureids, nodes), ("nodes_truenodeids", nodes_truenodeids, nodes),
        ("nodes_falsenodeids", nodes_falsenodeids, nodes), ("nodes_trueleafs", nodes_trueleafs, nodes),
        ("nodes_falseleafs", nodes_falseleafs, nodes), ("leaf_targetids", leaf_targetids, leaves),
        ("nodes_missing_value_tracks_true", nodes_missing_value_tracks_true, nodes),
    ):  # fmt: skip
        demand(not attribute or len(attribute) == count, f"{name} must have {count} elements", len(attribute or ()))
    for name, tensor in (("nodes_modes", nodes_modes), ("nodes_hitrates", nodes_hitrates)):
        demand(tensor is None or tensor.size == nodes, f"{name} must have {nodes} elements", tensor)
    for name, tensor in (("nodes_splits", nodes_splits), ("leaf_weights", leaf_weights)):
        demand(X.dtype in (None, tensor.dtype), f"element types of X and {name} differ", tensor)
    for name, ids, end in (
        ("tree_roots", tree_roots, nodes), ("leaf_targetids", leaf_targetids, n_targets),
        ("nodes_featureids", nodes_featureids, features(X)), ("aggregate_function", (aggregate_function,), 4),
        ("post_transform", (post_transform,), 5),
    ):  # fmt: skip
        within = all(i >= 0 and (not isinstance(end, int) or i < end) for i in ids)
        demand(within, f"{name} must be in [0, {end})", list(ids[:8]))
    for leafs, ids in ((nodes_trueleafs, nodes_truenodeids), (nodes_falseleafs, nodes_falsenodeids)):
        ends = ((leaves if leaf else nodes) for leaf in leafs)
        demand(all(0 <= i < end for i, end in zip(ids, ends, strict=False)), "a branch leads to no node or leaf")
    demand(n_targets is not None and n_targets >= 1, "n_targets must be at least 1", n_targets)
    batch, size = of_rank(X.shape, 2, "X")
    if not isinstance(size, int):
        demand_at_least(size, max(nodes_featureids, default=-1) + 1, "a feature that a tree compares")
    return batch, n_targets or fresh("n_targets is not given")
