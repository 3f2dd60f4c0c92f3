"""What is not collected: what needs packages that are not installed, and pages that are run by their names only."""

from __future__ import annotations

from importlib.util import find_spec

PAGES = {
    "docs/onnx_ir.md": "onnx_ir",
    "docs/coming_from_onnx_shape_inference.md": "onnx_ir",
    "docs/coming_from_onnxruntime.md": "onnxruntime",
    "integration_tests/test_jax.py": "jax",
    "integration_tests/test_page.py": "selenium",
    "integration_tests/test_site.py": "mkdocs",
    "integration_tests/test_sympy.py": "sympy",
}
"""Pages and tests that need a package."""

BY_NAME = ["docs/coming_from_onnxscript.md", "docs/coming_from_spox.md", "docs/coming_from_torch.md"]
"""Pages that need large packages: `python -m pytest -W default docs/coming_from_*.md integration_tests` runs them."""

BY_A_TEST = ["docs/first_hour.md", "docs/outputs.md"]
"""Pages with commands, which a test runs."""

SITE = ["docs/extensions"]
"""Code of the documentation site, which needs its packages."""

collect_ignore = BY_NAME + BY_A_TEST + SITE + [page for page, package in PAGES.items() if not find_spec(package)]
collect_ignore_glob = [] if find_spec("onnx_ir") else ["onnx_infer/integrations/*"]
