"""The registry against every schema that onnx has: what resolves to a rule, and whether the rule's parameters bind."""

from __future__ import annotations

import re
from inspect import Parameter, signature
from types import FunctionType
from typing import TYPE_CHECKING, Any

import onnx.defs
import pytest

from onnx_infer import OpShapeInferenceRegistry, op, registry
from onnx_infer.errors import ArgumentError
from onnx_infer.model.graph import normal_domain
from onnx_infer.operators.arguments import parameters
from onnx_infer.operators.known_schemas import read_schema
from onnx_infer.operators.operator import Operator, bind
from onnx_infer.operators.rule import Rule
from onnx_infer.operators.schema import COLLECTIONS, SCALES, annotation_texts
from tests.onnx_infer.operator_table import OF_SCHEMAS, PATH, schemas, table
from tests.onnx_infer.test_import import loaded_by

if TYPE_CHECKING:
    pass

MISSING: dict[str, set[str]] = {}
"""domain -> operators of onnx without a rule. This list may only shrink."""

SCHEMAS = {(normal_domain(s.domain), s.name, s.since_version): s for s in onnx.defs.get_all_schemas_with_history()}
SPECIAL = {"output_count", "output_dtype", "since_version"}
NAMES = {key: {formal.name for formal in s.inputs} | set(s.attributes) for key, s in SCHEMAS.items()}


def test_every_schema_version_resolves_to_a_rule() -> None:
    without: dict[str, set[str]] = {}
    for domain, name, version in SCHEMAS:
        if registry.get(domain, name, version) is None:
            without.setdefault(domain, set()).add(name)
    assert without == MISSING


def functions(rule: Rule) -> list[FunctionType]:
    """The plain functions of a rule: for shapes, data and element types."""
    return [f for f in (rule.shape, rule.data, rule.dtype) if isinstance(f, FunctionType)]


def test_every_rule_binds_to_every_version_that_it_serves() -> None:
    operators = {key: o for key in SCHEMAS if (o := bind(*key)) is not None and o.rule.style != "context"}
    served: dict[FunctionType, set[str]] = {}
    for key, operator in operators.items():
        for function in functions(operator.rule):
            served.setdefault(function, set()).update(NAMES[key])
    problems = [f"{key[1]}-{key[2]}: {text}" for key, o in operators.items() for text in unbound(o, key, served)]
    assert len(operators) > 500
    assert not problems, "\n".join(problems)


def unbound(operator: Operator, key: tuple[str, str, int], served: dict[FunctionType, set[str]]) -> list[str]:
    """What is wrong with the parameters of a rule's functions for one version of an operator.

    A parameter is a name of some version that the function serves; where this one lacks it, the function says what it
    is then: by a default, or by admitting None.
    """
    schema, here = read_schema(SCHEMAS[key]), SPECIAL | NAMES[key]
    out = []
    for function in functions(operator.rule):
        own = signature(function).parameters
        for parameter in parameters(function, schema):
            if parameter.want in COLLECTIONS:
                if served[function].isdisjoint(COLLECTIONS[parameter.want]._fields):
                    out.append(f"{function.__name__}: no version has an attribute of {parameter.want}")
            elif parameter.want == SCALES:
                if not any(name.endswith(("scale", "zero_point")) for name in served[function]):
                    out.append(f"{function.__name__}: no version has a scale or a zero point")
            elif parameter.name not in SPECIAL | served[function]:
                out.append(f"{function.__name__}: no version has {parameter.name}")
            elif parameter.name in here or parameter.admits_none or function.__name__ == "<lambda>":
                continue
            elif own[parameter.name].default is Parameter.empty:
                out.append(f"{function.__name__}: {parameter.name} has no default where the version lacks it")
    return out


@pytest.mark.parametrize("name", ["Gelu", "GroupNormalization"])
def test_an_operator_does_not_exist_before_its_first_version(name: str) -> None:
    first = min(version for domain, found, version in SCHEMAS if (domain, found) == ("", name))
    assert registry.get("", name, first) is not None
    assert registry.get("", name, first - 1) is None


def test_the_alias_of_the_default_domain_finds_the_same_rule() -> None:
    assert registry.get("ai.onnx", "Add", 20) is registry.get("", "Add", 20)


