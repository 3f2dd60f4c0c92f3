"""A copy of the core for another project: one folder with relative imports, its licence and its version.

Exporters copy rather than depend. A copy is a package of its own: it does not import `symdim`, and its expressions are
others than those of `symdim` in the same process. `SHA256SUMS` lists its files, so that a later call knows which ones
it may replace.
"""

from __future__ import annotations

import ast
import re
from hashlib import sha256
from keyword import iskeyword
from pathlib import Path

import symdim
from symdim.errors import SymdimError
from symdim.outputs import write_whole

CORE = ("errors", "algebra", "parser", "parsing")
"""The files and folders of the core, of which each uses only the others."""
DIALECTS = (*CORE, "dialects")
"""The core, and what other programs write."""
PROVER = (*DIALECTS, "outputs", "relations", "shape", "compile", "prover", "prove", "facts", "guarantee")
"""Both, and the prover, which compiles what it tries."""
COPIES = {"": CORE, "dialects": DIALECTS, "prover": PROVER}
"""What is copied, by what is added to the core. Each copy has all of the one before it."""

_SOURCE = Path(__file__).parent
_MARK = "Vendored from symdim"
_SUMS = Path("SHA256SUMS")


def vendor(directory: Path, package: str = "symdim", extra: str = "") -> list[Path]:
    """Write the copy as the folder `package` in a directory; returns the files. An earlier copy there is replaced.

    `extra` is a key of `COPIES`.

    Raises `SymdimError` for a package that cannot be imported by its name, and for a folder with anything else than
    an unchanged copy. Then nothing is written.
    """
    if not package.isidentifier() or iskeyword(package) or package.startswith("__"):
        raise SymdimError(f"{package!r} is not a package name")
    target, rooms = directory / package, COPIES[extra]
    texts = {Path("LICENSE"): _licence(), Path("py.typed"): "", Path("__init__.py"): _top(rooms, extra)}
    for path in sorted(_SOURCE.rglob("*.*")):
        place = path.relative_to(_SOURCE)
        if place.parts[0].removesuffix(".py") in rooms and "__pycache__" not in place.parts:
            text = path.read_text(encoding="utf-8")
            texts[place] = _relative(text, len(place.parts)) if path.suffix == ".py" else text
    contents = {place: text.encode() for place, text in texts.items()}
    sums = "".join([f"{sha256(content).hexdigest()}  {place.as_posix()}\n" for place, content in contents.items()])
    stale = _files_of_copy(target) - contents.keys()
    for place, content in {**contents, _SUMS: sums.encode()}.items():
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        write_whole(target / place, lambda file, content=content: file.write(content))  # type: ignore[misc]
    for place in stale:
        (target / place).unlink()
    return [target / place for place in contents]


def _files_of_copy(target: Path) -> set[Path]:
    """The files of an earlier copy; none if there is nothing. Raises SymdimError for what is no unchanged copy."""
    if not target.exists():
        return set()
    if not (target / _SUMS).is_file():
        raise SymdimError(f"{target} exists and is not a copy of symdim")
    lines = (target / _SUMS).read_text("utf-8").splitlines()
    sums = {Path(name): number for number, _, name in (line.partition("  ") for line in lines)}
    paths = [path for path in sorted(target.rglob("*")) if path.is_symlink() or not path.is_dir()]
    for path in paths:
        place = path.relative_to(target)
        if place == _SUMS or "__pycache__" in place.parts:
            continue
        if path.is_symlink() or sha256(path.read_bytes()).hexdigest() != sums.get(place):
            raise SymdimError(f"{path} is not as `vendor` has written it: move it out of the copy, which is replaced")
    return {path.relative_to(target) for path in paths if path.relative_to(target) in sums}


def _relative(text: str, depth: int) -> str:
    """A source whose imports of symdim start with so many dots."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "symdim":
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = re.sub(r"from symdim\.?", f"from {'.' * depth}", line, count=1)
    return "".join(lines)


def _top(rooms: tuple[str, ...], extra: str) -> str:
    """The `__init__.py` of a copy: the public names of these rooms, loaded on first use."""
    modules = {module: names for module, names in symdim._MODULES.items() if module.partition(".")[0] in rooms}
    modules["errors"] = " ".join(name for name in symdim.__all__ if hasattr(symdim.errors, name))
    public = sorted(name for names in modules.values() for name in names.split())
    imports = [f"    from .{module} import {', '.join(names.split())}" for module, names in sorted(modules.items())]
    option = f" --with {extra}" if extra else ""
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
