"""The written cases about rows, constraints and index maps, answered by `solve_case`."""

from __future__ import annotations

import json
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path

import pytest

from symdim import Scope, SymdimError, parse
from symdim.algebra.expr import Expr
from symdim.rows import row_name
from tests.symdim.row_cases import Case
from tests.symdim.text_cases import solve_case

FILES = [Path(__file__).with_name(name) for name in ("row_cases.json", "store_cases.json")]
CASES = [case for file in FILES for case in json.loads(file.read_text())["cases"]]
KINDS = ("batch", "input", "output")


class Matching:
    """Compares expected shapes with those found; names that no given shape has stand for any name, one for one."""

    def __init__(self, given: set[str]) -> None:
        self.given = given
        self.sizes: dict[str, str] = {}
        self.rows: dict[str, str] = {}
        self.expressions: list[tuple[str, str | int]] = []

    def row(self, expected: list, found: list) -> bool:
        places = [i for i, item in enumerate(expected) if row_name(item) is not None]
        others = [i for i, item in enumerate(found) if row_name(item) is not None]
        if len(expected) != len(found) or places != others:
            return False
        return all(self.item(a, b) for a, b in zip(expected, found, strict=True))

    def item(self, expected: int | str, found: int | str) -> bool:
        if isinstance(expected, int):
            return expected == found
        if expected == "...":
            return True
        if row_name(expected) is not None:
            return self.bijective(self.rows, expected, found)
        if expected == "?":
            return isinstance(found, str)
        if expected.isidentifier() and expected not in self.given:
            return isinstance(found, str) and self.bijective(self.sizes, expected, found)
        self.expressions.append((expected, found))
        return True

    @staticmethod
    def bijective(names: dict[str, str], expected: str, found: str) -> bool:
        return names.setdefault(expected, found) == found and list(names.values()).count(found) == 1

    def expressions_agree(self) -> bool:
        scope = Scope()
        for expected, found in self.expressions:
            wanted = parse(expected, scope=scope)
            if isinstance(wanted, Expr):
                wanted = wanted.substitute({name: parse(text, scope=scope) for name, text in self.sizes.items()})
            if wanted is not (parse(found, scope=scope) if isinstance(found, str) else found) and wanted != found:
                return False
        return True

    def shape(self, expected: list | dict, found: list | dict) -> bool:
        if isinstance(expected, dict):
            kinds = [k for k in KINDS if k in expected] if expected.get("partial") else KINDS
        else:
            kinds, expected = KINDS, {"output": expected}
        found = found if isinstance(found, dict) else {"output": found}
        return all(self.row(expected.get(kind, []), found.get(kind, [])) for kind in kinds)


def given_names(case: dict) -> set[str]:
    found: set[str] = set()

    def walk(data: object) -> None:
        if isinstance(data, str):
            found.add(data)
        elif isinstance(data, dict):
            for item in data.values():
                walk(item)
        elif isinstance(data, list):
            for item in data:
                walk(item)

    walk(list(case.get("shapes", {}).values()))
    return found


def agrees(case: dict, answer: dict) -> bool:
    """Whether an answer is the expected one."""
    expect = case["expect"]
    if "error" in expect or "error" in answer:
        return answer.get("error") == expect.get("error")
    if case["group"] == "projection":
        return same_plan(expect, answer)
    matching = Matching(given_names(case))
    for name, shape in expect.get("shapes", {}).items():
        if not matching.shape(shape, answer["shapes"][name]):
            return False
    for name, row in expect.get("rows", {}).items():
        if not matching.row(row, answer["rows"][name]):
            return False
    if not matching.expressions_agree():
        return False
    plain = ("holds", "ok", "injective", "may_be_empty", "parsed")
    return (
        all(answer["vars"][name] == value for name, value in expect.get("vars", {}).items())
        and all(name in answer["open"] for name in expect.get("open", ()))
        and all(answer["one_of"].get(name) == value for name, value in expect.get("one_of", {}).items())
        and all(answer["labels"].get(name) == label for name, label in expect.get("labels", {}).items())
        and all(answer[key] == expect[key] for key in plain if key in expect)
    )


def same_plan(expect: dict, answer: dict) -> bool:
    """Whether two plans differ only in names of iterators, the order of components and the order of terms."""
    sizes = sorted([size for _, size in component] for component in expect["product"])
    if sizes != sorted([size for _, size in component] for component in answer["product"]):
        return False
    for order in permutations(answer["product"]):
        names: dict[str, str] = {}
        for component, other in zip(expect["product"], order, strict=True):
            if [size for _, size in component] != [size for _, size in other]:
                break
            names.update({found: name for (name, _), (found, _) in zip(component, other, strict=True)})
        else:
            renamed = {key: _renamed(answer.get(key), names) for key in ("out", "args")}
            if renamed == {key: _renamed(expect[key], {}) for key in ("out", "args")}:
                return all(
                    answer.get(key) == expect[key] for key in ("injective", "surjective", "margin") if key in expect
                )
    return False


def _renamed(data: object, names: dict[str, str]) -> object:
    if isinstance(data, str):
        return names.get(data, data)
    if isinstance(data, list):
        return [_renamed(item, names) for item in data]
    if isinstance(data, dict) and "terms" in data:
        terms = sorted([k, names.get(name, name)] for k, name in data["terms"])
        return {"terms": terms, "offset": data.get("offset", 0)}
    if isinstance(data, dict):
        return {key: _renamed(item, names) for key, item in data.items()}
    return data


def _known(case: dict) -> bool:
    return case["group"] != "onnx" or find_spec("onnx_infer.constraints") is not None


@pytest.mark.parametrize("case", [case for case in CASES if _known(case)], ids=lambda case: case["id"])
def test_case(case):
    answer = solve_case(case)
    assert agrees(case, answer), {key: answer.get(key) for key in (*case["expect"], "error")}


@pytest.mark.parametrize("case", [case for case in CASES if _known(case)], ids=lambda case: case["id"])
def test_expectations_are_not_read(case):
    """The answer is the same without what is expected, but for `when`."""
    blind = {**case, "expect": {key: case["expect"][key] for key in ("when",) if key in case["expect"]}}
    assert solve_case(blind) == solve_case(case)


@pytest.mark.parametrize("group", ["einsum", "projection"])
def test_4_27_block_with_sizes_from_facts(group):
    block = {"op": "block", "spec": "a^b => b^a", "args": ["A"], "out": "OUT"}
    case = {"group": group, "shapes": {"A": [5], "OUT": None}, "ops": [block], "facts": [{"dim_eq": ["a", 2]}]}
    answer = solve_case(case)
    if group == "einsum":
        assert answer["vars"] == {"a": 2, "b": 3}
    else:
        assert answer["product"] == [[["b", 3], ["a", 2]]]
        assert solve_case({**case, "facts": [{"dim_eq": ["a", 6]}]}) == {"error": "concat_exceeds"}


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ({"shapes": {"A": [5]}, "ops": [{"op": "nothing", "args": ["A"], "out": "A"}]}, "no operation 'nothing'"),
        ({"shapes": {"A": [5]}, "facts": [{"nothing": 3}]}, "no fact 'nothing'"),
        ({"shapes": {"A": [{"over": 5, "kernel": 3}]}}, "has a kernel but no padding"),
    ],
)
def test_cases_that_are_none(case, error):
    with pytest.raises(SymdimError, match=error):
        Case({"ops": [], **case}).state()
