"""The language of einsum specifications: every production, its errors, and text that is read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdim import ParseError
from symdim.einsum import discardable, parse_spec, parse_subscripts
from symdim.einsum.reader import NameClash, _Lexeme
from symdim.einsum.spec import AffineIndex, Concatenation, FixedIndex, Label, RowSpec, ShapeSpec, Spec
from tests.symdim.einsum_cases import plan_of, solve


def axes(text: str) -> tuple[object, ...]:
    return parse_spec(text).result.output.trail


@pytest.mark.parametrize(
    "text, expected",
    [
        ("ij", (Label("i"), Label("j"))),
        (" i j\t", (Label("i"), Label("j"))),
        ("i12", (Label("i"), FixedIndex(12))),
        ("i 1 2", (Label("i"), FixedIndex(1), FixedIndex(2))),
        ("i_j", (Label("i"), Label("_"), Label("j"))),
        ("i12,", (Label("i12"),)),
        ("a, b,", (Label("a"), Label("b"))),
        ("batch_size, h0", (Label("batch_size"), Label("h0"))),
        ("a, 0", (Label("a"), FixedIndex(0))),
        ("", ()),
    ],
)
def test_4_11_modes(text, expected):
    """4.11: single characters, or names with commas after one of `, * + ^ & <` or a bare `=`."""
    assert axes(text) == expected


@pytest.mark.parametrize(
    "text, multi", [("ab;b=>a", False), ("a,b", True), ("a*b", True), ("a+b", True), ("a^b", True)]
)
def test_4_11_what_switches_the_mode(text, multi):
    assert parse_spec(text).multi is multi


def test_4_11_a_bare_equals_sign_switches_the_mode():
    assert parse_spec("out= => out").operands[0].output.trail == (AffineIndex("out", padding=True),)
    assert parse_spec("out==>out").result.output.trail == (Label("out"),)


def test_4_12_row_variables():
    """4.12: `...` is named after its kind, `..name..` has its own name, axes before it are anchored at the left."""
    spec = parse_spec("...a|b...->..r..c => ...")
    shape = spec.operands[0]
    assert shape.batch == RowSpec((), "batch", (Label("a"),))
    assert shape.input == RowSpec((Label("b"),), "input", ())
    assert shape.output == RowSpec((), "r", (Label("c"),))
    assert spec.row_variables() == ("batch", "input", "r", "output")
    assert parse_spec("a, ..rest.., b").result.output == RowSpec((Label("a"),), "rest", (Label("b"),))
    assert parse_spec("..rest.. b, c").result.output == RowSpec((), "rest", (Label("b"), Label("c")))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("2*o", AffineIndex("o", 2)),
        ("1*o", AffineIndex("o", 1)),
        ("o+0,", AffineIndex("o")),
        ("2*o+1", AffineIndex("o", 2, 1)),
        ("o<+k", AffineIndex("o", kernel="k", padding=False)),
        ("o=+k", AffineIndex("o", kernel="k", padding=True)),
        ("2*o+k", AffineIndex("o", 2, kernel="k")),
        ("3*o<+2+4*k", AffineIndex("o", 3, 2, "k", 4, False)),
        ("s*o=+d*k", AffineIndex("o", "s", 0, "k", "d", True)),
        ("2*o=", AffineIndex("o", 2, padding=True)),
    ],
)
def test_4_14_affine(text, expected):
    """4.14: `[stride*]over[= or <][+offset][+[dilation*]kernel]`."""
    assert axes(text) == (expected,)
    assert axes(str(parse_spec(text))) == (expected,)


def test_4_14_a_dilation_of_1_is_not_written():
    assert [str(AffineIndex("o", 2, 1, "k", dilation)) for dilation in (1, 3, "d")] == [
        "2*o+1+k",
        "2*o+1+3*k",
        "2*o+1+d*k",
    ]


def test_a_row_stands_for_no_name():
    assert [_Lexeme("r", 0, row).is_name for row in (None, "r")] == [True, False]


def test_4_15_concatenations():
    """4.15: parts are names or numbers."""
    assert axes("a^b^c, x") == (Concatenation(("a", "b", "c")), Label("x"))
    assert axes("3^rest") == (Concatenation((3, "rest")),)


def test_4_16_operands():
    """4.16: `;` between operands, `=>` before the result; any number of operands, an empty one is a scalar."""
    assert parse_spec("ij").operands is None
    assert [len(parse_spec(text).operands) for text in ("ij=>i", "ij;jk=>ik", "a;b;c=>a^b^c", ";;;=>", "=>i")] == [
        *(1, 2, 3, 4, 1)
    ]
    assert parse_spec("=>i").operands == (ShapeSpec(),)


@pytest.mark.parametrize(
    "text, position",
    [
        ("..r.., ..s..", 7),
        ("a+", 2),
        ("a^", 2),
        ("a b, c", 2),
        ("a,, b", 2),
        ("ij;jk", 5),
        ("a=>b=>c", 4),
        ("a)", 1),
        ("a|b|c", 3),
        ("a->b->c", 4),
        ("0*o", 0),
        ("0*k, 2*o+0*k", 0),
        ("a+1+2", 4),
        ("2*3", 2),
        ("^a", 0),
        ("a&b", 1),
        ("..r", 0),
        ("...a..b", 4),
        ("9" * 30, 0),
        ("2*a=+^*k, k => a", 5),
        ("a=+]*k, k => a", 3),
    ],
)
def test_4_17_errors_show_the_place(text, position):
    """4.17: what is no specification is refused, with a caret under the place."""
    with pytest.raises(ParseError) as caught:
        parse_spec(text)
    assert caught.value.position == position
    assert str(caught.value).splitlines()[-1] == " " * (4 + position) + "^"


@pytest.mark.parametrize("text", ["a..a..", "..a..b;a=>b", "i => ..i..", "batch, ... | x => x"])
def test_4_17_a_name_is_an_axis_or_a_row(text):
    with pytest.raises(NameClash):
        parse_spec(text)
    assert parse_spec("batch, x | ... => x").row_variables() == ("output",)


NAMES = st.sampled_from(["a", "b", "i", "kernel", "n0", "h_out", "_"])
FACTORS = st.one_of(st.integers(1, 9), st.sampled_from(["s", "d"]))
AXES = st.one_of(
    st.builds(Label, NAMES),
    st.builds(FixedIndex, st.integers(0, 20)),
    st.builds(
        AffineIndex,
        NAMES,
        FACTORS,
        st.integers(0, 9),
        st.one_of(st.none(), NAMES),
        st.just(1),
        st.sampled_from([None, True, False]),
    ),
    st.builds(AffineIndex, NAMES, FACTORS, st.integers(0, 9), NAMES, FACTORS, st.sampled_from([None, True, False])),
    st.builds(Concatenation, st.lists(st.one_of(NAMES, st.integers(0, 9)), min_size=2, max_size=4).map(tuple)),
)
LISTS = st.lists(AXES, max_size=3).map(tuple)
ROWS = st.one_of(
    st.builds(RowSpec, st.just(()), st.none(), LISTS), st.builds(RowSpec, LISTS, st.sampled_from("rq"), LISTS)
)
SHAPES = st.builds(ShapeSpec, ROWS, ROWS, ROWS)
SPECS = st.builds(Spec, st.one_of(st.none(), st.lists(SHAPES, min_size=1, max_size=3).map(tuple)), SHAPES)


@given(SPECS)
def test_text_is_read_again(spec):
    assert parse_spec(str(spec)) == spec


@given(st.text(st.sampled_from("ab1 0,;=>-|.^*+<&_)"), max_size=12))
def test_any_text_is_read_or_refused(text):
    try:
        spec = parse_spec(text)
    except ParseError:
        return
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize(
    "text, expected",
    [
        ("ij,jk", "ij,jk->ik"),
        ("ba", "ba->ab"),
        ("...ij,...jk", "...ij,...jk->...ik"),
        ("ii", "ii->"),
        ("ii->i", "ii->i"),
        (" b i j , b j k -> b i k ", "bij,bjk->bik"),
        ("A,b,a", "A,b,a->Aab"),
        ("->", "->"),
    ],
)
def test_subscripts_of_numpy(text, expected):
    spec = parse_subscripts(text)
    assert str(spec) == expected
    assert parse_subscripts(str(spec)) == spec
    assert (spec.multi, spec.broadcasts) == (False, True)


@pytest.mark.parametrize(
    "text, position",
    [("ij->ik", 5), ("ij->ii", 5), ("i...j...", 5), ("i.j", 1), ("i->j->k", 3), ("i1", 1), ("i->i,i", 4), ("ié", 1)],
)
def test_subscripts_that_numpy_refuses(text, position):
    with pytest.raises(ParseError) as caught:
        parse_subscripts(text)
    assert caught.value.position == position


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a^b => a", "b"),
        ("a^b => b", "a"),
        ("a^b => a^b", ""),
        ("b^c => a", ""),
        ("a; b => a^b", ""),
        ("a; b => a^c", ""),
        ("a; a => a^c", "c"),
        ("a^b^c => b^c", "a"),
        ("a^b, x => a, x", "b"),
        ("a^b | x => a | x", "b"),
        ("a^b => 0", ""),
        ("a^b => b, a", "ab"),
        ("2^b => b", ""),
    ],
)
def test_4_27_discardable_labels(text, expected):
    """4.27: for all shapes on the other side, some axis, all of its components: the complement shares a label."""
    assert "".join(sorted(discardable(parse_spec(text)))) == expected


def test_nothing_is_discardable_in_a_text_of_shapes():
    assert discardable(parse_spec("a^b")) == frozenset()


def test_cases_written_as_data():
    parsed = solve({"group": "parse", "spec": "...|2*o<+k, 0 => a^b"})["parsed"]
    assert parsed == {
        "mode": "multi",
        "args": [
            {
                "batch": {"lead": [], "row": "batch", "trail": []},
                "output": {
                    "lead": [],
                    "row": None,
                    "trail": [
                        {"stride": 2, "over": "o", "kernel": "k", "dilation": 1, "padding": False},
                        {"fixed": 0},
                    ],
                },
            }
        ],
        "result": {"output": {"lead": [], "row": None, "trail": [{"concat": ["a", "b"]}]}},
    }
    assert solve({"group": "parse", "spec": "a..a.."}) == {"error": "name_clash"}
    assert solve({"group": "parse", "spec": "a +"}) == {"error": "parse_error"}


def test_cases_that_are_none():
    with pytest.raises(ValueError, match="no case of an einsum: 'nothing'"):
        solve({"group": "nothing"})
    with pytest.raises(ValueError, match="the operation 'nothing' has no plan"):
        plan_of({"op": "nothing"}, [], [3])
    turned = plan_of({"op": "transpose"}, [{"input": [3], "output": [4]}], {"input": [4], "output": [3]})
    assert turned.injective


@pytest.mark.parametrize(
    ("text", "position"), [("a, b; ..b.. => a, c", 6), ("a, b, c; ..c.. => a", 9), ("..b..; a, b => a, c", 10)]
)
def test_a_name_of_an_axis_and_of_a_row_is_shown_where_it_is_used_again(text: str, position: int) -> None:
    with pytest.raises(NameClash) as caught:
        parse_spec(text)
    assert caught.value.position == position


def test_a_blank_stands_between_two_numbers_only() -> None:
    for text in ("i0j => ij", "0ij => j", "i1a => a", "i0 1j => ij"):
        assert str(parse_spec(text)) == text
