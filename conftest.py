"""What is not collected where a package is missing that only some modules need."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("onnx_ir") else ["docs/onnx_ir.md"]
collect_ignore_glob = [] if find_spec("onnx_ir") else ["onnx_infer/integrations/*"]
