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
        test_contrib_laws.test_guards_tell_what_onnxruntime_refuses
        test_contrib_laws.test_the_rotary_caches_reach_to_the_total_length
        test_contrib_shapes.test_the_shapes_are_those_of_onnxruntime
        test_guard_kinds.test_attention_is_run_by_a_function_that_broadcasts_since_version_25""",
    "ends the process, by a division by 0 or a read of foreign memory": """
        test_contrib_laws.test_onnxruntime_looks_at_no_heads_of_an_empty_tensor
        test_fold_refusals.test_a_node_that_refuses_stays
        test_lengths.test_a_run_is_refused_exactly_where_the_guard_fails
        test_operator_guards.test_a_required_guard_fails_exactly_where_the_run_is_refused
        test_operator_guards.test_batches_that_differ_are_refused_only_where_there_is_a_result""",
    "runs nodes that it refuses since, or reads beyond tensors": """
        test_demands.test_a_run_is_refused_exactly_where_a_required_guard_fails
        test_elements.test_claimed_elements_are_those_of_the_run
        test_fold.test_what_is_left
        test_fold_resize.test_own_axes_from_the_end
        test_foretold.test_grouped_attention_has_room_in_the_past
        test_foretold.test_the_model_runs_exactly_where_all_guards_hold
        test_guards.test_a_pool_has_the_size_inferred_where_its_guard_holds
        test_impossible_demands.test_no_size_runs
        test_long_sizes.test_a_guard_that_an_equation_implies_is_left_out
        test_long_sizes.test_of_two_guards_that_imply_each_other_one_stays
        test_long_sizes.test_the_sizes_hold_in_every_run_and_the_guards_foretell_the_others
        test_negative_sizes.test_pads_that_copy_elements_of_a_tensor_that_may_be_empty
        test_refusals.test_refusals_agree""",
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
