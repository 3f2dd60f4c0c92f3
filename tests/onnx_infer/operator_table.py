"""The table of operators in `docs/operators.md`: `python -m tests.onnx_infer.operator_table` writes it anew."""

from __future__ import annotations

from pathlib import Path

import onnx.defs

from onnx_infer import registry

PATH = Path(__file__).parents[2] / "docs" / "operators.md"

FAMILIES = "onnx_infer.ops."
"""The package of the rules in the table. Rules that a page or a test registers are not in it."""

HEAD = """# Supported operators

Every operator that has a rule, by domain and by family (a file of `onnx_infer/ops/`). A rule serves all versions of
its operator from the one given on; where the law changed there are several. `+data` marks operators whose small
results are propagated. Operators of ai.onnx are covered at all versions of opset 1 to 28. Made by
`python -m tests.onnx_infer.operator_table`; a test keeps it current.
"""


def table() -> str:
    """The document."""
    first: dict[tuple[str, str], int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        known = first.setdefault((schema.domain, schema.name), schema.since_version)
        first[schema.domain, schema.name] = min(known, schema.since_version)
    families: dict[tuple[str, str], dict[str, list[str]]] = {}
    for domain, name, since in registry.supported():
        rule = next(r for r in registry.versions(domain, name) if r.since == since)
        _, of_this_package, family = rule.shape.__module__.rpartition(FAMILIES)
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
    PATH.write_text(table(), encoding="utf-8")
