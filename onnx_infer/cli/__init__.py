"""What `python -m onnx_infer` shows.

    demo.py      the model of `--demo`

The room uses the results of an inference. The call itself is `__main__` on the top.
"""
