"""Operators and opsets that the installed onnx may not know.

The table has the newest signature of each operator of ai.onnx after opset 21, the opset of onnx 1.16 (the oldest
supported onnx). New versions of these operators only add inputs and attributes, so the newest signature serves all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import onnx
import onnx.defs
import onnx.helper

if TYPE_CHECKING:
    from collections.abc import Mapping


class Signature(NamedTuple):
    """Inputs and outputs as `name:type` (`?` after an optional name), defaults of attributes, and required attributes.

    >>> LATER["Swish"]
    Signature(inputs='X:T', outputs='Y:T', defaults={'alpha': 1.0}, required=())
    """

    inputs: str
    outputs: str
    defaults: Mapping[str, Any] = {}
    required: tuple[str, ...] = ()


LATER = {
    "Attention": Signature(
        "Q:T1 K:T1 V:T2 attn_mask?:U past_key?:T1 past_value?:T2 nonpad_kv_seqlen?:tensor(int64)",
        "Y:T1 present_key?:T1 present_value?:T2 qk_matmul_output?:T1",
        {"is_causal": 0, "left_window_size": -1, "qk_matmul_output_mode": 0, "right_window_size": -1, "softcap": 0.0},
    ),
    "BitCast": Signature("input:T1", "output:T2", required=("to",)),
    "CausalConvWithState": Signature(
        "input:T weight:T bias?:T past_state?:T", "output:T present_state:T", {"activation": "none"}
    ),
    "CumProd": Signature("x:T axis:T2", "y:T", {"exclusive": 0, "reverse": 0}),
    "LinearAttention": Signature(
        "query:T key:T value:T past_state?:S decay?:T beta?:T",
        "output:T present_state:S",
        {"chunk_size": 64, "scale": 0.0, "update_rule": "gated_delta"},
        ("kv_num_heads", "q_num_heads"),
    ),
    "RMSNormalization": Signature("X:T scale:V", "Y:V", {"axis": -1, "epsilon": 1e-5, "stash_type": 1}),
    "RotaryEmbedding": Signature(
        "X:T cos_cache:T sin_cache:T position_ids?:M", "Y:T", {"interleaved": 0, "rotary_embedding_dim": 0}
    ),
    "SwiGLU": Signature("A:T B:T", "Y:T", {"alpha": 1.0}),
    "Swish": Signature("X:T", "Y:T", {"alpha": 1.0}),
    "TensorScatter": Signature(
        "past_cache:T update:T write_indices?:tensor(int64)", "present_cache:T", {"axis": -2, "mode": "linear"}
    ),
}
"""Operator of ai.onnx -> its signature."""

RELEASES = {22: "1.17", 23: "1.18", 24: "1.19", 25: "1.20", 26: "1.21", 27: "1.22", 28: "1.23"}
"""Opset of ai.onnx -> the first onnx that has it."""


def newest_known(domain: str) -> int | None:
    """The newest opset of a domain that the installed onnx knows; None for a domain that onnx does not have."""
    if domain == "":
        return int(onnx.defs.onnx_opset_version())
    if domain == "ai.onnx.ml":
        return int(onnx.helper.VERSION_TABLE[-1][3])
    return None


def outdated(opsets: Mapping[str, int]) -> str | None:
    """The warning about opsets that the installed onnx does not know; None if it knows all.

    >>> outdated({"": 20, "com.acme": 99}) is None
    True
    """
    told = []
    for domain, version in sorted(opsets.items()):
        known = newest_known(domain)
        if known is not None and version > known:
            told.append((domain or "ai.onnx", version, known))
    if not told:
        return None
    imports = " and ".join(f"opset {version} of {domain}, of which it knows {known}" for domain, version, known in told)
    release = RELEASES.get(max((v for domain, v, _ in told if domain == "ai.onnx"), default=0))
    cure = f"install onnx>={release}" if release else "install a newer onnx"
    return (
        f"the installed onnx {onnx.__version__} is older than the model, which imports {imports}: "
        f"nodes are not checked against schemas that changed since; {cure}"
    )
