"""Mutation testing: small faults are planted in the code, and the tests must find them.

    python -m tests.mutation --count 200 --seed 1 symdim/prover onnx_infer/ops

    mutants.py      the faults that a source can have, and a sample of them
    tracing.py      which tests run which line, and how long they take
    trial.py        one mutant: a forked process puts the changed code in place and runs tests until one fails
    session.py      the sample, tried in a pytest session that has collected everything

A mutant changes one expression or statement of one function. The process that tries it is forked from one that has
imported and collected everything, so a trial costs little more than its tests. Code that only runs while modules are
imported is not sampled, since no trial runs it again. Linters and type checkers find no mutants. It is a script for a
night; the tests do not run it.
"""
