"""The command `python -m symdim check`: what it prints, and its exit codes."""

from __future__ import annotations

import io
import json

import pytest

from symdim.__main__ import OK, REFUSED, USAGE, main


@pytest.mark.parametrize(
    "arguments, printed",
    [
        (["floor(H/2 - 1/2) + 1"], "(H + 1)//2\n"),
        (["floor(H/2 - 1/2) + 1", "--bind", "H=224"], "(H + 1)//2\n112\n"),
        (["N - N", "--bind", "N=2"], "0\n0\n"),
        (["N + M", "--bind", "N=2"], "M + N\nM + 2\n"),
        (["2*seq len", "--name", "seq len", "--bind", "seq len=4"], "2*`seq len`\n8\n"),
        (["H/2 + 1/2", "--dialect", "floor"], "H//2\n"),
        (["H/:2 ^ W", "--dialect", "onnx-light"], "max(H//2, W)\n"),
        (["--", "-N"], "-N\n"),
        (["16H"], "16H\n"),
    ],
)
def test_an_expression(arguments: list[str], printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *arguments]) == OK
    assert capsys.readouterr() == (printed, "")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["N + * 2"], 'expected an operand before "*" at position 4\n    N + * 2\n        ^\n'),
        ([""], "unexpected end: expected an operand (the text is empty)\n"),
        (["N//(M - 3)", "--bind", "M=3"], "N//(M - 3): the divisor of N//(M - 3) is zero\n"),
    ],
)
def test_a_text_that_is_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *arguments]) == REFUSED
    assert capsys.readouterr() == ("", message)


def test_an_expression_that_is_too_long_to_print(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", " + ".join(f"n{i}" for i in range(10_001))]) == REFUSED
    assert capsys.readouterr().err.endswith(" names is not printed\n")


def test_a_text_that_grows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    text = "N"
    for _ in range(40):
        text = f"abs({text} - 3)"
    assert main(["check", text]) == REFUSED
    assert "give a part of it a name" in capsys.readouterr().err


def test_each_line_of_standard_input_is_a_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("N+1\nN +\n2*K - M\n"))
    assert main(["check", "-", "--json", "--bind", "N=3", "--bind", "K=1"]) == REFUSED
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"text": "N+1", "canonical": "N + 1", "names": ["N"], "value": 4}
    assert (second["text"], second["error"], second["position"]) == ("N +", "unexpected end: expected an operand", 3)
    assert (third["names"], third["value"]) == (["K", "M"], "2 - M")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["check"],
        ["check", "N", "--dialect", "sql"],
        ["check", "N", "--bind", "N"],
        ["check", "N", "--bind", "N=x"],
        ["check", "N", "--bind", "=2"],
        ["check", "N", "--bind", "N=0"],
        ["check", "N", "M"],
    ],
)
def test_a_wrong_call(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == USAGE
    assert capsys.readouterr().err
