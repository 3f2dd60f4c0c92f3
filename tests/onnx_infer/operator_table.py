"""The tables of operators: `docs/operators.md` for readers, and in `onnx_infer/operators/` two for the registry.

`families.py` has the operators of each family, `schemas.txt` the schemas of onnx.
`python -m tests.onnx_infer.operator_table` writes all three anew.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from textwrap import wrap

import onnx.defs
from onnx import AttributeProto

from onnx_infer import registry
from onnx_infer.operators.known_schemas import read_schema
from onnx_infer.operators.schema import ANY_NUMBER, Formal, Schema

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs" / "operators.md"
OF_FAMILIES = ROOT / "onnx_infer" / "operators" / "families.py"
OF_SCHEMAS = ROOT / "onnx_infer" / "operators" / "schemas.txt"

FAMILIES = "onnx_infer.ops."
"""The package of the rules in the table. Rules that a page or a test registers are not in it."""

HEAD = """# Supported operators

Which operators are supported? This is every operator that has a rule, by domain and by family (the file of `onnx_infer/ops/` that registers it). A rule serves
all versions of its operator from the one given on; where the law changed there are several. `+data` marks operators
whose small results are propagated. Operators of ai.onnx are covered at all versions of opset 1 to 28. Made by
`python -m tests.onnx_infer.operator_table`; a test keeps it current.
"""


FAMILIES_HEAD = '''\
"""The operators of each family, made by `python -m tests.onnx_infer.operator_table`; a test keeps it current."""

from __future__ import annotations

_LINES = """
'''

FAMILIES_FOOT = '''""".strip().splitlines()
"""A domain, a family, and operators of this domain for which the family has rules."""


def families_of(operator: tuple[str, str] | None) -> list[str]:
    """The families with rules for an operator, given by domain and name. All of them for None, or one without rules.

    >>> families_of(("", "Concat")), families_of(("ai.onnx.ml", "Scaler"))
    (['joining'], ['ml'])
    """
    domain, name = operator or ("", "")
    start, word = f"{domain or 'ai.onnx'} ", f" {name} "
    found = [line for line in _LINES if line.startswith(start) and word in f"{line} "]
    return list(dict.fromkeys([line.split()[1] for line in found or _LINES]))
'''


def families() -> str:
    """The module with the operators of each family."""
    for path in sorted((ROOT / "onnx_infer" / "ops").rglob("*.py")):
        import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    found: dict[tuple[str, str], dict[str, None]] = {}
    for domain, name, _ in registry.supported():
        for rule in registry.versions(domain, name):
            _, of_this_package, family = rule.module.rpartition(FAMILIES)
            if of_this_package:
                found.setdefault((domain or "ai.onnx", family), {})[name] = None
    lines = [
        f"{domain} {family} {names}\n"
        for (domain, family), operators in sorted(found.items())
        for names in wrap(" ".join(operators), 80)
    ]
    return FAMILIES_HEAD + "".join(lines) + FAMILIES_FOOT


def schemas() -> str:
    """The record of onnx's schemas; its form is described in `onnx_infer/operators/known_schemas.py`."""
    known = sorted(map(read_schema, onnx.defs.get_all_schemas_with_history()))
    sets = sorted({"; ".join(sorted(types)) for schema in known for types in schema.constraints.values()})
    newest = {schema.domain: onnx.defs.C.schema_version_map()[schema.domain][1] for schema in known}
    paragraphs = {"opsets": [f"{domain or 'ai.onnx'} {number}" for domain, number in newest.items()], "types": sets}
    for schema in known:
        paragraphs.setdefault(f"{schema.domain or 'ai.onnx'} {schema.name}", []).append(_line(schema, sets))
    return "\n\n".join("\n".join([head, *lines]) for head, lines in paragraphs.items()) + "\n"


def _line(schema: Schema, sets: list[str]) -> str:
    numbers = schema.min_input, schema.max_input, schema.min_output, schema.max_output
    parts = [
        str(schema.since_version),
        " ".join(map(_formal, schema.inputs)),
        " ".join(map(_formal, schema.outputs)),
        " ".join(_attribute(schema, name) for name in sorted(schema.attributes)),
        " ".join(f"{t}={sets.index('; '.join(sorted(types)))}" for t, types in sorted(schema.constraints.items())),
        " ".join("-" if number == ANY_NUMBER else str(number) for number in numbers),
    ]
    return " | ".join(parts)


def _formal(formal: Formal) -> str:
    mark = "?" if formal.optional else "*" if formal.variadic else ""
    return f"{formal.name}{mark}{f'~{formal.each}' if formal.each else f':{formal.type_str}'}"


def _attribute(schema: Schema, name: str) -> str:
    kind = AttributeProto.AttributeType.Name(schema.attributes[name])
    if name not in schema.defaults:
        return f"{name}:{kind}{'!' if name in schema.required else ''}"
    value = schema.defaults[name]
    return f"{name}:{kind}={','.join(map(str, value)) if isinstance(value, tuple) else value}"


def table() -> str:
    """The document."""
    first: dict[tuple[str, str], int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        known = first.setdefault((schema.domain, schema.name), schema.since_version)
        first[schema.domain, schema.name] = min(known, schema.since_version)
    families: dict[tuple[str, str], dict[str, list[str]]] = {}
    for domain, name, since in registry.supported():
        rule = next(r for r in registry.versions(domain, name) if r.since == since)
        _, of_this_package, family = rule.module.rpartition(FAMILIES)
        if not of_this_package:
            continue
        versions = families.setdefault((domain, family), {}).setdefault(name, [])
        versions.append(f"{max(since, first.get((domain, name), 1))}{' +data' if rule.data else ''}")
    lines = [HEAD]
    for domain in sorted({domain for domain, _ in families}):
        lines += [f"## {domain or 'ai.onnx'}", "", "| family | operators (since version) |", "|---|---|"]
        for (at, family), operators in sorted(families.items()):
            if at == domain:
                shown = ", ".join(f"{name} ({', '.join(versions)})" for name, versions in sorted(operators.items()))
                lines.append(f"| `{family}` | {shown} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    OF_FAMILIES.write_text(families(), encoding="utf-8")
    OF_SCHEMAS.write_text(schemas(), encoding="utf-8")
    PATH.write_text(table(), encoding="utf-8")
