"""A copy of the core for another project: one folder with relative imports, its licence and its version.

Exporters copy rather than depend. A copy is a package of its own: it does not import `symdim`, and its expressions are
others than those of `symdim` in the same process.
"""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import symdim
from symdim.errors import SymdimError

CORE = ("errors", "algebra", "parser", "parsing", "dialects")
"""The files and folders of the core, of which each uses only the others."""
PROVER = ("notebook", "relations", "shape", "compile", "prover", "prove", "facts", "guarantee")
"""What the prover needs beside the core."""

_SOURCE = Path(__file__).parent
_MARK = "Vendored from symdim"


def vendor(directory: Path, package: str = "symdim", *, prover: bool = False) -> list[Path]:
    """Write the copy as the folder `package` in a directory; returns the files. An earlier copy there is replaced.

    Raises `SymdimError` for a package that is no identifier, and for a folder that is something else than a copy.
    """
    if not package.isidentifier():
        raise SymdimError(f"{package!r} is no name of a package")
    target, rooms = directory / package, CORE + PROVER * prover
    contents = {Path("LICENSE"): _licence(), Path("py.typed"): "", Path("__init__.py"): _top(rooms)}
    for path in sorted(_SOURCE.rglob("*.*")):
        place = path.relative_to(_SOURCE)
        if place.parts[0].removesuffix(".py") in rooms and "__pycache__" not in place.parts:
            text = path.read_text(encoding="utf-8")
            contents[place] = _relative(text, len(place.parts)) if path.suffix == ".py" else text
    _remove_copy(target)
    for place, text in contents.items():
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        (target / place).write_text(text, encoding="utf-8", newline="\n")
    return [target / place for place in contents]


def _remove_copy(target: Path) -> None:
    top = target / "__init__.py"
    if top.is_file() and top.read_text(encoding="utf-8").startswith(f'"""{_MARK}'):
        shutil.rmtree(target)
    elif target.exists():
        raise SymdimError(f"{target} exists, and is no copy of symdim")


def _relative(text: str, depth: int) -> str:
    """A source whose imports of symdim start with so many dots."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "symdim":
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = re.sub(r"from symdim\.?", f"from {'.' * depth}", line, count=1)
    return "".join(lines)


def _top(rooms: tuple[str, ...]) -> str:
    """The `__init__.py` of a copy: the public names of these rooms, loaded on first use."""
    modules = {module: names for module, names in symdim._MODULES.items() if module.partition(".")[0] in rooms}
    modules["errors"] = " ".join(name for name in symdim.__all__ if hasattr(symdim.errors, name))
    public = sorted(name for names in modules.values() for name in names.split())
    imports = [f"    from .{module} import {', '.join(names.split())}" for module, names in sorted(modules.items())]
    option = " --with prover" if "prover" in rooms else ""
    return "\n".join([
        f'"""{_MARK} {symdim.__version__} by `python -m symdim vendor{option}`, which also renews it: do not edit.',
        "",
        "Exact algebra of symbolic dimensions, and texts of them. The licence is in LICENSE.",
        '"""',
        "",
        "from importlib import import_module",
        "",
        f'__version__ = "{symdim.__version__}"',
        "",
        "TYPE_CHECKING = False",
        "if TYPE_CHECKING:",
        *imports,
        "",
        "__all__ = [",
        *(f'    "{name}",' for name in public),
        "]",
        "",
        "_MODULES = {",
        *(f'    "{module}": "{names}",' for module, names in sorted(modules.items())),
        "}",
        "_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}",
        "",
        "",
        "def __getattr__(name: str) -> object:",
        "    if name not in _MODULE_OF:",
        '        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")',
        '    value = globals()[name] = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)',
        "    return value",
        "",
    ])  # fmt: skip


def _licence() -> str:
    """The text of the licence: in a checkout beside the package, otherwise in what is installed."""
    checkout = _SOURCE.parent
    if (checkout / "pyproject.toml").is_file():
        return (checkout / "LICENSE").read_text(encoding="utf-8")
    from importlib.metadata import distribution

    installed = distribution("onnx-symdim")
    text = installed.read_text("licenses/LICENSE") or installed.read_text("LICENSE")
    if text is None:
        raise SymdimError("the licence of onnx-symdim is not installed beside it")
    return text
