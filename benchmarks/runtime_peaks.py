"""The peak memory of a run in onnxruntime beside the arena of one plan: `python benchmarks/runtime_peaks.py`.

A shim in C, which needs gcc and Linux, is loaded before onnxruntime. It counts the aligned allocations that are alive,
which are those of tensors and of workspace: the arena and the memory pattern of onnxruntime are off, and so are
optimizations of the graph, so that it runs the nodes of the file. Weights count on neither side, inputs belong to the
caller, outputs count. Figures of onnxruntime are those of a second run, without and with its reuse of buffers.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from timing import table  # noqa: E402

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { SLOTS = 1 << 18 };
static struct { void *block; size_t bytes; } slots[SLOTS];
static size_t live, most;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The slot of a block, or a free one. An entry that was left stays, so that no search ends early. */
static size_t slot_of(const void *block) {
    size_t i = ((uintptr_t)block >> 4) * 2654435761u % SLOTS;
    for (size_t tried = 0; slots[i].block && slots[i].block != block; i = (i + 1) % SLOTS)
        if (++tried == SLOTS) abort();
    return i;
}

static void enter(void *block, size_t bytes) {
    pthread_mutex_lock(&lock);
    size_t i = slot_of(block);
    slots[i].block = block;
    slots[i].bytes = bytes;
    live += bytes;
    if (live > most) most = live;
    pthread_mutex_unlock(&lock);
}

static void leave(const void *block) {
    pthread_mutex_lock(&lock);
    size_t i = slot_of(block);
    if (slots[i].block == block) {
        live -= slots[i].bytes;
        slots[i].bytes = 0;
    }
    pthread_mutex_unlock(&lock);
}

int posix_memalign(void **block, size_t align, size_t bytes) {
    static int (*next)(void **, size_t, size_t);
    if (!next) next = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    int failed = next(block, align, bytes);
    if (!failed && *block) enter(*block, bytes);
    return failed;
}

void *aligned_alloc(size_t align, size_t bytes) {
    static void *(*next)(size_t, size_t);
    if (!next) next = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    void *block = next(align, bytes);
    if (block) enter(block, bytes);
    return block;
}

void free(void *block) {
    static void (*next)(void *);
    if (!next) next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    if (block) leave(block);
    next(block);
}

size_t counted_live(void) { return live; }
size_t counted_most(void) { return most; }
void counted_anew(void) { most = live; }
"""

Feeds = Mapping[str, "np.ndarray[Any, Any]"]


def shim(folder: Path) -> Path:
    """The compiled shim. Leaves with a message where there is no gcc."""
    compiler = shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        raise SystemExit("runtime_peaks: this needs gcc, on Linux; nothing was measured")
    source, library = folder / "counting.c", folder / "counting.so"
    source.write_text(SHIM, "utf-8")
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-ldl", "-lpthread"], check=True
    )
    return library


def peaks(model: onnx.ModelProto, runs: Sequence[Feeds]) -> list[tuple[int, int]]:
    """For each run the peak in bytes, without and with reuse of buffers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "LD_PRELOAD": str(shim(folder))}
        onnx.save(model, str(folder / "model.onnx"))
        for number, feeds in enumerate(runs):
            np.savez(folder / f"{number}.npz", **feeds)
        command = [sys.executable, __file__, "--child", name, str(len(runs))]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return [(without, with_reuse) for without, with_reuse in json.loads(done.stdout)]


def child(folder: Path, count: int) -> list[list[int]]:
    """What `peaks` returns; the shim is loaded."""
    import onnxruntime

    counts = ctypes.CDLL(None)
    counts.counted_live.restype = counts.counted_most.restype = ctypes.c_size_t
    found: list[list[int]] = [[] for _ in range(count)]
    for reuse in (False, True):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        options.enable_mem_reuse = reuse
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        for number in range(count):
            with np.load(folder / f"{number}.npz") as loaded:
                feeds = {name: loaded[name] for name in loaded.files}
            session.run(None, feeds)
            counts.counted_anew()
            before = counts.counted_live()
            session.run(None, feeds)
            found[number].append(counts.counted_most() - before)
    return found


def feeds_of(model: onnx.ModelProto, sizes: Mapping[str, int]) -> dict[str, np.ndarray[Any, Any]]:
    """Random inputs at these sizes; integers and booleans are 0 or 1."""
    random, found = np.random.default_rng(0), {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        shape = [dim.dim_value if dim.HasField("dim_value") else sizes[dim.dim_param] for dim in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        found[value.name] = (random.random(shape) * 2).astype(dtype)
    return found


def main() -> None:
    import onnxruntime
    from arenas import MODELS

    import onnx_infer

    rows, ratios = [], []
    for name, (model, all_sizes) in MODELS.items():
        result = onnx_infer.infer(model)
        plans = [result.arena(order=order) for order in ("file", "least")]
        measured = peaks(model, [feeds_of(model, sizes) for sizes in all_sizes])
        for sizes, (without, reusing) in zip(all_sizes, measured, strict=True):
            ours = [plan.at({v.name: sizes[v.name] for v in plan.symbols}).size for plan in plans]
            ratios.append(ours[0] / without)
            named = ", ".join(f"{symbol}={size}" for symbol, size in sizes.items())
            rows.append([name, named, *(f"{count:,}" for count in (*ours, without, reusing)), f"{ratios[-1]:.2f}"])
    head = ["model", "sizes", "one plan", "order=least", "onnxruntime", "with reuse", "plan to onnxruntime"]
    print(table(head, rows))
    print(f"onnxruntime {onnxruntime.__version__}; median of the ratios: {median(ratios):.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(Path(sys.argv[2]), int(sys.argv[3]))))
    else:
        main()
