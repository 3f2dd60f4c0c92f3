"""Sizes times floats, as Resize and Upsample compute them: the product is a float32, which is rounded down.

onnxruntime and the shape inference of onnx multiply in single precision. So 10 * 0.7 is 7, but 90 * 1.3 is 116.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.ratio import Element, Product, Ratio, Rounded, Rounding, fraction
from onnx_infer.laws.limits import demand_at_least
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import call_mode, conflicting, fresh, state
from symdim.algebra.dims import bounds_of
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim

_MAX_DENOMINATOR = 128
"""The largest denominator of a fraction that is taken for a float32 of nearly its value."""

_WHOLE = 2**24
"""Up to here a float32 holds every whole number."""

_FLOAT_ERROR = 2**20
"""A float32 product of a size and a scale differs by less than one part in this number: each rounding by 2**-24."""

_MOST_PRODUCTS = 2**16
"""The most sizes that are multiplied to see how a scale rounds."""

_ENOUGH = 2**10
"""A scale may be taken for a fraction that gives its products up to this size. An assumed guard says so."""


class Fractional(NamedTuple):
    """`size * above // below` is the float32 product rounded down, for sizes up to `most`.

    `everywhere`: in double precision too. `whole`: the product is a whole number where the fraction is one.
    """

    above: int
    below: int
    most: int
    everywhere: bool
    whole: bool


def as_fraction(scale: float) -> Fractional:
    """The simplest fraction that a positive float32 scale is for as many sizes as possible.

    Both the scale and a product are off by less than one part in 2**24. So with a numerator `above` the products up to
    `2**23 / below` are right if those that are whole are not rounded below themselves. For other scales a fraction
    is searched that is at least `product / size` and below `(product + 1) / size` for each size.

    >>> as_fraction(2.0), as_fraction(3.0).most, as_fraction(float(np.float32(1 / 3))).most == 2**23
    (Fractional(above=2, below=1, most=16777216, everywhere=True, whole=True), 5592406, True)
    >>> as_fraction(float(np.float32(0.7)))
    Fractional(above=7, below=10, most=1198372, everywhere=False, whole=True)
    >>> as_fraction(float(np.float32(1.3)))
    Fractional(above=13, below=10, most=89, everywhere=False, whole=False)
    """
    from fractions import Fraction  # few models need it

    exact = Fraction(scale)
    near = exact.limit_denominator(_MAX_DENOMINATOR)
    if np.float32(near) == np.float32(scale):
        above, below = near.as_integer_ratio()
        is_near = abs(exact / near - 1) < Fraction(1, 2 * _WHOLE)  # a whole product is rounded to itself
        if is_near or exact > near:
            most = _last_exact(above, below) if exact == near else _WHOLE // 2 // above
            return Fractional(above, below, most, exact >= near, is_near or _is_whole(above, below, scale))
    sizes = np.arange(1, max(2, min(_MOST_PRODUCTS, int(_MOST_PRODUCTS / scale))))
    products = np.floor(sizes.astype(np.float32) * np.float32(scale)).astype(np.int64)
    least = np.maximum.accumulate(products / sizes)
    broken = np.flatnonzero(least >= np.minimum.accumulate((products + 1) / sizes))
    most = int(broken[0]) if len(broken) else len(sizes)
    at = int(np.argmax(least == least[most - 1]))
    above, below = int(products[at]), int(sizes[at])
    everywhere = bool((products[:most] == np.floor(sizes[:most] * scale)).all())
    return Fractional(above, below, most, everywhere, _is_whole(above, below, scale))


def _last_exact(above: int, below: int) -> int:
    """The last size up to which the product with a fraction that is a float32 is right, rounded down.

    A product is exact if it needs no more than 24 bits without its factors of 2. A little above, some are not.
    """
    size = _WHOLE // (above // (above & -above))
    sizes = np.arange(size + 1, size + 4 * _MAX_DENOMINATOR)
    products = np.floor(sizes.astype(np.float32) * np.float32(above / below)).astype(np.int64)
    return size + int(np.flatnonzero(products != sizes * above // below)[0])


def _is_whole(above: int, below: int, scale: float) -> bool:
    common = math.gcd(above, below)
    above, below = above // common, below // common
    multiples = np.arange(1, max(2, min(_MOST_PRODUCTS, int(_MOST_PRODUCTS / scale)) // below))
    return bool((np.float32(scale) * (multiples * below).astype(np.float32) == multiples * above).all())


def scaled(size: Dim, scale: Any) -> Dim:
    """`floor(size * scale)` for a float32 scale (Resize-10 to 19); a function of floats if it depends on rounding.

    >>> scaled(5, 2.5), scaled(9, float(np.float32(1 / 3))), scaled(90, float(np.float32(1.3)))
    (12, 3, 116)
    """
    if isinstance(scale, Ratio):
        return _of_ratio(size, scale)
    if scale is None:
        return fresh("scales is not known")
    if not isinstance(scale, float):
        times: Dim = scale
        demand_at_least(times, 1, "a scale")
        return size * times
    scale = float(np.float32(scale))
    if not (math.isfinite(scale) and scale > 0):
        return conflicting(f"scales must be positive: {scale}")
    if isinstance(size, int):
        single, double = math.floor(np.float32(size) * np.float32(scale)), math.floor(size * scale)
        if single == double or not call_mode().is_cautious:
            return single
        return fresh(f"floats round {size} * {scale}", at_most=max(single, double))
    return _of_float(size, scale)


def fraction_for(size: Dim, scale: float) -> Fractional | None:
    """The fraction that a positive float32 is where this size is multiplied by it; None if that depends on the size.

    If it is one up to a large number, the size is assumed to be no larger. A cautious walk assumes nothing, and demands
    that double precision gives the same.

    >>> from symdim import Var
    >>> H = Var("H")
    >>> fraction_for(H, float(np.float32(1.3))), fraction_for(Var.fresh("H", 1, 64), float(np.float32(1.3)))[:2]
    (None, (13, 10))
    """
    fraction = as_fraction(scale)
    most, high = fraction.most, bounds_of(size)[1]
    is_below = (high is not None and high <= most) or at_least(most - size, 0)
    if call_mode().is_cautious:
        return fraction if is_below and fraction.everywhere else None
    if is_below:
        return fraction
    if most < _ENOUGH:
        return None
    state("at_most", size, most, f"floats round {size} * {np.float32(scale)!s} otherwise", "assumed")
    return fraction


def product_of_size(x: Element, y: Element) -> Product | None:
    """A size times a float of no small fraction, such as 0.7, if it is a fraction of all sizes in single precision."""
    size, scale = (x, y) if isinstance(x, Ratio) else (y, x)
    if not isinstance(scale, float) or not (0 < scale < math.inf) or fraction(size) is None:
        return None
    if size.den != 1 or not at_least(size.num, 0):
        return None
    scaling = fraction_for(size.num, scale) if scale == np.float32(scale) else None
    if scaling is None:
        return None
    return Product(size.num * scaling.above, scaling.below, whole=scaling.whole, factors=(size.num, scale))


def _of_float(size: Dim, scale: float) -> Dim:
    scaling = fraction_for(size, scale)
    if scaling is not None:
        return size * scaling.above // scaling.below
    product = _rounded_product(size, scale)
    if product is not None:
        return product
    above, below, most, *_ = as_fraction(scale)
    note = f"floats round {size} * {np.float32(scale)!s}; up to {most} it is {size * above // below}"
    limit = math.ceil(scale * (1 + 1 / _FLOAT_ERROR) * _MAX_DENOMINATOR)
    return fresh(note, at_most=size * limit // _MAX_DENOMINATOR)


def _rounded_product(size: Dim, scale: Ratio | float) -> Dim | None:
    """The size as a function of floats; None if there is none, or in a cautious walk."""
    if call_mode().is_cautious:
        return None
    product = Rounding("mul", size, scale).in_type("f32")
    return product.truncated() if isinstance(product, Rounded) else None


def _of_ratio(size: Dim, scale: Ratio) -> Dim:
    """The size for a scale computed from sizes. It is exact in floats if the divisor is a power of two."""
    if isinstance(scale, Rounded):
        product = _rounded_product(size, scale)
        return fresh("scales is rounded") if product is None else product
    if isinstance(scale.den, int) and is_power_of_two(scale.den):
        demand_at_least(scale.num, 1, "the dividend of a scale")
        return size * scale.num // scale.den
    note = "scales is a quotient of sizes, of which floats give no exact multiple"
    if not at_least(scale.den, 1):
        return fresh(note)
    demand_at_least(scale.num, 1, "the dividend of a scale")
    product = _rounded_product(size, scale)
    if product is not None:
        return product
    exact = size * scale.num // scale.den
    return fresh(note, at_most=exact + exact // _FLOAT_ERROR + 1)


def is_power_of_two(n: int) -> bool:
    """Whether n is 1, 2, 4, ...

    >>> [n for n in range(1, 10) if is_power_of_two(n)]
    [1, 2, 4, 8]
    """
    return n & (n - 1) == 0
