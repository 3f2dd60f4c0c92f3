"""Which schema serves an operator at an opset version: the recorded one, or onnx's if it is newer or not onnx's own.

onnx builds all of its schemas at the first question about one, which takes longer than inferring a small model. An
older onnx does not have the newest ones. A schema does not change after its release, so the record (`schemas.txt`
beside this file, read one operator at a time) serves both cases.

`python -m tests.onnx_infer.operator_table` writes the file with the installed onnx; a test compares the two. Its first
paragraphs are `opsets`, the newest recorded opset of each domain; `families`, each line a domain, a family of rules and
operators of this domain that it has; and `types`, sets of types that are numbered from 0. Each of the others is an
operator, with a line for each version:

    SINCE | inputs | outputs | attributes | type variables | least and most inputs, least and most outputs

An input or output is `name:TYPE` (`name?` optional, `name*` variadic, `name*~TYPE` of independent types), an attribute
`name:KIND=DEFAULT` or `name:KIND!` if it is required, a type variable `T=SET`, and `-` means any number.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import onnx.defs
from onnx import AttributeProto

from onnx_infer.operators.schema import ANY_NUMBER, NEWEST, Formal, Schema
from onnx_infer.values.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _of_onnx(domain: str) -> int | None:
    """The newest opset of a domain for which the installed onnx has schemas, or None. This does not build schemas."""
    newest: int | None = onnx.defs.C.schema_version_map().get(domain, (0, None))[1]
    return newest


def newest_known(domain: str) -> int | None:
    """The newest opset of a domain of onnx of which the schemas are known, None for another domain."""
    recorded = record().opsets.get(domain)
    return recorded and max(recorded, _of_onnx(domain) or 0)


def exists(domain: str, name: str, version: int) -> bool:
    """Whether an operator exists at an opset version. An operator that onnx does not know is assumed to exist.

    >>> exists("", "Gelu", 19), exists("", "Gelu", 20), exists("com.acme", "MyOp", 1)
    (False, True, True)
    """
    if versions := record().versions(domain, name):
        return min(versions) <= version
    if _of_onnx(domain) is None:
        return True
    name, domain = printable(name), printable(domain)
    return onnx.defs.has(name, _bounded(version), domain) or not onnx.defs.has(name, domain=domain)


def schema_at(domain: str, name: str, version: int) -> Schema | None:
    """The schema that serves an operator at an opset version; the newest known one for later versions."""
    known = newest_known(domain)
    version = version if known is None else min(version, known)
    if version <= record().opsets.get(domain, -1) and record().versions(domain, name):
        return record().find(domain, name, version)
    definition = find_schema(domain, name, version)
    return None if definition is None else read_schema(definition)


def find_schema(domain: str, name: str, version: int) -> onnx.defs.OpSchema | None:
    """onnx's schema that serves an operator at an opset version; the newest known one for later versions."""
    newest = _of_onnx(domain)
    if newest is None:
        return None
    version = min(version, newest) if domain == "" else version
    try:
        return onnx.defs.get_schema(printable(name), _bounded(version), printable(domain))
    except onnx.defs.SchemaError:
        return None


def _bounded(version: int) -> int:
    """The version limited to 32 bits, for onnx. An opset import has 64 bits."""
    return min(max(version, 0), NEWEST)


def read_schema(schema: onnx.defs.OpSchema) -> Schema:
    """The plain data of onnx's schema object."""
    option = onnx.defs.OpSchema.FormalParameterOption

    def formal(p: Any) -> Formal:
        type_str = p.type_str if p.is_homogeneous else ""
        optional, variadic = p.option == option.Optional, p.option == option.Variadic
        return Formal(p.name, type_str, optional, variadic, "" if type_str else p.type_str)

    from onnx_infer.model.attributes import attribute_value

    attributes = schema.attributes
    return Schema(
        schema.domain,
        schema.name,
        schema.since_version,
        tuple(map(formal, schema.inputs)),
        tuple(map(formal, schema.outputs)),
        {name: attribute_value(a.default_value) for name, a in attributes.items() if a.default_value.name},
        frozenset(name for name, a in attributes.items() if a.required),
        {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints},
        schema.min_input,
        schema.max_input,
        True,
        {name: a.type.value for name, a in attributes.items()},
        schema.min_output,
        schema.max_output,
    )


