"""The ranges of sizes that torch writes into a file: read where there is no contract. docs/contract.md."""

from __future__ import annotations

import pytest

import onnx_infer
from onnx_infer.contract import NoContractError, check, read
from onnx_infer.protobuf.specialize import specialize

from .test_contract import model, told

RANGES = "pkg.torch.export.ExportedProgram.range_constraints"
SIGNATURE = "pkg.torch.export.ExportedProgram.graph_signature"
INPUTS = 'g (float[batch, 3, H] x, float[batch, "4*words"] y) => (z, t) { z = Relu (x)  t = Relu (y) }'


@pytest.mark.parametrize(
    ("ranges", "bounds"),
    [
        ("{s77: VR[2, 64], s53: VR[3, int_oo], 4*s83: VR[8, 400], s83: VR[2, 100]}",
         {"batch": (1, 64), "H": (3, None), "words": (1, 100)}),
        ("{u0: VR[0, 9], s77: VR[0, int_oo], s53: VR[0, int_oo], s2: VR[0, int_oo]}", None),
        ("{batch: VR[2, 64], H: VR[0, 512]}", {"batch": (1, 64), "H": (1, 512)}),
    ],
    ids=["by place", "open", "by name"],
)  # fmt: skip
def test_ranges_of_torch_are_read_from_the_file_alone(ranges: str, bounds: dict[str, object] | None) -> None:
    found = model(INPUTS, ranges, RANGES)
    result = onnx_infer.infer(found)
    assert not result.diagnostics
    if bounds is None:
        with pytest.raises(NoContractError):
            read(found)
        return
    assert read(found).bounds == bounds
    assert {name: result.symbols[name].bounds() for name in bounds} == bounds
    onnx_infer.infer(found).apply(found, contract=True)
    assert read(found).bounds == bounds
    assert not check(found, {"x": (65, 3, 1), "y": (65, 4)}).ok


@pytest.mark.parametrize(
    ("ranges", "signature"),
    [
        ("{s77: VR[2, 64], s53: VR[3, int_oo]}", ""),
        ("{s77: VR[2, 64], s53: VR[3, 8], s2: VR[0, 9], s3: VR[0, 9]}", ""),
        ("{s77: VR[2, 64], s53: VR[3, 8], s2: VR[0, 9]}", "y: USER_INPUT\nx: USER_INPUT\nz: USER_INPUT"),
        ("{H: VR[2, 64], s53: VR[3, 8], s2: VR[0, 9]}", ""),
    ],
    ids=["too few", "too many", "other inputs", "a name at another place"],
)
def test_ranges_that_cannot_be_placed_are_told(ranges: str, signature: str) -> None:
    found = model(INPUTS, ranges, RANGES)
    found.graph.metadata_props.add(key=SIGNATURE, value=signature)
    (message,) = [d.message for d in onnx_infer.infer(found).diagnostics]
    assert message.startswith(f"metadata {RANGES}: which sizes of the inputs these are cannot be determined: ")
    assert "s53 in 3.." in message


@pytest.mark.parametrize(
    "ranges",
    ["{s0 VR]", "]" * 10_000, "{: VR[3, 4]}", "{s0: VR[--5, 3]}", "{s0: VR[9, 3]}", "{s0: VR[-5, -3]}",
     "{s0: VR[" + "9" * 5000 + ", 3]}", "{s0//(s1 - s1): VR[3, 4], s1: VR[3, 4], 3: VR[0, 1]}"],
)  # fmt: skip
def test_damaged_ranges_are_no_error(ranges: str) -> None:
    result = onnx_infer.infer(model(INPUTS, ranges, RANGES))
    assert {d.severity for d in result.diagnostics} <= {"warning"}
    assert str(result.types["z"]) == "f32[batch, 3, H]"


def test_a_contract_stands_for_the_ranges_of_torch() -> None:
    found = model(INPUTS, "{s77: VR[2, 64], s53: VR[0, int_oo], s2: VR[0, int_oo]}", RANGES)
    bound = specialize(found, {"batch": "2*b"})
    assert [(g.left, g.right) for g in read(bound).guards] == [("2*b", 1), ("2*b", 64)]
    assert not told(bound)
