"""How inference grows with one part of a model at a time: `python benchmarks/growth.py [--onnx] [WORD ...]`.

Each case makes a model that is large in one way only: one wide node, one long constant, a deep nest. `slope` is that of
the time against the size between the two largest sizes, on logarithmic scales: 1 is linear, 2 quadratic. Only times
well above those of an empty model say anything of it. `--onnx` adds the times of onnx's C++; words choose cases.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from math import log
from time import process_time
from typing import TYPE_CHECKING

import large_models as make
import onnx
from timing import shown, table

from onnx_infer import InferenceResult, infer, infer_shapes
from symdim import clear_caches
from tests.onnx_infer import models

if TYPE_CHECKING:
    from onnx import ModelProto

WIDE = (1_000, 10_000, 100_000)
"""Sizes of what should take a few microseconds for each part."""

LONG = (1_000, 10_000, 100_000, 200_000)
LAYERS = (24, 48, 96, 192)

CASES: dict[str, tuple[make.Make, tuple[int, ...]]] = {
    "Concat of n symbols": (make.concat_of_symbols, WIDE),
    "Concat of n sizes": (make.concat_of_sizes, WIDE),
    "Sum of n symbols": (make.variadic("Sum", lambda i: f"N{i}"), WIDE),
    "Max of n equal shapes": (make.variadic("Max", lambda i: "N"), WIDE),
    "Mean of n operands": (make.variadic("Mean", lambda i: i % 2 * 6 + 1), WIDE),
    "Einsum of n operands": (make.einsum_of_many, WIDE),
    "Split by n sizes": (make.split_by_sizes, WIDE),
    "Split of a symbol by n sizes": (make.split_of_symbol, WIDE),
    "Split by n unknown sizes": (make.split_of_unknown, WIDE),
    "Split into n parts": (make.split_equally, WIDE),
    "num_outputs of Split n, 4 outputs": (make.split_in_more_than_there_are, WIDE),
    "n axes": (make.high_rank, (100, 300, 1_000)),
    "Constant of n integers": (make.constant_vector, WIDE),
    "ConstantOfShape n x n": (make.constant_of_shape, WIDE),
    "ConstantOfShape of n axes": (make.shape_of_ones, WIDE),
    "Gather with n indices": (make.gather_many, WIDE),
    "Reshape to n axes": (make.reshape_to_many, WIDE),
    "Expand to n axes": (make.expand_to_many, WIDE),
    "Slice of n axes": (make.slice_by_many, WIDE),
    "Pad of n axes": (make.pad_by_many, WIDE),
    "Range of n": (make.range_of, WIDE),
    "n nodes": (make.ordered_nodes, LONG),
    "n nodes, last first": (make.reversed_nodes, LONG),
    "n nodes, shuffled": (make.shuffled_nodes, LONG),
    "n sizes forced equal": (make.forced_equal, (100, 400, 1_600)),
    "n sizes forced equal, last first": (make.forced_equal_backwards, (100, 400, 1_600)),
    "n sums of all before": (make.chained_sums, (100, 400, 1_600)),
    "n symbols": (make.many_symbols, WIDE),
    "n sizes of the data": (make.data_dependent, WIDE),
    "names of n characters": (make.long_names, WIDE),
    "dim_param of n terms": (make.long_dim_param, WIDE),
    "sequence of n": (make.sequence_of, WIDE),
    "n insertions": (make.sequence_by_insertion, (100, 1_000, 10_000)),
    "SplitToSequence by n sizes": (make.split_to_sequence, WIDE),
    "each of a sequence of n": (make.sequence_at_each, (100, 1_000, 10_000)),
    "functions that call twice, n deep": (make.doubling_calls("Pad", [0, 1]), (10, 12, 14)),
    "functions that call twice, a new rank": (make.doubling_calls("Unsqueeze", [0]), (10, 12, 14)),
    "the same with one signature": (make.equal_calls, (10, 100, 1_000)),
    "a function called n times": (make.one_function, WIDE),
    "If n deep": (make.nested_if, (4, 8, 16)),
    "Loop n deep": (make.nested_loop, (2, 4, 8, 16)),
    "n times If": (make.many_subgraphs, (100, 1_000, 10_000)),
    "Loop that carries n values": (make.wide_body, (100, 400, 1_600)),
    "If of n outputs": (make.wide_if, (100, 400, 1_600)),
    "Loop of n iterations": (make.counted_loop, WIDE),
}
"""Name of a case -> the function that makes its model, and the sizes."""

PLANS: dict[str, tuple[Callable[[InferenceResult], object], tuple[int, ...]]] = {
    "memory().peak of n layers": (lambda result: result.memory().peak, LAYERS),
    "costs() of n layers": (lambda result: result.costs().multiply_adds, LAYERS),
}
"""Name of a case -> what is asked of the result of a decoder, and the numbers of layers."""


def seconds(run: Callable[[], object]) -> float:
    """Processor time of a run: one, since in a second one what was found before is remembered."""
    clear_caches()
    gc.collect()
    start = process_time()
    run()
    return process_time() - start


def with_onnx(made: ModelProto) -> object:
    """Inference by onnx; what it says of a model that it refuses counts too."""
    try:
        return onnx.shape_inference.infer_shapes(made, data_prop=True)
    except Exception as e:
        return e


def inferring(case: str, n: int, by_onnx: bool) -> tuple[float, float | None]:
    """The times of inference for a size, and of inference by onnx."""
    made = CASES[case][0](n)
    return seconds(lambda: infer_shapes(made)), seconds(lambda: with_onnx(made)) if by_onnx else None


def planning(case: str, n: int, by_onnx: bool) -> tuple[float, float | None]:
    """The time of a question to the result of n layers, the least of three; onnx has no answer."""
    result = infer(models.decoder(layers=n))
    return min(seconds(lambda: PLANS[case][0](result)) for _ in range(3)), None


def measured(case: str, by_onnx: bool, most: float) -> list[str]:
    """The row of a case; what follows a size that takes longer than `most` seconds is left out."""
    run, sizes = (planning, PLANS[case][1]) if case in PLANS else (inferring, CASES[case][1])
    run(case, 2, by_onnx)  # what operators are made of is read once
    done: list[tuple[int, float, float | None]] = []
    for n in sizes:
        done.append((n, *run(case, n, by_onnx)))
        if done[-1][1] > most:
            break
    (m, before, _), (n, after, _) = done[-2] if len(done) > 1 else done[-1], done[-1]
    slope = f"{log(after / before) / log(n / m):.2f}" if n > m else "-"
    row = [case, " / ".join(f"{n:,}" for n, *_ in done), " / ".join(shown(t) for _, t, _ in done), slope]
    return [*row, " / ".join(shown(t) for *_, t in done)] if by_onnx else row


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--onnx", action="store_true", help="times of onnx's C++ too")
    parser.add_argument(
        "--most", type=float, default=2.0, metavar="SECONDS", help="larger sizes are left out from here on"
    )
    parser.add_argument("words", nargs="*", help="cases whose names contain one of these")
    options = parser.parse_args()
    head = ["case", "n", "time", "slope", *(["onnx"] if options.onnx else [])]
    chosen = [case for case in (*CASES, *PLANS) if not options.words or any(word in case for word in options.words)]
    print(table(head, []), flush=True)
    for case in chosen:  # each row as soon as it is measured: all of them take long
        print(f"| {' | '.join(measured(case, options.onnx, options.most))} |", flush=True)


if __name__ == "__main__":
    main()
