"""Reasoning: four answers, origins, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from symdim import Contradiction, Reasoning, Relation, Scope, Var, symbols
from symdim.errors import DivisionByZero, ParseError
from tests.nightly import is_nightly
from tests.symdim.fuzz_reasoning import Sequence

if TYPE_CHECKING:
    from collections.abc import Callable

B, H, K, N, S, T = symbols("B H K N S T")
CHUNKS, SEQUENCES = (10, 40) if is_nightly else (1, 30)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_sequences_answer_rightly_and_go_back_exactly(chunk: int) -> None:
    counts: dict[str, int] = {}
    for number in range(SEQUENCES):
        sequence = Sequence(chunk * SEQUENCES + number).run()
        assert sequence.faults == [], f"seed {chunk * SEQUENCES + number}"
        counts = {kind: counts.get(kind, 0) + more for kind, more in sequence.counts.items()}
    assert min(counts[kind] for kind in ("assumed", "contradiction", "true", "false", "rollback")) >= 5


def test_the_three_answers_of_a_question() -> None:
    reasoning = Reasoning(["H % 8 == 0", "T == N + S"])
    assert reasoning.prove("T - N == S") is True
    assert reasoning.prove(Relation("divides", 4, H + 12)) is True
    assert reasoning.prove("H % 16 == 0") is False
    assert reasoning.prove("1 <= S < T") is True
    assert reasoning.prove("1 <= S < N") is False
    assert reasoning.explain("1 <= S < N").counterexample is not None
    assert Reasoning(["B*B*B + K*K*K == N*N*N"]).prove("B == K + N*N") is None


def test_an_assumption_that_contradicts_the_others_changes_nothing() -> None:
    reasoning = Reasoning()
    reasoning.assume("N >= 5", origin="input ids")
    reasoning.assume("N <= T", origin="Slice_2")
    reasoning.assume("H != 3", origin="the user")
    before, stated = reasoning.checkpoint(), repr(reasoning)
    for relation, origins in [("T == 3", {"input ids", "Slice_2"}), ("H == 3", {"the user"}), ("2*K == 7", set())]:
        with pytest.raises(Contradiction) as caught:
            reasoning.assume(relation, origin="Concat_4")
        assert {fact.origin.text for fact in caught.value.chain} == {*origins, "Concat_4"}
        assert all(origin in str(caught.value) for origin in origins)
        assert repr(reasoning) == stated
        assert reasoning.checkpoint() is before
    assert reasoning.prove("T >= 5") is True


def test_a_contradiction_within_one_chain() -> None:
    reasoning = Reasoning()
    with pytest.raises(TypeError, match="assumptions"):
        Reasoning("N < S")
    with pytest.raises(Contradiction):
        reasoning.assume("N < S < N")
    assert len(reasoning) == 0


def test_unified_sizes_become_one() -> None:
    reasoning = Reasoning()
    assert reasoning.unify(N, "2*K", origin="Reshape_1") is 2 * K
    assert reasoning.simplify(N // 2 + 1) is K + 1
    assert reasoning.unify("K", 4) == 4
    assert reasoning.simplify("N") == 8
    assert reasoning.prove("N == 8") is True
    assert set(reasoning.explain("N == 8").facts) == {"N == 2*K (Reshape_1)", "K == 4"}


def test_checkpoints_serve_in_any_order_and_again() -> None:
    reasoning = Reasoning()
    first = reasoning.checkpoint()
    reasoning.unify(N, 4)
    second = reasoning.checkpoint()
    reasoning.rollback(first)
    assert reasoning.prove("N == 4") is False
    reasoning.unify(N, 5)
    assert reasoning.simplify(N) == 5
    reasoning.rollback(second)
    assert reasoning.simplify(N) == 4
    reasoning.rollback(first)
    assert list(reasoning) == []
    assert reasoning.simplify(N) is N
    with pytest.raises(TypeError, match="a checkpoint is what"):
        reasoning.rollback(1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda r: r.assume("N + 1"), ValueError),
        (lambda r: r.assume("N == + * 2"), ParseError),
        (lambda r: r.assume("N // 0 == 2"), ParseError),
        (lambda r: r.assume(Relation("divides", 0, N)), DivisionByZero),
        (lambda r: r.unify(N, 1.5), TypeError),
        (lambda r: r.assume("N <= 3 == 4"), Contradiction),
    ],
)
def test_a_call_that_fails_leaves_everything(call: Callable[[Reasoning], object], error: type[Exception]) -> None:
    reasoning = Reasoning(["N >= 2"])
    before = reasoning.checkpoint()
    with pytest.raises(error):
        call(reasoning)
    assert reasoning.checkpoint() is before


def test_names_are_those_of_the_scope() -> None:
    scope = Scope()
    M = scope.var("M", 4, 9)
    reasoning = Reasoning(scope=scope)
    assert reasoning.prove("M >= 4") is True
    assert reasoning.simplify("max(M, 2)") is M
    assert Reasoning().prove("M >= 4") is False


def test_a_question_costs_the_same_among_many_assumptions() -> None:
    """Contradictions and answers are found, although all assumptions together are beyond the prover's budget."""
    reasoning = Reasoning()
    names = [Var(f"n{i}") for i in range(120)]
    for a, b in zip(names[::2], names[1::2], strict=True):
        reasoning.assume(Relation("at_least", a // 3 * 3, b % 5 + 2))
        reasoning.assume(Relation("unequal", a, b))
    assert reasoning.prove(Relation("at_least", names[0], 2)) is True
    assert reasoning.prove(Relation("equal", names[0], names[1])) is False
    with pytest.raises(Contradiction):
        reasoning.assume(Relation("less", names[80], 2))


def test_a_checkpoint_of_another_reasoning_is_refused() -> None:
    one, other = Reasoning(), Reasoning()
    one.assume("T == P")
    other.assume("A == B")
    with pytest.raises(ValueError, match="belongs to another reasoning"):
        other.rollback(one.checkpoint())
    assert (other.prove("A == B"), other.prove("T == P")) == (True, False)
