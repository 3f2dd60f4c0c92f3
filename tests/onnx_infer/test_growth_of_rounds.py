"""How often inference in both directions, and what is asked of its result, does the same work."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from onnx_infer import infer
from onnx_infer.bidirectional import model_facts
from onnx_infer.results.sources import without_computed
from symdim import Var, maximum
from symdim.algebra.origin import Computed
from symdim.store import Store
from tests.counting import calls_of

from .texts import messages, parsed

if TYPE_CHECKING:
    from onnx import ModelProto


def contradictory(count: int) -> ModelProto:
    """For each input, of unknown rank, a size would have to be 5 and 7."""
    nodes = [f"a{i} = Gemm(x{i}, five) b{i} = Gemm(x{i}, seven)" for i in range(count)]
    inputs = ", ".join(f"x{i}" for i in range(count))
    return parsed(f"g ({inputs}, float[5, 2] five, float[7, 2] seven) => (a0) {{ {' '.join(nodes)} }}")


@pytest.mark.parametrize(("count", "most"), [(3, 2 * (3 + 1)), (20, model_facts._MOST_CONTRADICTIONS + 1)])
def test_constraints_that_contradict_each_other_too_often_are_stated_in_one_round(
    count: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = []
    real = model_facts._ModelStatement

    def counted(*arguments: Any) -> Any:
        stated.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(model_facts, "_ModelStatement", counted)
    result = infer(contradictory(count), bidirectional=True)
    assert any("5 != 7" in text or "7 != 5" in text for text in messages(result))
    assert len(stated) <= most


def test_a_broadcast_that_the_form_states_is_not_stated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = []
    real = Store.bcast

    def counted(self: Store, result: Any, operands: Any, **options: Any) -> None:
        stated.append(operands)
        real(self, result, operands, **options)

    monkeypatch.setattr(Store, "bcast", counted)
    text = """g (float[N] x, float[N] w) => (y) {
        a = NonZero(x) b = NonZero(w) c = Cast<to=1>(a) d = Cast<to=1>(b) y = Add(c, d) }"""
    result = infer(parsed(text), bidirectional=True)
    assert messages(result) == []
    assert {row.rank for operands in stated for row in operands} == {2}  # a statement is of single sizes


def chain(count: int) -> Var:
    """A size over a size that is computed over a size, and so on."""
    size = Var.fresh("start", 1)
    for i in range(count):
        size = Var.fresh(f"_d{i}", 0, origin=Computed(maximum(size - i, 1), "an end"))
    return size


def test_a_chain_of_computed_sizes_is_written_out_link_by_link() -> None:
    def work(count: int) -> int:
        links = [chain(count)]
        while isinstance(origin := links[-1].origin, Computed):
            links += [v for v in origin.size.variables() if isinstance(v.origin, Computed)] or [Var("end")]
        return calls_of(lambda: [without_computed(link) for link in links])

    assert work(40) < 3 * work(20)
    assert str(without_computed(chain(2))) == "max(start, 2) - 1"


def test_a_chain_of_computed_sizes_has_any_length() -> None:
    assert calls_of(partial(without_computed, chain(3000))) > 0