def test_lookup_takes_the_newest_registration_up_to_the_version() -> None:
    own = OpShapeInferenceRegistry()
    own.op("Twice", domain="com.acme")(lambda X: X.shape)
    own.op("Twice", domain="com.acme", since=3)(lambda X: X.shape)
    starts = [rule.since for v in (1, 2, 3, 9) if (rule := own.get("com.acme", "Twice", v)) is not None]
    assert starts == [1, 1, 3, 3]
    assert own.get("com.acme", "Thrice", 1) is None
    assert list(own.supported()) == [("com.acme", "Twice", 1), ("com.acme", "Twice", 3)]


def test_a_second_registration_is_an_error_unless_it_replaces() -> None:
    own = OpShapeInferenceRegistry()
    own.op("Twice", domain="com.acme")(lambda X: X.shape)
    with pytest.raises(ValueError, match="Twice since version 1 is registered already"):
        own.op("Twice", domain="com.acme")(lambda X: X.shape)
    replacement = own.op("Twice", domain="com.acme", replace=True)(lambda X: X.shape)
    found = own.get("com.acme", "Twice", 1)
    assert found is not None
    assert found.shape is replacement


def test_supported_lists_every_rule_in_order() -> None:
    listed = list(registry.supported())
    assert listed == sorted(listed)
    assert ("", "Add", 7) in listed
    assert op == registry.op


def test_the_tables_of_operators_are_current() -> None:
    for path, text in ((PATH, table()), (OF_SCHEMAS, schemas())):
        assert path.read_text(encoding="utf-8") == text, "run python -m tests.onnx_infer.operator_table"


def test_a_rule_may_be_replaced_before_its_family_is_loaded() -> None:
    steps = [
        "from onnx_infer import registry",
        "mine = registry.op('Relu', replace=True)(lambda X: X.dims)",
        "generation = registry.generation",
        "assert registry.get('', 'Relu', 20).shape is mine",
        "assert registry.get('', 'Concat', 20) and registry.generation == generation",
    ]
    assert "onnx_infer.ops.unary" in loaded_by("; ".join(steps))


RULE = """from onnx_infer.rules import AnyRank, Dim, FlatSizes, Ints, Shape, SymTensor, Unknown, Variadic

def rule(
    data: SymTensor, axes: Ints | Unknown | None, size: Dim, extra: "AnyRank | None", rest: Variadic,
    flat: FlatSizes | None, keepdims: int | None = None, kernel: tuple[int, ...] = (), mode: str = "",
) -> Shape: ...
"""


WRONG_RULES = {
    "an int for a tensor": ("com.acme::Widen", "X: int", "'X' is an input, and int is not a form of a tensor"),
    "a name before *": ("com.acme::Widen", "X: SymTensor, axis: int", "an attribute comes after *"),
    "an int of the schema": ("Relu", "X: int", "int is not a form of a tensor: write SymTensor"),
    "a wrong name": ("Concat", "inputs, axes: int", "do you mean 'axis'?"),
    "a tensor for an attribute": (
        "Concat",
        "inputs, axis: SymTensor",
        "'axis' is an attribute: write int, not SymTensor",
    ),
    "numbers of texts": ("StringConcat", "X: Ints, Y", "'X' has no numbers, so it is never Ints"),
}


@pytest.mark.parametrize(("title", "parameters", "message"), WRONG_RULES.values(), ids=WRONG_RULES)
def test_a_rule_that_would_never_be_called_is_refused(title: str, parameters: str, message: str) -> None:
    space: dict[str, Any] = {}
    exec(f"from __future__ import annotations\ndef rule({parameters}): ...", space)
    domain, _, name = title.rpartition("::")
    before = registry.versions(domain, name)
    with pytest.raises(ArgumentError, match=re.escape(f"the rule rule of {title}: ")) as told:
        op(name, domain=domain, replace=True)(space["rule"])
    assert message in str(told.value)
    assert registry.versions(domain, name) == before


def test_annotations_of_a_rule_may_be_evaluated() -> None:
    """A module without `from __future__ import annotations` gives the aliases themselves."""
    texts = []
    for first_line in ("", "from __future__ import annotations\n"):
        names: dict[str, Any] = {}
        exec(compile(first_line + RULE, "rule.py", "exec", dont_inherit=True), names)
        texts.append(annotation_texts(names["rule"]))
    evaluated, written = texts
    different = {name: (evaluated[name], text) for name, text in written.items() if evaluated[name] != text}
    assert different.pop("return")[1] == "Shape"
    assert different == {"size": ("int | Expr", "Dim")}  # both ask for a scalar
