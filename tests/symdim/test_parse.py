"""Reading dimension texts: dialects, names, errors, limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symdim.parsing
from symdim import ParseError, Scope, SymdimError, Var, ceildiv, check, maximum, minimum, parse
from symdim.parser.grammar import MAX_LENGTH, MAX_WORK
from symdim.parsing import read_dim_param
from tests.counting import calls_of
from tests.symdim import strategies
from tests.symdim.strategies import DIALECTS, VARIABLES

N, M, H, W = Var("N"), Var("M"), Var("H"), Var("W")
SEQ_LEN = Var("seq len")
HEIGHT = Var("height")

READINGS = [
    # torch.export
    ("(((height - 1)//2)) + 1", (HEIGHT - 1) // 2 + 1),
    ("((height//4)) + (Mod(4 - (Mod((height//4), 4)), 4))", HEIGHT // 4 + (4 - HEIGHT // 4 % 4) % 4),
    ("TruncToInt(0.5*ToFloat(H))", H // 2),
    ("CeilToInt(IntTrueDiv(H, 3))", ceildiv(H, 3)),
    ("FloorToInt(IntTrueDiv(H, 3))", H // 3),
    ("RoundToInt(3*ToFloat(H)/3)", H),
    ("PythonMod(H, 4) + CleanDiv(8*H, 4) + FloorDiv(H, 2)", H % 4 + 2 * H + H // 2),
    ("CeilDiv(H, 2) + Identity(W)", ceildiv(H, 2) + W),
    ("ModularIndexing(H, 4, 3)", H // 4 % 3),
    ("PowByNatural(H, 3) + Pow(H, 2.0)", H**3 + H**2),
    ("LShift(H, 3) + RShift(H, 2)", 8 * H + H // 4),
    ("Abs(H - 5)", maximum(H - 5, 5 - H)),
    ("s77", Var("s77")),
    # SymPy: onnxruntime, onnx_ir
    ("floor(height/2 - 1/2) + 1", (HEIGHT - 1) // 2 + 1),
    ("floor(floor(W/2 - 1/2)/2) + 1", (W - 1) // 2 // 2 + 1),
    ("ceiling(H/2)", ceildiv(H, 2)),
    ("-floor(-H/3)", -(-H // 3)),
    ("Max(1, 2*H - 3)*H**2", maximum(1, 2 * H - 3) * H**2),
    ("floor(Max(H/2, W/3))", maximum(3 * H, 2 * W) // 6),
    ("floor(Min(H/2, W/N))", minimum(N * H, 2 * W) // (2 * N)),
    ("floor(H*W/N)", H * W // N),
    ("floor(H/N + W/M)", (H * M + W * N) // (N * M)),
    ("floor(0.25*H + 1.5e0)", (H + 6) // 4),
    ("trunc(H/2 - 5/2)", maximum(H - 5, 0) // 2 - maximum(5 - H, 0) // 2),
    ("trunc((H - 5)/W)", minimum(maximum(H - 5, 0), H + W - 6) // W),
    ("Heaviside(H - 3, 0)", minimum(maximum(H - 3, 0), 1)),
    ("sign(H - 3)", minimum(maximum(H - 3, -1), 1)),
    # JAX
    ("2*H^2 + floordiv(H, 2) + mod(H, 4)", 2 * H**2 + H // 2 + H % 4),
    ("max(0, non_negative(H + -3))", maximum(H - 3, 0)),
    # onnx RFC 7661
    ("(H+W)/2", (H + W) // 2),
    ("((_d0 + 2) - 1)/2", (Var("_d0") + 1) // 2),
    ("H/2/3", H // 6),
    ("N+2", N + 2),
    ("N-1", N - 1),
    ("N-M", N - M),
    # grammar
    ("-N**2", -(N**2)),
    ("2**3**2", 512),
    ("- - + N", N),
    ("N*-2", -2 * N),
    ("H - W - 1 + 2*3", H - W + 5),
    ("12*H//2//3*W%5", 12 * H // 2 // 3 * W % 5),
    (" 2 ", 2),
    ("1e3", 1000),
    ("MAX(H, 3)", maximum(H, 3)),
    ("max + min*floor", Var("max") + Var("min") * Var("floor")),
    ('`seq len` + "a b" + `tick``s`', SEQ_LEN + Var("a b") + Var("tick`s")),
    ("decoder_input_ids.45_dim_1 + 1", Var("decoder_input_ids.45_dim_1") + 1),
    ("größe*2", 2 * Var("größe")),
]


@pytest.mark.parametrize("text, expected", READINGS)
def test_readings(text, expected):
    assert parse(text) is expected or parse(text) == expected


@pytest.mark.parametrize(
    "name", ["batch-size", "seq len", "N + 1", "2", "a:b::c", "16H", "max", "`", '"', "(", "名 前"]
)
def test_a_declared_name_is_that_variable(name):
    assert parse(name, [name]) is Var(name)
    assert read_dim_param(name, [name]) is Var(name)
    quoted = "`" + name.replace("`", "``") + "`"
    assert parse(f"2*{quoted} + 1", [name]) is 2 * Var(name) + 1


@pytest.mark.parametrize("name", ["batch-size", "seq len", "a:b::c", "16H", "dim[0]", "名 前", "x.1-y", "Concat/axis"])
def test_declared_names_within_expressions(name):
    assert parse(f"2*{name} + max({name},3)", {name}) is 2 * Var(name) + maximum(Var(name), 3)


def test_declared_names_match_the_longest_and_at_boundaries():
    names = frozenset({"seq", "seq len", "seq len 2"})
    assert parse("seq len 2 + seq len + seq", names) is Var("seq len 2") + SEQ_LEN + Var("seq")
    assert parse("seq_len + seq", names) is Var("seq_len") + Var("seq")
    assert check("seq len 23 + 1", names) is not None
    assert parse("Min(seq len, (seq len//2))", names) is minimum(SEQ_LEN, SEQ_LEN // 2)
    with pytest.raises(ParseError, match='"#" is neither a number nor a declared name'):
        parse("#batch_len", {"#batch": Var("#batch")})


def test_names_that_look_like_expressions_stand_for_themselves_only_alone():
    assert parse("2*N + 1", {"N", "N + 1", "2", "1"}) is 2 * N + 1
    assert parse("N + 1", {"N", "N + 1"}) is Var("N + 1")


def test_a_dash_in_a_word():
    batch, size = Var("batch"), Var("size")
    assert parse("batch-size") is batch - size
    assert parse("batch-size", {"batch", "size"}) is batch - size
    assert parse("batch-size", {"batch"}) is Var("batch-size")
    assert parse("batch - size", {"batch"}) is batch - size
    assert parse("batch-size-1", {"batch-size"}) is Var("batch-size") - 1
    assert read_dim_param("batch-size") is Var("batch-size")
    assert read_dim_param("N-1") is Var("N-1")
    assert read_dim_param("N-1", {"N"}) is N - 1


def test_a_slash_in_a_word():
    assert parse("N/2") is parse("N/2", {"N"}) is read_dim_param("N/2", {"N"}) is N // 2
    assert parse("Concat/axis", {"N"}) is read_dim_param("Concat/axis") is Var("Concat/axis")
    assert read_dim_param("(N + 2)/2") is N // 2 + 1


def test_parse_is_a_function_whatever_is_imported():
    assert callable(symdim.parse)
    assert symdim.parsing.parse is symdim.parse


@pytest.mark.parametrize("text", ["16H", "a:b", "a::b-c", "3x-2", "x:1"])
def test_a_word_that_is_no_expression_is_a_name(text):
    assert parse(text) is Var(text)
    assert check(text + " + 1") is not None


@pytest.mark.parametrize(
    "text",
    [" ", "?", "N +", "seq len", "-1", "3 - 5", "N - N - 1", "-N", "N//0", "H/2 + 1/2", "0.5", "(", "sqrt(N)", "f(N)"],
)
def test_any_dim_param_can_be_read(text):
    assert read_dim_param(text) is Var(text)
    assert str(read_dim_param(text)) == text


def test_the_empty_text_names_nothing():
    for read in (Var, read_dim_param, Scope().var):
        with pytest.raises(SymdimError, match="the name of a variable is empty"):
            read("")
    for text in ("``", '"" + 1', "N*``"):
        assert "the name of a variable is empty" in str(check(text))


def test_dim_params_that_are_numbers():
    assert read_dim_param("2") == 2
    assert read_dim_param("2", ["2"]) is Var("2")


@pytest.mark.parametrize(
    "dialect, text, expected",
    [
        ("floor", "(H - 5)/2", (H - 5) // 2),
        ("trunc", "(H - 5)/2", maximum(H - 5, 0) // 2 - maximum(5 - H, 0) // 2),
        ("trunc", "H/2", H // 2),
        ("floor", "H/2 + 1/2", H // 2),
        ("exact", "4*H/2 + (2*W + 4)/2", 2 * H + W + 2),
        ("exact", "H*N/N", H),
        ("exact", "2*(H/2)", H),
        ("exact", "floor(H/2)", H // 2),
        ("onnx-light", "H + 1 ^ N & 3 ^ 2*W", maximum(H + 1, minimum(N, 3), 2 * W)),
        ("onnx-light", "H*W/:4*N % 5", (H * W // 4) * N % 5),
        ("onnx-light", "(N ^ 4 ^ H)*2", 2 * maximum(N, 4, H)),
        ("onnx-light", "H/2 ** 2", H // 4),
    ],
)
def test_dialects(dialect, text, expected):
    assert parse(text, dialect=dialect) is expected


def test_the_signs_of_onnx_light_are_those_of_one_dialect():
    assert parse("N^2") is N**2
    assert 'before "&"' in str(check("N & 2"))
    assert 'before "^"' in str(check("N & ^ 2", dialect="onnx-light"))
    assert check("N/:2").position == 2
    assert read_dim_param("N/:W", ["N", "W"]) is Var("N/:W")
    assert read_dim_param("N/:W", dialect="onnx-light") is N // W
    with pytest.raises(SymdimError, match="'exact', 'floor', 'onnx-light', 'trunc'"):
        parse("N + 1", dialect="python")


@pytest.mark.parametrize("text", ["H/2", "H/2 + 1/2", "0.5*H", "Max(H/2, 1)"])
def test_an_exact_result_must_be_an_integer(text):
    with pytest.raises(ParseError, match="integer"):
        parse(text, dialect="exact")


def test_round_half_even_agrees_with_python():
    x = Scope().var("x", 0, 60)
    for divisor in (1, 2, 3, 4, 6, 7):
        rounded = parse(f"RoundToInt((x - 20)/{divisor})", {"x": x})
        assert [rounded.evaluate(x=i) for i in range(61)] == [round((i - 20) / divisor) for i in range(61)]


def test_trunc_and_signs_agree_with_python():
    x, d = Scope().var("x", 0, 40), Scope().var("d", 1, 5)
    truncated = parse("TruncToInt((x - 20)/d)", {"x": x, "d": d})
    negative = parse("TruncDiv(x - 20, -d)", {"x": x, "d": d})
    for i in range(41):
        for j in range(1, 6):
            assert truncated.evaluate(x=i, d=j) == int((i - 20) / j)
            assert negative.evaluate(x=i, d=j) == int((20 - i) / j)


ERRORS = [
    ("", 0, "unexpected end: expected an operand"),
    ("N +", 3, "unexpected end: expected an operand"),
    ("N + * 2", 4, 'expected an operand before "*"'),
    ("N M", 2, 'an operator is missing before "M"'),
    ("2N + 1", 0, "neither a number nor a declared name"),
    ("(N + 1", 0, 'this "(" is never closed'),
    ("N + 1)", 5, 'no "(" for this ")"'),
    ("floor()", 6, 'expected an operand before ")"'),
    ("(N, M)", 2, "a comma outside of a function's arguments"),
    ("N, M", 1, "a comma outside of a function's arguments"),
    ("mod(N)", 0, "does not take 1 arguments"),
    ("1 + floor(N, M)", 4, "does not take 2 arguments"),
    ("N + sqrt(M, 2)", 4, "does not take 2 arguments"),
    ("N + f()", 6, 'expected an operand before ")"'),
    ("N & M", 2, 'an operator is missing before "&"'),
    ("`N", 0, "neither a number nor a declared name"),
    ("1 + N//0", 5, "zero"),
    ("1 + 5//0", 5, "zero"),
    ("N/2 + 1/2", 7, "outside of floor()"),
    ("N**M", 1, "exponent"),
    ("N**-1", 1, "exponent"),
    ("9**9**9**9", 4, "too large"),
    ("trunc(N/(M - 5))", 5, "sign"),
    ("N\n+ +\n)", 6, 'expected an operand before ")"'),
    ("1e99999", 0, "too large"),
    ("9" * 5000, 0, "too many digits"),
]


@pytest.mark.parametrize("text, position, message", ERRORS)
def test_errors_show_the_place(text, position, message):
    error = check(text)
    assert isinstance(error, ParseError)
    assert message in error.message
    assert (error.text, error.position) == (text, position)
    assert str(error).endswith("^" if text else "(the text is empty)")
    with pytest.raises(ParseError):
        parse(text)


def test_variables_come_from_the_scope_and_keep_their_bounds():
    scope = Scope()
    x = scope.var("x", 3, 9)
    assert parse("x + y", scope=scope) is x + scope.var("y")
    assert read_dim_param("x", scope=scope) is x
    mine = Var.fresh("x")
    assert parse("x + `x`", {"x": mine}) is 2 * mine


@pytest.mark.parametrize("dialect", DIALECTS)
@given(tree=strategies.trees)
def test_every_dialect_denotes_the_same(dialect, tree):
    written, read_as = strategies.text(tree, dialect), strategies.READ_AS.get(dialect)
    try:
        expected = strategies.build(tree)
    except (SymdimError, ZeroDivisionError):
        assert check(written, VARIABLES, dialect=read_as) is not None
        return
    assert parse(written, VARIABLES, dialect=read_as) == expected


@given(st.text(alphabet='NMab12.0e+-*/%^()`" ,:_', min_size=1, max_size=24), st.sets(strategies.names, max_size=3))
def test_any_text_is_read_or_refused(text, names):
    error = check(text, names)
    assert error is None or isinstance(error, ParseError)
    read_dim_param(text, names)


@given(strategies.trees, st.lists(strategies.names, min_size=4, max_size=4, unique=True))
def test_printed_forms_read_back_whatever_the_names(tree, names):
    scope = Scope()
    renamed = {VARIABLES[old]: scope.var(new, 0) for old, new in zip(sorted(VARIABLES), names, strict=True)}
    try:
        expression = strategies.build(tree)
        expression = expression if isinstance(expression, int) else expression.substitute(renamed)
    except (SymdimError, ZeroDivisionError):
        return
    if not isinstance(expression, int):
        assert parse(str(expression), expression.free_symbols(), scope=scope) is expression


DEEP = 10_000  # ten times what Python's stack holds


@pytest.mark.parametrize(
    "text, expected",
    [
        ("(" * DEEP + "N" + ")" * DEEP, N),
        ("-" * DEEP + "N", N),
        ("floor(" * DEEP + "N" + ")" * DEEP, N),
        ("N + " * DEEP + "N", (DEEP + 1) * N),
        ("(" * DEEP + "N" + " + 1)" * DEEP, N + DEEP),
        ("max(" * (DEEP // 2) + "N" + ", 3) + 1" * (DEEP // 2), None),
    ],
    ids=["parentheses", "signs", "floors", "terms", "sums", "calls"],
)
def test_long_and_deep_texts(text, expected):
    dim = parse(text)
    assert expected is None or dim is expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "(" * 12_000 + "x0" + "".join(f" + x{i})" for i in range(1, 12_001)),
            f"reading this takes more than {MAX_WORK} steps",
        ),
        ("*".join(["9**4000"] * 2_000), "the product is too large"),
        ("*".join(["(9**4000*N)"] * 2_000), "the product is too large"),
        ("(N + M)**14001", "the power is too large"),
        ("N" * (MAX_LENGTH + 1) + "+", "longer than 131072 characters"),
    ],
    ids=["nested sums", "numbers", "coefficients", "power", "length"],
)
def test_costly_texts_are_refused_before_the_cost(text, why):
    """A limit refuses the result before it is computed; the calls are those of reading the text."""
    refused = []
    calls = calls_of(lambda: refused.append(check(text)))
    assert str(refused[0]).startswith(why)
    assert calls < 20 * len(text)