def outdated(opsets: Mapping[str, int]) -> str | None:
    """The warning about opsets that are newer than the known schemas; None if all are known.

    >>> outdated({"": 20, "com.acme": 99}) is None
    True
    """
    told, recorded = [], record().opsets
    later = [(domain, version) for domain, version in opsets.items() if version > recorded.get(domain, version)]
    for domain, version in sorted(later):
        known = newest_known(domain)
        if known is not None and version > known:
            told.append(f"opset {version} of {domain or 'ai.onnx'}, of which {known} is the newest known")
    if not told:
        return None
    return (
        f"the installed onnx {onnx.__version__} is older than the model, which imports {' and '.join(told)}: "
        "nodes are not checked against schemas that changed since; install a newer onnx"
    )


_VALUES: dict[str, Callable[[str], Any]] = {
    "INT": int,
    "FLOAT": float,
    "STRING": str,
    "INTS": lambda text: tuple(map(int, text.split(","))),
    "STRINGS": lambda text: tuple(text.split(",")),
}
"""Kind of attribute -> the value that a default's text stands for."""


class Record:
    """The paragraphs of the file. Few of the operators are needed, so each is read when it is asked for.

    >>> head = "opsets\\nai.onnx 7\\n\\ntypes\\ntensor(int8); tensor(float)\\n\\n"
    >>> record = Record(head + "ai.onnx Neg\\n6 | X:T | Y:T | | T=0 | 1 1 1 1")
    >>> record.opsets, record.find("", "Neg", 7).title, record.find("", "Neg", 5)
    ({'': 7}, 'Neg-6', None)
    """

    def __init__(self, text: str) -> None:
        self._schemas: dict[tuple[str, str, int], Schema] = {}  # those that were read
        self._versions: dict[str, dict[int, str]] = {}  # of those that were read
        self._text = f"\n\n{text.strip()}\n\n"
        self._types = self._paragraph("types").splitlines()
        self.families = self._paragraph("families").splitlines()
        opsets = map(str.split, self._paragraph("opsets").splitlines())
        self.opsets = {"" if domain == "ai.onnx" else domain: int(version) for domain, version in opsets}

    def _paragraph(self, title: str) -> str:
        """The lines after a title; empty if there is no such title."""
        start = self._text.find(f"\n\n{title}\n") + 3 + len(title)
        return self._text[start : self._text.find("\n\n", start)] if start > 2 + len(title) else ""

    def versions(self, domain: str, name: str) -> dict[int, str]:
        """The line of each version of an operator, the oldest first. There is none for an operator that onnx lacks."""
        title = f"{domain or 'ai.onnx'} {name}"
        lines_of_versions = self._versions.get(title)
        if lines_of_versions is None:
            lines = self._paragraph(title).splitlines() if domain in self.opsets else ()
            lines_of_versions = {int(since): rest for since, _, rest in (line.partition("|") for line in lines)}
            if lines_of_versions:
                self._versions[title] = lines_of_versions
        return lines_of_versions

    def find(self, domain: str, name: str, version: int) -> Schema | None:
        """The schema that serves an operator at an opset version; None if there is none up to this version."""
        versions = self.versions(domain, name)
        since = max((v for v in versions if v <= version), default=None)
        if since is None:
            return None
        schema = self._schemas.get(key := (domain, name, since))
        if schema is None:
            schema = self._schemas[key] = self._schema(domain, name, since, versions[since])
        return schema

    def _schema(self, domain: str, name: str, since: int, rest: str) -> Schema:
        inputs, outputs, attributes, variables, numbers = (part.split() for part in rest.split("|"))
        kinds, defaults, required = {}, {}, []
        for text in attributes:
            attribute, _, text = text.partition(":")
            text, separator, default = text.partition("=")
            kind = text.rstrip("!")
            kinds[attribute] = AttributeProto.AttributeType.Value(kind)
            if separator:
                defaults[attribute] = _VALUES[kind](default)
            if text != kind:
                required.append(attribute)
        sets = (text.split("=") for text in variables)
        constraints = {variable: frozenset(self._types[int(at)].split("; ")) for variable, at in sets}
        least, most, fewest, greatest = (ANY_NUMBER if number == "-" else int(number) for number in numbers)
        return Schema(
            domain, name, since, tuple(map(_formal, inputs)), tuple(map(_formal, outputs)), defaults,
            frozenset(required), constraints, least, most, True, kinds, fewest, greatest,
        )  # fmt: skip


def _formal(text: str) -> Formal:
    """A formal input or output.

    >>> _formal("axes?:tensor(int64)").optional, _formal("inputs*~V").each
    (True, 'V')
    """
    is_each = "~" in text
    name, _, type_str = text.partition("~" if is_each else ":")
    types = ("", type_str) if is_each else (type_str, "")
    return Formal(name.rstrip("?*"), types[0], name.endswith("?"), name.endswith("*"), types[1])


@cache
def record() -> Record:
    """The record of this package, read at the first question."""
    return Record(Path(__file__).with_name("schemas.txt").read_text("utf-8"))
