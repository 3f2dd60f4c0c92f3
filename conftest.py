"""What is not collected: what needs packages that are not installed, and pages that a test runs."""

from __future__ import annotations

from importlib.util import find_spec

PAGES = {
    "docs/onnx_ir.md": "onnx_ir",
    "integration_tests/test_jax.py": "jax",
    "integration_tests/test_page.py": "selenium",
    "integration_tests/test_pyright.py": "pyright",
    "integration_tests/test_site.py": "mkdocs",
    "integration_tests/test_sympy.py": "sympy",
}
"""Pages and tests that need a package."""

BY_A_TEST = ["docs/coming_from.md", "docs/first_hour.md"]
"""Pages that a test runs, in sections or in order."""

SITE = ["docs/extensions"]
"""Code of the documentation site, which needs its packages."""

collect_ignore = BY_A_TEST + SITE + [page for page, package in PAGES.items() if not find_spec(package)]
collect_ignore_glob = [] if find_spec("onnx_ir") else ["onnx_infer/integrations/*"]
