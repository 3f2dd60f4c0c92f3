"""The answers of a store are a function of the set of facts: the order of statements does not change them.

SYMDIM_SYSTEMS=20 tries 1,000 systems in all orders and 10,000 against their models (50 and 500 otherwise). That other
names and questions between statements change nothing either is no promise; it holds for the systems that are tried.
"""

from __future__ import annotations

import json
import os
from itertools import permutations

import pytest

from symdim import Row, Scope, Store
from symdim.rows import RowVar
from symdim.store import Contradiction
from tests.symdim.row_cases import Case, solve
from tests.symdim.row_models import models
from tests.symdim.store_systems import NAMES, systems
from tests.symdim.test_store_models import SMALL_ROWS, check_against_models

TIMES = int(os.environ.get("SYMDIM_SYSTEMS", "1"))


def known(answer):
    """What an answer says in numbers; names of sizes of the store's own are left out."""
    if "error" in answer:
        return "error"
    rows = {name: [n if isinstance(n, int) else "?" for n in axes] for name, axes in answer["rows"].items()}
    return {name: n for name, n in answer["vars"].items() if isinstance(n, int)}, rows, answer["one_of"]


def test_every_order_has_one_answer():
    for facts in systems("orders", 50 * TIMES):
        answers = {json.dumps(solve({"facts": list(order)}), sort_keys=True) for order in permutations(facts)}
        assert len(answers) == 1, facts


def test_random_systems_in_all_models():
    for facts in systems("models", 500 * TIMES, most=4):
        has_rows = any(kind in ("row_eq", "row_le", "elements", "exact") for fact in facts for kind in fact)
        found = models(facts, range(1, 5), SMALL_ROWS) if has_rows else models(facts, range(1, 8))
        check_against_models(facts, found)


class Statements(Case):
    """Written facts stated to a store in the given order; with a question after each one."""

    def __init__(self, facts, asking):
        super().__init__({})
        for name in NAMES:
            self.var(name)
        for fact in facts:
            ((kind, content),) = fact.items()
            self._fact(kind, content, "")
            if asking:
                self.store.propagate()


WINDOWS = [
    {"window": {"in": "a", "out": "a", "kernel": "b", "stride": 1}},
    {"window": {"in": "a", "out": "b", "kernel": "c", "stride": 2}},
]
DOUBLE = [
    {"dim_eq": ["b", {"stride": 2, "over": "c"}]},
    {"window": {"in": "b", "out": 2, "kernel": 4, "stride": 3, "dilation": 2, "pads": [0, 1]}},
]
CEILING = [
    {"window": {"in": "c", "out": 1, "kernel": 4, "stride": 3, "auto_pad": "VALID"}},
    {"window": {"in": "c", "out": "a", "kernel": 3, "stride": 2, "auto_pad": "SAME_UPPER"}},
    {"at_least": ["c", 5]},
]


@pytest.mark.parametrize(
    "facts, expected",
    [
        (WINDOWS, {"a": "a", "b": 1, "c": "c"}),  # b would be an expression of a and c
        (DOUBLE, {"b": 10, "c": 5}),  # the interval of b is that of 2*c
        (CEILING, {"a": 3, "c": "c"}),  # 5 <= c <= 6 makes (c + 1)//2 a number
    ],
)
def test_what_one_order_finds_every_order_finds(facts, expected):
    for order in permutations(facts):
        answer = solve({"facts": list(order)})["entailed"]
        assert {name: answer["vars"][name] for name in expected} == expected
        again = Statements(order, asking=True).answer()
        assert {name: again["vars"][name] for name in expected} == expected


def test_a_row_variable_has_no_gap():
    """Axes that an operand lacks are missing to the left of its variable, whatever the equalities look like."""
    r, q, b = RowVar("r"), RowVar("q"), Scope().var("b", 1)
    for order in permutations(range(3)):
        store = Store(least=1)
        statements = [
            lambda store=store: store.eq_row(Row((), r), Row.of([2])),
            lambda store=store: store.eq_row(Row((), r), Row((b,), q)),
            lambda store=store: store.refine_row(Row.of([3, 2]), Row((), r)),
        ]
        for i in order:
            statements[i]()
        assert str(store.row(Row((), r))) == "[2]"
        assert store.value(b) == 2


def test_the_axes_before_a_variable_keep_their_place():
    """The gap of [a, ..r..] is between a and the axes of r, before r is known and after."""
    store, r, a = Store(), RowVar("r"), Scope().var("a", 2)
    store.refine_row(Row.of([4, 9, 5]), Row((a,), r))
    assert store.value(a) == 4
    store.eq_row(Row((), r), Row.of([5]))
    assert store.row(Row((a,), r)).dims == (4, 5)
    store.eq_row(Row((), r), Row.of([9]))
    with pytest.raises(Contradiction):
        store.propagate()


def test_a_joined_row_that_is_too_short_is_told():
    """Whichever of the facts of a broadcast is looked at first."""
    store, r = Store(), RowVar("r")
    store.bcast(Row(), [Row((), r, (3,))])
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert caught.value.kind == "rank_mismatch"


def test_limits_of_a_size_that_equals_an_expression():
    """c is 1 or 4, and 1 or 3: so it is 1, also where c was solved for before."""
    facts = [
        {"dim_le": {"result": 4, "operand": "c"}},
        {"dim_le": {"result": 3, "operand": "c"}},
        {"dim_eq": ["a", {"stride": 2, "over": "b", "kernel": "c", "dilation": 1, "padding": False}]},
    ]
    for order in permutations(facts):
        assert Statements(order, asking=True).answer()["vars"]["c"] == 1


def test_contradictions_have_one_kind_in_every_order():
    """Of several contradictions the same one is told."""
    facts = [{"dim_eq": [2, 3]}, {"row_eq": [[1], [1, 2]]}, {"elements": {"rows": [[2]], "equals": 3}}]
    kinds = {solve({"facts": list(order)})["entailed"]["error"] for order in permutations(facts)}
    assert len(kinds) == 1
