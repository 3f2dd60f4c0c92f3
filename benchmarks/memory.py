"""Memory and time of inference on a model with 1 GB of weights: `python benchmarks/memory.py [--megabytes 1024]`.

`--models 10000` shows the memory of one process that infers so many different small models, with subgraphs and
functions in them: what is remembered between inferences is bounded, so it levels off after some thousands.

`--nodes 200000` measures models of so many small nodes without weights instead: in order, the last first, shuffled.

Each engine runs in its own process; what is shown is the memory of the process after loading, and how far inference
went above that at its peak (Linux: VmRSS and VmHWM of /proc/self/status). `in place` writes into the ModelProto given,
the others make a copy.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import large_models as make
import onnx
from onnx import TensorProto, helper
from timing import shown, table

ENGINES = ("onnx", "onnx_infer, a copy", "onnx_infer, in place")
SIDE = 4096


def heavy_model(megabytes: int) -> onnx.ModelProto:
    """A chain of MatMuls with weights of 64 MB each, inside the file."""
    count = max(1, megabytes * (1 << 20) // (4 * SIDE * SIDE))
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(count)]
    weights = [
        TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[SIDE, SIDE], raw_data=bytes(4 * SIDE * SIDE))
        for i in range(count)
    ]
    inputs = [helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["N", "S", SIDE])]
    outputs = [helper.make_tensor_value_info(f"x{count}", TensorProto.FLOAT, None)]
    return helper.make_model(helper.make_graph(nodes, "heavy", inputs, outputs, weights))


def megabytes(field: str) -> float:
    """VmRSS, what the process holds now, or VmHWM, its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {field}")


def work(engine: str, path: str) -> dict[str, float]:
    """What one process measures."""
    model = onnx.load(path)
    if engine != "onnx":
        from onnx_infer import infer_shapes
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    loaded = megabytes("VmRSS")
    start = perf_counter()
    if engine == "onnx":
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    else:
        inferred = infer_shapes(model, in_place=engine.endswith("in place"))
    seconds, extra = perf_counter() - start, max(0.0, megabytes("VmHWM") - loaded)
    return {"seconds": seconds, "loaded": loaded, "extra": extra, "values": len(inferred.graph.value_info)}


def measure(model: onnx.ModelProto) -> dict[str, dict[str, float]]:
    """Engine -> megabytes after loading, megabytes above that at the peak, seconds; without engines that fail."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "heavy.onnx"
        onnx.save(model, path)
        for engine in ENGINES:
            command = [sys.executable, __file__, "--worker", engine, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                found[engine] = json.loads(done.stdout)
    return found


def small_model(i: int) -> onnx.ModelProto:
    """A model like no other: its names, sizes, bodies and constants contain a number."""
    text = f"""<ir_version: 10, opset_import: ["": 18, "f": 1]>
    g (float[N{i}, {i % 97 + 2}] x, int64 m, bool c) => (y, z, s) {{
        k = Constant<value_int={i}>() i = NonZero(x) d = Shape(x) e = Add(d, k) p = Expand(x, e) q = f.F(p)
        y = If(c) <then_branch = t{i} () => (a) {{ a = Concat<axis=0>(x, x) }},
            else_branch = e{i} () => (b) {{ b = Slice(x, o, h, o) o = Constant<value_ints=[0]>()
                h = Constant<value_ints=[{i + 1}]>() }}>
        z, s = Loop(m, c, i) <body = l{i} (int64 j, bool g, int64[2, r] v) => (n, w, u) {{
            n = Identity(g) w = Concat<axis=1>(v, i) u = Mul(k, j) }}>
    }} <domain: "f", opset_import: ["": 18]> F (v) => (w) {{ w = Concat<axis={i % 2}>(v, v) }}"""
    return onnx.parser.parse_model(text)


def many_models(count: int) -> str:
    """The memory of this process after so many small models, of which each was inferred twice."""
    from onnx_infer import infer_shapes

    rows = []
    for i in range(count):
        model = small_model(i)
        infer_shapes(infer_shapes(model))
        if (i + 1) % max(1, count // 10) == 0:
            gc.collect()
            rows.append([f"{i + 1:,}", f"{megabytes('VmRSS'):.1f} MB"])
    return table(["models", "memory"], rows)


def tables(found: dict[str, dict[str, float]]) -> str:
    """The Markdown table."""
    rows = [
        [engine, f"{row['loaded']:.0f} MB", f"{row['extra']:.0f} MB", shown(row["seconds"])]
        for engine, row in found.items()
    ]
    return table(["engine", "after loading", "more for inference", "time"], rows)


def many_nodes(count: int) -> str:
    """A table for each order of so many nodes, and how many values got a type."""
    orders = {"in order": make.ordered_nodes, "the last first": make.reversed_nodes, "shuffled": make.shuffled_nodes}
    parts = []
    for name, make_nodes in orders.items():
        found = measure(make_nodes(count))
        values = ", ".join(f"{engine} {row['values']:,}" for engine, row in found.items())
        parts.append(f"{count:,} nodes, {name}. Values with a type: {values}.\n\n{tables(found)}")
    return "\n\n".join(parts)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--worker", nargs=2, metavar=("ENGINE", "PATH"), help=argparse.SUPPRESS)
    parser.add_argument("--models", type=int, metavar="N", help="N different small models in one process instead")
    parser.add_argument("--nodes", type=int, metavar="N", help="a model of N small nodes instead")
    options = parser.parse_args()
    if options.models:
        print(many_models(options.models))
        return
    if options.worker:
        print(json.dumps(work(*options.worker)))
        return
    if options.nodes:
        print(many_nodes(options.nodes))
        return
    print(tables(measure(heavy_model(options.megabytes))))


if __name__ == "__main__":
    main()
