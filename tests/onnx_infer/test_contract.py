"""The contract in the file: written, read, judged, and kept true by what changes a file. docs/contract.md."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_infer
from onnx_infer import contract
from onnx_infer.contract import check, read
from onnx_infer.integrations import onnx_ir
from onnx_infer.model.contract import Condition, Contract
from onnx_infer.protobuf.specialize import specialize, with_input_shapes

from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 20]>'
PRODUCT = "g (float[N, H] x, float[M, 4] w) => (y, f) { y = MatMul (x, w)  f = NonZero (y) }"
KEY = "symdim.contract"


def model(text: str = PRODUCT, entry: object = None, key: str = KEY) -> onnx.ModelProto:
    """A model with an entry in the metadata of its graph."""
    found = parsed(text, HEAD)
    if entry is not None:
        found.graph.metadata_props.add(key=key, value=entry if isinstance(entry, str) else json.dumps(entry))
    return found


def promised() -> onnx.ModelProto:
    """The product with a contract."""
    found = model()
    return onnx_infer.infer(found, bounds={"N": (2, 64)}, assume=["N % 2 == 0"]).apply(found, contract=True)


def entry_of(found: onnx.ModelProto) -> str:
    (text,) = [entry.value for entry in found.graph.metadata_props if entry.key == KEY]
    return text


def told(found: onnx.ModelProto, **options: Any) -> list[str]:
    result = onnx_infer.infer(found, **options)
    assert {d.severity for d in result.diagnostics} <= {"warning"}
    return [d.message.removeprefix(f"metadata {KEY}: ") for d in result.diagnostics]


# -- written and read -------------------------------------------------------------------------------------------------


def test_a_contract_is_read_as_it_was_written() -> None:
    found = promised()
    result = onnx_infer.infer(found)
    assert read(found) == result.contract
    assert result.symbols["N"].bounds() == (2, 64)
    assert [(str(g), g.kind) for g in result.guards] == [("H == M", "required"), ("N % 2 == 0", "declared")]
    assert not result.diagnostics
    assert read(found).upper_bounds == {"_d0": "4*N"}
    again = onnx.ModelProto.FromString(found.SerializeToString())
    assert onnx_infer.infer(again).apply(again) == found


def test_both_front_ends_write_the_same_bytes() -> None:
    first, second = model(), ir.from_proto(model())
    onnx_infer.infer(first, bounds={"N": (1, 9)}).apply(first, contract=True)
    onnx_ir.infer(second, bounds={"N": (1, 9)}).apply(second, contract=True)
    assert second.graph.metadata_props[KEY] == entry_of(first)
    result = onnx_ir.infer(second)
    assert result.symbols["N"].bounds() == (1, 9)
    result.apply(second)
    assert not result.modified


def test_nothing_is_written_unless_it_is_asked_for() -> None:
    found = model()
    onnx_infer.infer(found, bounds={"N": (1, 9)}).apply(found)
    assert not found.graph.metadata_props
    onnx_infer.infer(found).apply(found, contract=True)
    assert [entry.key for entry in found.graph.metadata_props] == [KEY]


@pytest.mark.parametrize("seed", range(20))
def test_any_contract_survives_its_text(seed: int) -> None:
    rng = Random(seed)
    names = ("N", "seq len", "a`b", "x.y", "max", "é", "\udcff", "k[0]")

    def size() -> int | str:
        return rng.choice((3, -1, 10**30, "N", "`seq len` + 1", "`k[0]`"))

    bounds = {name: (low := rng.randrange(9), rng.choice((None, low + 2))) for name in rng.sample(names, 3)}
    kinds, relations = ("required", "assumed", "declared"), ("equal", "divides", "broadcast_to", "less")
    guards = [
        Condition(
            rng.choice(relations), size(), size(), rng.choice(("", "a law")), rng.choice(kinds),  # type: ignore[arg-type]
            (("MatMul", "y"),) * rng.randrange(3), rng.random() < 0.5, ((size(), size()),) * rng.randrange(2),
        )
        for _ in range(rng.randrange(4))
    ]  # fmt: skip
    stated = Contract(bounds, tuple(guards), {"_d0": size()})
    assert stated.text().isascii()
    assert read(model(entry=stated.text())) == stated


def test_what_the_caller_has_given_is_part_of_it() -> None:
    text = "g (float[N, H] x, int64[2] shape) => (y) { y = Reshape (x, shape) }"
    found = model(text)
    result = onnx_infer.infer(found, values={"shape": [-1, 4]}, bind={"H": "8*h"}, assume=["H <= 64"])
    result.apply(found, contract=True)
    guards = [(g.left, g.relation, g.right) for g in read(found).guards]
    assert guards == [("`shape[0]`", "equal", -1), ("`shape[1]`", "equal", 4)]
    assert read(found).bounds == {"h": (1, 8)}
    assert not told(found)
    shapes = {"x": np.zeros((2, 16), np.float32), "shape": np.array([-1, 4])}
    assert check(found, shapes).ok
    assert [b.inputs for b in check(found, {**shapes, "shape": np.array([-1, 2])}).broken] == [("shape",)]
    assert check(found, {**shapes, "shape": (2,)}).unchecked == ["shape[0] == -1", "shape[1] == 4"]


@pytest.mark.parametrize(
    ("declared", "guards"),
    [
        ("4", [("M + N", "equal", 4, "assumed")]),  # the file keeps the number
        ("N", []),  # another size is inferred, and replaces the name
        ("'2*N + 1'", []),
        ("?", []),
    ],
)
def test_what_declared_types_say_is_part_of_it_if_they_stay_in_the_file(declared: str, guards: list[object]) -> None:
    text = f"g (float[N] x, float[M] y) => (float[{declared}] z) {{ z = Concat <axis = 0> (x, y) }}"
    found = model(text.replace("'", '"'))
    onnx_infer.infer(found).apply(found, contract=True)
    assert [(g.left, g.relation, g.right, g.kind) for g in read(found).guards] == guards
    onnx_infer.infer(found).apply(found, contract=True)
    assert [(g.left, g.relation, g.right, g.kind) for g in read(found).guards] == guards
    verdict = check(found, {"x": (2,), "y": (7,)})
    assert (verdict.ok, verdict.runs) == (not guards, True)


# -- against what inference finds -------------------------------------------------------------------------------------


def guard(relation: str, left: int | str, right: int | str, **fields: object) -> dict[str, object]:
    return {"relation": relation, "left": left, "right": right, **fields}


def stating(*guards: dict[str, object], **parts: object) -> onnx.ModelProto:
    return model(entry={"version": 1, "guards": list(guards), **parts})


def test_a_guard_that_follows_is_silent() -> None:
    found = stating(guard("equal", "M", "H"), guard("at_least", "2*H", "M"), guard("at_least", "N", 1))
    assert [str(g) for g in onnx_infer.infer(found).guards] == ["H == M"]
    assert not told(found)


def test_a_guard_that_inference_does_not_find_is_declared_and_holds_if_it_is_assumed() -> None:
    found = stating(guard("divides", 8, "N", law="heads", nodes=[["Acme", "node"]]))
    (_, declared) = onnx_infer.infer(found).guards
    assert (str(declared), declared.kind, str(declared.origins[0])) == ("N % 8 == 0", "declared", "Acme 'node'")
    assumed = onnx_infer.infer(found, assume_declared=True)
    assert [str(g) for g in assumed.guards] == ["H == M"]
    assert assumed.contract.guards[1] == read(found).guards[0]


def test_a_contradiction_names_both() -> None:
    (message,) = told(stating(guard("greater", "H", "M", law="a law")))
    assert message == "the guard H > M (a law) contradicts H == M of MatMul 'y'"
    (message,) = told(stating(guard("at_least", "N", 9), bounds={"N": [1, 4]}))
    assert message == "the guard N >= 9 contradicts 1 <= N <= 4"
    assert [str(g) for g in onnx_infer.infer(stating(guard("greater", "H", "M"))).guards] == ["H == M"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{", "no JSON: "),
        ("[1]", "no JSON object: [1]"),
        ("[" * 100_000, "no JSON: "),
        ({"version": 2, "bounds": {"N": [2, 4]}}, "version 2 is not read here, only 1"),
        ({"bounds": {"N": [2, 4]}}, "version None is not read here, only 1"),
        ({"version": 1, "bounds": {"N": [4, 2]}}, "[4, 2] are not bounds of 'N'"),
        ({"version": 1, "bounds": 3}, "3 is not an object of bounds"),
        ({"version": 1, "more": {}}, "'more' is not part of version 1"),
        ({"version": 1, "guards": {}}, "{} are not guards"),
        ({"version": 1, "guards": [guard("near", "N", 2)]}, "is not a guard"),
        ({"version": 1, "guards": [guard("equal", "N", 2, other=1)]}, "is not a guard"),
        ({"version": 1, "guards": [guard("equal", "N +", 2)]}, "the guard equal of N + and 2 is not used: "),
        ({"version": 1, "guards": [guard("equal", "Q", 2)]}, "the guard Q == 2 is not used: "),
        ({"version": 1, "bounds": {"Q": [1, 2]}}, "bounds of 'Q', which the model does not have"),
        ({"version": 1, "upper_bounds": {"_d0": None}}, "None is not an upper bound of '_d0'"),
    ],
)
def test_what_cannot_be_read_is_a_warning_and_nothing_else_is_lost(entry: object, message: str) -> None:
    (found,) = told(model(entry=entry))
    assert message in found
    assert [str(g) for g in onnx_infer.infer(model(entry=entry)).guards] == ["H == M"]
    onnx_infer.infer(model(entry=entry), assume_declared=True)


@pytest.mark.parametrize(
    "stated",
    [
        guard("divides", 0, "N"), guard("equal", "N//(M - M)", 1), guard("divides", "M - N", "H"),
        guard("at_least", 1, 2), guard("equal", "2**100000000", 2), guard("equal", "(" * 10_000, 2),
        guard("equal", 10**4000, "N"),
        guard("equal", "`a and b`", 2), guard("equal", "`x[99999999999999999999]`", 2), guard("equal", "`x[1]`", 2),
        guard("broadcast", "N//H", "M"), guard("less", "_d0", "N"), guard("at_most", "N", -3),
        guard("equal", "H", "M", filled=[["N//0"]], kind="assumed"), guard("at_least", "acme.f(N)", 2),
        guard("equal", "N//acme.f(N)", 2),
    ],
    ids=str,
)  # fmt: skip
def test_no_guard_is_an_error(stated: dict[str, object]) -> None:
    found = stating(stated)
    for options in ({}, {"assume_declared": True}, {"bind": {"N": 3}}, {"bidirectional": True}):
        result = onnx_infer.infer(found, **options)  # type: ignore[arg-type]
        assert [str(g) for g in result.guards][:1] == ["H == M"] or options
        copy = onnx.ModelProto()
        copy.CopyFrom(found)
        onnx_infer.infer(result.apply(copy))
    verdict = check(found, {"x": (3, 4), "w": (6, 4)})
    assert len(verdict.broken) + len(verdict.unchecked) == 1
    specialize(found, {"N": 2})
    onnx_infer.rename_symbols(found, {"N": "n"})


def test_many_faults_are_counted() -> None:
    found = told(model(entry={"version": 1, "bounds": {f"a{i}": 0 for i in range(2000)}}))
    assert (len(found), found[-1]) == (6, "1995 other faults")


def test_an_entry_of_another_version_is_left_alone() -> None:
    found = model(entry={"version": 2})
    onnx_infer.infer(found).apply(found)
    assert entry_of(found) == '{"version": 2}'


# -- kept true --------------------------------------------------------------------------------------------------------


def test_sizes_and_names_of_symbols_are_put_into_it() -> None:
    found = promised()
    bound = read(specialize(found, {"N": 4}))
    assert (bound.bounds, [g.left for g in bound.guards], bound.upper_bounds) == ({}, ["H"], {"_d0": 16})
    assert not told(specialize(found, {"N": 4}))
    refusing = specialize(found, {"N": 1})
    assert [b.text for b in check(refusing, {"x": (1, 3), "w": (3, 4)}).broken] == [
        "bounds of 'N': 1 >= 2 is violated (1 < 2) (declared)",
        "assumed by the caller: 1 == 0 is violated (1 != 0) (declared)",
    ]
    assert len(told(refusing)) == 2
    written = read(specialize(found, {"N": "2*n"}))
    assert [(g.left, g.relation, g.right) for g in written.guards if g.kind == "declared"] == [
        ("2*n", "at_least", 2), ("2*n", "at_most", 64),
    ]  # fmt: skip
    for renamed in (onnx_infer.rename_symbols(promised(), {"N": "batch", "M": "rows"}),
                    onnx_infer.rename_symbols(ir.from_proto(promised()), {"N": "batch", "M": "rows"})):  # fmt: skip
        assert read(renamed).bounds == {"batch": (2, 64)}
        assert [(g.left, g.right) for g in read(renamed).guards] == [("H", "rows"), ("batch % 2", 0)]


def test_a_result_with_bound_symbols_renews_it() -> None:
    found = promised()
    onnx_infer.infer(found, bind={"N": 6}).apply(found)
    assert (read(found).bounds, read(found).upper_bounds) == ({}, {"_d0": 24})
    assert check(found, {"x": (6, 3), "w": (3, 4)}).ok


def test_a_folded_model_keeps_it() -> None:
    found = promised()
    assert entry_of(onnx_infer.fold(found)) == entry_of(found)
    assert read(onnx_infer.fold(found, bind={"N": 4})).bounds == {}


def test_what_rests_on_other_numbers_goes() -> None:
    text = "g (float[1, S] x, float[T, 4] w) => (y) { y = MatMul (x, w) }"
    guards = [guard("equal", "S", "T"), guard("at_most", "S", 4), guard("divides", 2, "S", kind="declared")]
    found = model(text, {"version": 1, "bounds": {"S": [2, 64]}, "guards": guards})
    freed = read(onnx_infer.make_dynamic(found, {"x": {0: "batch"}}).model)
    assert freed.bounds == {"S": (2, 64)}
    assert [(g.left, g.relation, g.kind) for g in freed.guards] == [
        ("S", "equal", "required"), (2, "divides", "declared"),
    ]  # fmt: skip
    assert [g.kind for g in read(with_input_shapes(found, {"x": [2, None]})).guards] == ["declared"]


def test_the_names_of_the_room() -> None:
    assert {"check", "read", "Contract", "NoContractError", "Verdict"} <= set(contract.__all__)
