"""The command line, `python -m onnx_infer` or `onnx-infer`.

    arguments.py   the options, read before onnx is imported     texts.py       the values of options, read from text
    command.py     one call of the command                       terminal.py    width, colour, progress, annotations
    files.py       reading and writing models                    dynamic.py     --dynamic, --apply
    reports.py     plans, --diff, --emit, --html, --dialect      folding.py     --fold, with --check
    fleet.py       --json-lines: many models                     together.py    which options go together
    checking.py    --check: sizes against a contract

The room uses all others. The reports come from `tools/report/`. A new option is declared in `arguments.py` and used
in `command.py`. Begin with `command.py`.
"""
