"""What onnx's strict inference refuses we refuse too, and never what onnx accepts and onnxruntime runs.

Random changes of the operator cases are judged by all three. Where we differ on purpose, `LAX` and `STRICT` say why.
A long run is a program: `python -m tests.onnx_infer.test_refusals --seed 1 --count 20000`.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

import onnx_infer
from onnx_infer.errors import OnnxInferError
from tests.onnx_infer.mutation import NodeCase, draw, model, protos
from tests.onnx_infer.verdicts import CRASH, Question, answers


class Difference(NamedTuple):
    """A deliberate difference: of which operators (a pattern), what the one who refuses says, and why we differ."""

    operators: str
    message: str
    reason: str


LAX = [
    Difference(".*", "has been deprecated", "runtimes still run the node; what it gives is clear"),
    Difference("Reduce.*", "Input rank was 0|input rank was 0", "a scalar is reduced over axis 0 too; runtimes do it"),
    Difference("Range|.*Window|MelWeightMatrix|DFT", "scalar", "only constants: runtimes take one element computed"),
    Difference("Resize", "but not both of them", "an empty input is an absent one, as Resize-11 has it"),
    Difference("Resize", r"\(0\)", "onnx takes sizes of unknown rank for none"),
    Difference("FlexAttention|STFT", "rank", "onnx takes an unknown rank for rank 0"),
    Difference("RMSNormalization", "Y has inconsistent type", "Y has the type of the scale, as the schema says"),
    Difference("Pad", "ParseData type mismatch", "the schema admits axes of int32"),
    Difference("OneHot", "must be non-negative", "onnxruntime takes negative indices in version 9 too"),
    Difference("Attention", "nonpad_kv_seqlen", "of four outputs the middle ones may be left out"),
    Difference("(Global)?LpPool|Lp.*", "unsupported", "p changes no shape"),
]
"""What onnx refuses and we do not."""

STRICT = [
    Difference("CenterCropPad", "a target size is negative", "onnx infers a negative size, onnxruntime gives 0"),
    Difference("CumSum|CumProd", "elements of axis", "onnxruntime does not look at the axis of an empty tensor"),
    Difference("GatherND", "batch sizes", "the specification demands equal batches; onnxruntime does not look"),
    Difference("GroupNormalization", "is not a vector", "the specification demands vectors"),
    Difference("LayerNormalization", "has no attribute", "the schema has no such attribute; its older twin takes any"),
    Difference("NegativeLog.*|SoftmaxCross.*", "size of the weights", "runtimes take more weights than classes"),
    Difference("Reduce.*", "out of range", "onnxruntime does not look at the axes of an empty tensor"),
    Difference("ReverseSequence", "axis", "axes that are not there, which onnxruntime does not look at"),
    Difference("Split", "num_outputs", "onnx and onnxruntime make different sizes of it"),
]
"""What we refuse, though onnx accepts and onnxruntime runs it."""


class Verdict(NamedTuple):
    """Why a node is refused, None where it is accepted; `runtime` is asked only where we are alone."""

    case: NodeCase
    onnx: str | None
    ours: str | None
    runtime: str | None = None

    @property
    def problem(self) -> str | None:
        """What is wrong with our verdict."""
        if self.onnx == CRASH or (self.onnx or "").startswith("ValueError: Unsupported type"):
            return None
        if self.onnx is not None and self.ours is None:
            return None if _deliberate(LAX, self.case, self.onnx) else f"onnx refuses: {self.onnx}"
        if self.onnx is None and self.ours is not None and self.runtime is None:
            return None if _deliberate(STRICT, self.case, self.ours) else f"only we refuse: {self.ours}"
        return None


def _deliberate(differences: list[Difference], case: NodeCase, message: str) -> bool:
    return any(re.fullmatch(d.operators, case.name) and re.search(d.message, message) for d in differences)


def cases(seed: int, count: int) -> list[NodeCase]:
    """Different random nodes that protobuf can hold."""
    found, seen = [], set()
    for case in draw(seed):
        if len(found) == count:
            break
        if str(case) in seen:
            continue
        seen.add(str(case))
        try:
            model(case)
        except (ValueError, TypeError):
            continue
        found.append(case)
    return found


def question(who: str, case: NodeCase) -> Question:
    """The case as a question."""
    _, types, data = protos(case)
    constants = {name: x.SerializeToString() for name, x in data.items()}
    return Question(
        who, model(case).SerializeToString(), {n: t.SerializeToString() for n, t in types.items()}, constants
    )


def ours(case: NodeCase) -> str | None:
    """Why we refuse the node; a defect of a rule is none of the errors and escapes."""
    node, types, data = protos(case)
    try:
        onnx_infer.infer_node_outputs(case.schema, node, types, data)
    except OnnxInferError as error:
        text = str(error)
        assert not re.search(r": (\w+Error): ", text), f"a defect: {case}: {text}"
        return text
    return None


@cache
def verdicts(seed: int, count: int) -> list[Verdict]:
    """The verdicts on random nodes."""
    drawn = cases(seed, count)
    theirs = answers([question("onnx", case) for case in drawn])
    out = [Verdict(case, said, ours(case)) for case, said in zip(drawn, theirs, strict=True)]
    alone = [i for i, v in enumerate(out) if v.onnx is None and v.ours is not None]
    ran = answers([question("onnxruntime", out[i].case) for i in alone])
    for i, said in zip(alone, ran, strict=True):
        out[i] = out[i]._replace(runtime=said)
    return out


def test_refusals_agree() -> None:
    found = verdicts(1, 400)
    both = Counter((v.onnx is None, v.ours is None) for v in found)
    assert both[True, True] > 90, "too few nodes that both accept"
    assert both[False, False] > 90, "too few nodes that both refuse"
    assert not [f"{v.case}\n  {v.problem}" for v in found if v.problem]


def test_every_refusal_names_operator_and_operands() -> None:
    for verdict in verdicts(1, 400):
        if verdict.ours is not None:
            case = verdict.case
            assert f"{case.name} (opset {case.version})" in verdict.ours
            given = [v for v in case.inputs if v is not None]
            assert not given or "inputs: " in verdict.ours


def main() -> None:
    """Print the problems of a long run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=5000)
    given = parser.parse_args()
    found = verdicts(given.seed, given.count)
    for verdict in found:
        if verdict.problem:
            print(f"{verdict.case}\n  {verdict.problem}")
    print(f"{sum(v.problem is not None for v in found)} problems in {len(found)} nodes")


if __name__ == "__main__":
    main()
