"""Random facts against all their models over small sizes and ranks, and answers that may not change."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdim import Scope, parse
from symdim.algebra.expr import Expr
from symdim.store import Contradiction
from tests.symdim.row_cases import Case, solve
from tests.symdim.row_models import models, satisfied
from tests.symdim.test_row_cases import CASES, agrees

NAMES = ["a", "b", "c"]
NAME = st.sampled_from(NAMES)
ATOM = st.one_of(NAME, NAME, st.integers(1, 4))
VALID = st.fixed_dictionaries(
    {
        "stride": st.integers(1, 2),
        "over": NAME,
        "kernel": ATOM,
        "dilation": st.integers(1, 2),
        "padding": st.just(False),
    }
)

ROW_ATOM = st.one_of(st.sampled_from(["a"]), st.integers(1, 3))
FLANK = st.lists(ROW_ATOM, max_size=2)
ROW = st.one_of(
    st.tuples(FLANK, st.sampled_from(["..r..", "..s.."]), FLANK).map(lambda r: [*r[0], r[1], *r[2]]),
    FLANK,
    st.fixed_dictionaries({"lead": FLANK, "trail": FLANK}),
)
ROW_FACT = st.one_of(
    st.tuples(ROW, ROW).map(lambda ab: {"row_eq": list(ab)}),
    st.fixed_dictionaries({"result": ROW, "operand": ROW}).map(lambda le: {"row_le": le}),
    st.tuples(st.lists(ROW, min_size=1, max_size=2), st.one_of(st.just("a"), st.integers(1, 6))).map(
        lambda re: {"elements": {"rows": re[0], "equals": re[1]}}
    ),
    st.tuples(st.lists(ROW, min_size=1, max_size=2), FLANK).map(lambda rd: {"exact": {"rows": rd[0], "dims": rd[1]}}),
    st.tuples(ROW_ATOM, ROW_ATOM).map(lambda ab: {"dim_eq": list(ab)}),
)


def holds_in(answer, model):
    """Whether every claim of an answer is true in a model."""
    scope = Scope()

    def is_value(claim, value):
        dim = parse(claim, scope=scope) if isinstance(claim, str) else claim
        if isinstance(dim, Expr) and not dim.free_symbols() <= set(model):
            return True  # a size of the store's own
        return (dim.evaluate(model) if isinstance(dim, Expr) else dim) == value

    for name, claim in answer["vars"].items():
        if not is_value(claim, model[name]) or model[name] not in answer["one_of"].get(name, [model[name]]):
            return False
    for name, claim in answer["rows"].items():
        axes = model[f"..{name}.."]
        opened = [i for i, item in enumerate(claim) if isinstance(item, str) and item.startswith("..")]
        at = opened[0] if opened else len(claim)
        after = claim[at + 1 :]
        if len(axes) < at + len(after) or (not opened and len(axes) != len(claim)):
            return False
        pairs = [*zip(claim[:at], axes, strict=False), *zip(after, axes[len(axes) - len(after) :], strict=True)]
        if not all(is_value(item, n) for item, n in pairs):
            return False
    return True


def check_against_models(facts, found):
    """Errors have no model, claims hold in all, and what is closed is one."""
    answer, closed = solve({"facts": facts})["entailed"], solve({"facts": facts})["closed"]
    if "error" in answer:
        assert not found, (answer, found[0])
        return
    for model in found:
        assert holds_in(answer, model), (answer, model)
    if "error" not in closed:
        model = {**closed["vars"], **{f"..{name}..": axes for name, axes in closed["rows"].items()}}
        assert all(satisfied(fact, model) for fact in facts), model


SMALL_ROWS = [(), (1,), (2,), (3,), (1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (2, 3), (1, 2, 3), (2, 1, 2)]


JOIN = st.fixed_dictionaries({"result": ROW, "operands": st.lists(ROW, min_size=1, max_size=3)})


@given(st.lists(JOIN, min_size=1, max_size=2), st.lists(ROW_FACT, max_size=1))
def test_broadcasts_in_all_models(joins, facts):
    stated = Case({"facts": facts})
    try:
        for join in joins:
            result, *operands = (stated.row(row).flat() for row in [join["result"], *join["operands"]])
            stated.store.bcast(result, operands)
        stated.state()
        answer = stated.answer()
    except Contradiction as error:
        answer = {"error": error.kind}
    found = models([*facts, *({"join": join} for join in joins)], sizes=range(1, 5), rows=SMALL_ROWS)
    if "error" in answer:
        assert not found, (answer, found[0])
    for model in found:
        assert holds_in(answer, model), (answer, model)


SOLVED = [
    case for case in CASES if case["group"] not in ("parse", "order", "projection", "injective", "discardable", "onnx")
]


@pytest.mark.parametrize("case", SOLVED, ids=lambda case: case["id"])
def test_cases_do_not_depend_on_the_order(case):
    rng = random.Random(case["id"])
    shuffled = {**case, "facts": case.get("facts", [])[:], "ops": case.get("ops", [])[:]}
    rng.shuffle(shuffled["facts"])
    rng.shuffle(shuffled["ops"])
    answers = solve(shuffled)
    when = case["expect"].get("when", "closed" if "error" in case["expect"] else "entailed")
    assert agrees(case, answers[when])


@pytest.mark.parametrize("case", SOLVED, ids=lambda case: case["id"])
def test_cases_with_other_names(case):
    """Renaming every variable renames the answer."""
    text = json.dumps(case)
    for name in sorted({*solve(case)["entailed"].get("vars", ())}, key=len, reverse=True):
        if name.isidentifier() and len(name) == 1 and f'"{name}"' in text:
            text = text.replace(f'"{name}"', f'"{name}_z"')
    renamed = json.loads(text)
    if any("spec" in operation for operation in case.get("ops", ())):
        return  # labels inside a specification keep their names
    when = case["expect"].get("when", "closed" if "error" in case["expect"] else "entailed")
    assert agrees(renamed, solve(renamed)[when])


@pytest.mark.parametrize("case", SOLVED, ids=lambda case: case["id"])
def test_cases_with_a_size_as_a_variable(case):
    """A known size may be a variable that an equality makes known."""
    shapes = {}
    extra = []
    for name, shape in case.get("shapes", {}).items():
        rows = shape if isinstance(shape, dict) else {"output": shape}
        for kind, row in rows.items():
            if isinstance(row, list) and row and isinstance(row[-1], int) and "lead" not in rows:
                extra.append({"dim_eq": [f"z_{name}_{kind}", row[-1]]})
                rows = {**rows, kind: [*row[:-1], f"z_{name}_{kind}"]}
        shapes[name] = rows if isinstance(shape, dict) else rows["output"]
    changed = {**case, "shapes": shapes, "facts": [*case.get("facts", []), *extra]}
    when = case["expect"].get("when", "closed" if "error" in case["expect"] else "entailed")
    assert agrees(case, solve(changed)[when])


@pytest.mark.parametrize("case", SOLVED, ids=lambda case: case["id"])
def test_results_fed_back(case):
    """What was inferred is consistent with what it was inferred from, and with what is closed."""
    answers = solve(case)
    before, closed = answers["entailed"], answers["closed"]
    if "error" in before:
        return
    again = solve({**case, "shapes": before["shapes"]})["entailed"]
    assert "error" not in again
    if "error" not in closed:
        for name, size in before["vars"].items():
            assert not isinstance(size, int) or closed["vars"][name] == size
        for name, row in before["rows"].items():
            if not any(isinstance(n, str) for n in row):
                assert closed["rows"][name] == row


def test_the_copy_of_the_cases_is_whole():
    data = json.loads(Path(__file__).with_name("row_cases.json").read_text())
    assert data["format"] == "symdim-row-cases/1"
    assert len(data["cases"]) == 198
