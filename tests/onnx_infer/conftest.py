"""What is not compared with onnxruntime 1.23, the last one for Python 3.10."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

FIRST = (1, 24)
"""The first onnxruntime with which all tests run."""

OLD = {
    "lacks operators and inputs that it has since": """
        test_contrib.test_the_inputs_are_the_schema_s
        test_contrib.test_the_parameters_of_rules_are_names_of_the_schemas_they_serve
        test_contrib_shapes.test_the_shapes_are_those_of_onnxruntime""",
    "ends the process, by a division by 0 or a read of foreign memory": """
        test_fold_refusals.test_a_node_that_refuses_stays
        test_runs.test_what_is_inferred_is_what_runs_show""",
    "runs nodes that it refuses since, or reads beyond tensors": """
        test_elements.test_claimed_elements_are_those_of_the_run
        test_fold.test_what_is_left
        test_fold_resize.test_own_axes_from_the_end
        test_foretold.test_grouped_attention_has_room_in_the_past
        test_guards.test_a_pool_has_the_size_inferred_where_its_guard_holds""",
}
"""What onnxruntime before that does -> the tests that show it. They fail in the same way on newer Pythons."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip these tests."""
    try:
        installed = version("onnxruntime")
    except PackageNotFoundError:
        return
    if tuple(map(int, installed.split(".")[:2])) >= FIRST:
        return
    reasons = {test: reason for reason, tests in OLD.items() for test in tests.split()}
    for item in items:
        if isinstance(item, pytest.Function):
            name = f"{item.module.__name__.rpartition('.')[2]}.{item.originalname}"
            if name in reasons:
                item.add_marker(pytest.mark.skip(reason=f"onnxruntime {installed} {reasons[name]}"))
