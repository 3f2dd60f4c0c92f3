from __future__ import annotations

import gc
import pickle
from importlib import import_module
from random import Random
from threading import Barrier, Thread
from weakref import ref

import pytest

from symdim import Expr, Scope, Var, clear_caches, maximum
from symdim.algebra import interning, variable
from symdim.algebra.expr import CACHE_SIZE
from symdim.algebra.interning import live_nodes
from tests.symdim.strategies import build, expressions, value


def test_equal_expressions_are_one_object():
    scope = Scope()
    x, y = scope.var("x"), scope.var("y")
    assert (x + y) * (x - y) is x * x - y * y
    assert hash(x + y) == hash(y + x)
    assert len({x + y, y + x, x + y + 0}) == 1


def test_nodes_die_with_their_last_holder():
    """These nodes, not their number: the nodes of earlier tests may die at any time."""

    def made(i):
        variable = Var(f"die{i}")
        third = variable // 3
        largest = maximum(third, Var(f"dies{i}"))
        return third, largest, largest * variable

    nodes = [made(i) for i in range(500)]
    references = [ref(node) for three in nodes for node in three]
    places = {node._fingerprint for three in nodes for node in three}
    held = [product for _, _, product in nodes]
    assert held[7].evaluate(die7=1, dies7=3) == 3
    del nodes
    clear_caches()
    assert all(reference() is not None for reference in references)
    del held
    assert all(reference() is None for reference in references)
    live_nodes()  # drops the entries of dead nodes
    assert places.isdisjoint(interning.live)


def test_nothing_is_kept_for_ever():
    scope = Scope()
    clear_caches()
    before = live_nodes()
    for i in range(3 * CACHE_SIZE):
        scope.var(f"v{i}") + 1
    assert len(interning.live) <= before + 4 * CACHE_SIZE
    assert len(scope._vars) <= 3 * CACHE_SIZE
    clear_caches()
    assert live_nodes() <= before
    scopes = len(Scope._live)
    for _ in range(100):
        Var.fresh("n")
    assert len(Scope._live) <= scopes + 1


def test_threads_build_one_object():
    names = [f"t{i}" for i in range(60)]
    scope = Scope()
    start = Barrier(4)
    results: list[list[Expr]] = [[] for _ in range(4)]

    def work(mine):
        start.wait()
        for name in names:
            v = scope.var(name)
            mine.append((v + 3) * (v // 2 + maximum(v, 7)))

    for _ in range(10):
        for mine in results:
            mine.clear()
        clear_caches()
        threads = [Thread(target=work, args=(mine,)) for mine in results]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for found in zip(*results, strict=True):
            assert len(set(found)) == 1


@pytest.fixture
def crowded(monkeypatch):
    """Fingerprints with 8 values only, so that most nodes collide."""
    clear_caches()
    gc.collect()
    mixed = interning.mixed
    monkeypatch.setattr(interning, "PRIME", 7)
    for module in (interning, variable):
        monkeypatch.setattr(module, "mixed", lambda x: mixed(x) % 6 + 1)
    for name in ("polynomials", "constructors.arithmetic"):
        monkeypatch.setattr(import_module(f"symdim.algebra.{name}"), "PRIME", 7)
    yield
    clear_caches()
    gc.collect()


@pytest.mark.usefixtures("crowded")
def test_colliding_fingerprints_are_told_apart():
    random, held = Random(3), []
    for made in expressions("signs", 5, 300):
        held.append(made.dim)
        assert build(made.tree, made.variables) == made.dim
        for point in (made.point(random) for _ in range(5)):
            try:
                expected = value(made.tree, point)
            except ZeroDivisionError:
                continue
            assert made.at(point) == expected
    assert interning._crowded


def test_a_name_that_only_caches_hold_is_free():
    held = maximum(Var("held_by_caches", 1, 5), 3)
    del held
    assert Var("held_by_caches", 2, 9).hi == 9


def chain_of(length: int) -> list[Var]:
    """Variables, each of which is at most the former one plus 1."""
    chain = [Var("first")]
    for i in range(length):
        chain.append(Var.fresh(f"v{i}", at_most=chain[-1] + 1))
    return chain


def test_a_pickle_holds_each_bound_of_a_chain_once() -> None:
    """A variable takes some 200 bytes, and a few for each earlier one; not the bounds of these again."""
    assert len(pickle.dumps(chain_of(200))) < 200 * (300 + 200 * 5)


def test_a_pickle_of_a_long_chain_of_bounds_does_not_recurse() -> None:
    last = chain_of(400)[-1]
    assert pickle.loads(pickle.dumps(last)) is last
