"""The registry: which rule serves which operator at which version.

A rule is a pure function. Its parameters are the names of the operator's schema. `op` registers it:

    @op("Concat", data=lambda inputs, axis: np.concatenate(inputs, axis))
    def concat(inputs: Variadic, axis: int) -> Shape: ...

One registration serves the versions from `since` up to the next registration of the same operator.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from inspect import unwrap
from threading import local
from typing import TYPE_CHECKING, Any, TypeVar

from onnx_infer.model.graph import normal_domain
from onnx_infer.operators.known_schemas import exists, record
from onnx_infer.operators.rule import NO_TRAITS, Rule, Traits
from symdim.algebra.caches import Cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

F = TypeVar("F", bound="Callable[..., Any]")


class OpShapeInferenceRegistry:
    """Rules by (domain, operator, version). Repeated look-ups take constant time.

    >>> r = OpShapeInferenceRegistry()
    >>> r.op("Twice", domain="com.acme", since=2)(lambda X: X.shape).__name__
    '<lambda>'
    >>> r.get("com.acme", "Twice", 1) is None, r.get("com.acme", "Twice", 9).since
    (True, 2)
    """

    def __init__(
        self,
        *,
        load: Callable[[tuple[str, str] | None], None] | None = None,
        plugins: Callable[[], None] | None = None,
        check: Callable[[list[Rule]], None] = lambda rules: None,
    ) -> None:
        self._rules: dict[tuple[str, str], dict[int, Rule]] = {}
        self._remembered = Cache(1 << 13)  # (domain, operator, version) -> Rule or None
        self._load, self._plugins, self._check, self._here = load, plugins, check, _Here()
        self.generation = 0

    def add(self, rule: Rule, *, replace: bool = False) -> None:
        """Register a rule; the same (domain, operator, since) twice is an error unless `replace`.

        The same line may register again: its module is imported anew after an import that was interrupted.
        """
        if replace:
            self._ensure_loaded((rule.domain, rule.name))  # the rule that it replaces must not come later
        versions = self._rules.setdefault((rule.domain, rule.name), {})
        former = versions.get(rule.since)
        if former is not None and not replace and _place(former) != _place(rule):
            raise ValueError(
                f"{rule.domain or 'ai.onnx'}::{rule.name} since version {rule.since} is registered already; "
                "replace=True replaces it"
            )
        versions[rule.since] = rule
        self._remembered = Cache(1 << 13)  # a new one: a look-up in another thread may be about to fill the old one
        self.generation += not self._here.is_loading_families  # nobody has looked up an operator that comes with them

    def op(
        self,
        *names: str,
        domain: str = "",
        since: int = 1,
        data: Callable[..., Any] | None = None,
        dtype: Callable[..., Any] | None = None,
        inputs: str | None = None,
        moves: bool = False,
        replace: bool = False,
        **traits: Any,
    ) -> Callable[[F], F]:
        """Decorator: register a rule for the operators of these names from version `since` on.

        For an operator that onnx does not know, the parameters before `*` are the inputs. If the rule does not use all
        inputs, `inputs` names them: `X W B? rest*` (`?` optional, `*` any number, `?*` any number of which some may be
        left out; `W=B` for an input W that the parameter B takes). Other keywords are `Traits`, such as `cost`. Raises
        `ArgumentError` for a parameter that the operator does not have, or whose annotation cannot hold.
        """

        module = sys._getframe(1).f_globals.get("__name__", "")  # as the standard library does for named tuples

        def register(function: F) -> F:
            at, more = normal_domain(domain), Traits(**traits) if traits else NO_TRAITS
            rules = [
                Rule(at, name, since, function, data, dtype, "schema", inputs, moves, module, more) for name in names
            ]
            self._check(rules)
            for rule in rules:
                self.add(rule, replace=replace)
            return function

        return register

    def register(self, domain: str, op_type: str, since_version: int = 1, *, replace: bool = False) -> Callable[[F], F]:
        """Decorator: register a function `(ctx, node)` that works on a `ShapeInferenceContext`."""

        def register(function: F) -> F:
            rule = Rule(normal_domain(domain), op_type, since_version, function, style="context")
            self.add(rule, replace=replace)
            return function

        return register

    def get(self, domain: str, op_type: str, version: int) -> Rule | None:
        """The rule that serves an operator at an opset version, or None if there is none."""
        key = (domain, op_type, version)
        try:
            rule: Rule | None = self._remembered[key]
            return rule
        except KeyError:
            pass
        name = (normal_domain(domain), op_type)
        self._ensure_loaded(name)
        if name not in self._rules:
            self._ensure_plugins()
        remembered = self._remembered
        rule = remembered[key] = self._find(*name, version)
        return rule

    def _find(self, domain: str, op_type: str, version: int) -> Rule | None:
        versions = self._rules.get((domain, op_type))
        if versions is None:
            return None
        starts = sorted(versions)
        index = bisect_right(starts, version)
        if index == 0:
            return None
        rule = versions[starts[index - 1]]
        return rule if rule.inputs is not None or exists(domain, op_type, version) else None

    def versions(self, domain: str, op_type: str) -> list[Rule]:
        """The rules of an operator, in the order of their `since` versions."""
        name = (normal_domain(domain), op_type)
        self._ensure_loaded(name)
        rules = self._rules.get(name, {})
        return [rules[since] for since in sorted(rules)]

    def supported(self) -> Iterator[tuple[str, str, int]]:
        """Every (domain, operator, since version) registered, in order."""
        self._ensure_loaded()
        for (domain, name), versions in sorted(self._rules.items()):
            for since in sorted(versions):
                yield domain, name, since

    def _ensure_loaded(self, operator: tuple[str, str] | None = None) -> None:
        """Load the families of an operator, or all. One that fails to load fails again at the next look-up.

        So no operator silently loses its rule.
        """
        load, here = self._load, self._here
        if load is not None and not here.is_loading_families:
            try:
                here.is_loading_families = True
                load(operator)
            finally:
                here.is_loading_families = False
            if operator is None:
                self._load = None

    def _ensure_plugins(self) -> None:
        """Load the plug-ins. One that looks up an operator while it is loaded finds the rules that are there."""
        if self._plugins is not None and not self._here.is_loading_plugins:
            self._here.is_loading_plugins = True
            try:
                self._plugins()
            finally:
                self._here.is_loading_plugins = False
            self._plugins = None  # not before: another thread waits for the same imports


class _Here(local):
    """What this thread is loading."""

    is_loading_families = False
    is_loading_plugins = False


def _place(rule: Rule) -> object:
    """The line of the code that a rule is made of; the function itself if it is not written in Python."""
    code = getattr(unwrap(rule.shape), "__code__", None)
    return rule.shape if code is None else (code.co_filename, code.co_firstlineno)


def _load_families(operator: tuple[str, str] | None) -> None:
    """Import the families of an operator, or all of them. Each one registers its rules."""
    from importlib import import_module

    for family in families_of(operator):
        import_module(f"onnx_infer.ops.{family}")


def families_of(operator: tuple[str, str] | None) -> list[str]:
    """The families with rules for an operator, given by domain and name. All of them for None, or one without rules.

    >>> families_of(("", "Concat")), families_of(("ai.onnx.ml", "Scaler"))
    (['joining'], ['ml'])
    """
    domain, name = operator or ("", "")
    start, word = f"{domain or 'ai.onnx'} ", f" {name} "
    lines = record().families
    with_rules = [line for line in lines if line.startswith(start) and word in f"{line} "]
    return list(dict.fromkeys([line.split()[1] for line in with_rules or lines]))


def _load_plugins() -> None:
    """Load the plug-ins of other distributions (entry-point group `onnx_infer.ops`); see docs/plugins.md.

    If a plug-in fails, a RuntimeWarning names it, and the others are loaded.
    """
    import warnings
    from importlib.metadata import entry_points

    failed = []
    for entry in entry_points(group="onnx_infer.ops"):
        try:
            entry.load()
        except Exception as error:  # code of another distribution may raise anything
            source = f" of {entry.dist.name} {entry.dist.version}" if entry.dist else ""
            who = f"the plug-in {entry.name!r}{source} ({entry.value})"
            failed.append(f"{who} cannot be loaded: {type(error).__name__}: {error}; its operators have no rules")
    for message in failed:
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def _check(rules: list[Rule]) -> None:
    """Check the rules of a user. Those of this package are checked by tests."""
    if not rules[0].module.startswith("onnx_infer.ops."):
        from onnx_infer.operators.verification import check_parameters

        check_parameters(rules)


registry = OpShapeInferenceRegistry(load=_load_families, plugins=_load_plugins, check=_check)
"""The registry that inference uses. A family loads at the first look-up of one of its operators, plug-ins at that of an
unknown operator.
"""

op = registry.op
"""`registry.op`: the decorator that operator families use."""
