"""The drop-ins under the packages that they serve, and the packages under them. The sections of
docs/coming_from.md run with them:

    python -m pip install -e '.[test]' --group integrations
    python -m pytest -W default tests/test_coming_from.py integration_tests

The packages are large, so these tests are no part of the default ones; a job of CI runs them.

What results become elsewhere: emitted code under the compilers that are found (cc, node), the page in Chromium,
the dialects of JAX and SymPy. Another job runs them:

    python -m pip install -e '.[test]' --group forms
    python -m pytest -W default integration_tests/test_{emission,jax,page,sympy}.py
"""
