"""Contracts in files: what holds of the sizes of a model, judged before a run and without inference.

    checking.py    `check`: arrays or shapes against a contract

`InferenceResult.apply(model, contract=True)` writes a contract. docs/contract.md describes its form. The room uses the
front end in `protobuf` and the guards and sizes of `results`, and never the engine.
Begin with `checking.py`.
"""

from onnx_infer.contract.checking import NoContractError, Verdict, check, read
from onnx_infer.model.contract import Condition, Contract
from onnx_infer.results.sizes import Broken

__all__ = ["Broken", "Condition", "Contract", "NoContractError", "Verdict", "check", "read"]
