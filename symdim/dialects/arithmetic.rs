/// Why a size has no value: a step left the range of i64, a divisor was 0, or an optional symbol is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Overflow,
    DivisionByZero,
    NotGiven,
}

pub type Size = Result<i64, Fault>;

fn checked(value: Option<i64>) -> Size {
    value.ok_or(Fault::Overflow)
}

fn add(a: Size, b: Size) -> Size {
    checked(a?.checked_add(b?))
}

fn sub(a: Size, b: Size) -> Size {
    checked(a?.checked_sub(b?))
}

fn mul(a: Size, b: Size) -> Size {
    checked(a?.checked_mul(b?))
}

fn power(mut a: Size, mut exponent: u64) -> Size {
    let mut result = Ok(1);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = mul(result, a);
        }
        if exponent > 1 {
            a = mul(a, a);
        }
        exponent /= 2;
    }
    result
}

/// floor(a / b), as Python's a // b.
fn floordiv(a: Size, b: Size) -> Size {
    let (a, b) = (a?, b?);
    if b == 0 {
        return Err(Fault::DivisionByZero);
    }
    let quotient = checked(a.checked_div(b))?;
    Ok(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// a - b*floor(a / b), as Python's a % b: it has the sign of b.
fn modulo(a: Size, b: Size) -> Size {
    let (a, b) = (a?, b?);
    if b == 0 {
        return Err(Fault::DivisionByZero);
    }
    let rest = a.wrapping_rem(b);
    Ok(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
}

fn max(a: Size, b: Size) -> Size {
    Ok(a?.max(b?))
}

fn min(a: Size, b: Size) -> Size {
    Ok(a?.min(b?))
}

/// Floats, each result rounded to its type. All are held as `f64`.
/// What is infinite or has no value is not a number, and neither is what comes of it.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { f64::NAN }
}

fn f32(x: f64) -> f64 {
    finite(f64::from(x as f32))
}

fn f64(x: f64) -> f64 {
    finite(x)
}

fn f32_of(a: Size) -> f64 {
    a.map_or(f64::NAN, |a| f64::from(a as f32))
}

fn f64_of(a: Size) -> f64 {
    a.map_or(f64::NAN, |a| a as f64)
}

fn least(x: f64, y: f64) -> f64 {
    if x.is_nan() || x < y { x } else { y }
}

fn greatest(x: f64, y: f64) -> f64 {
    if x.is_nan() || x > y { x } else { y }
}

fn rounded_zero(x: f64) -> Size {
    if x.is_nan() {
        return Err(Fault::DivisionByZero);
    }
    if x.abs() < 9223372036854775808.0 { Ok(x as i64) } else { Err(Fault::Overflow) }
}

fn rounded_down(x: f64) -> Size {
    rounded_zero(x.floor())
}

fn rounded_up(x: f64) -> Size {
    rounded_zero(x.ceil())
}

/// To the nearest integer, to the even one of two.
fn rounded_even(x: f64) -> Size {
    let below = x.floor();
    let is_up = x - below > 0.5 || (x - below == 0.5 && below % 2.0 != 0.0);
    rounded_zero(if is_up { below + 1.0 } else { below })
}

/// Relations of sizes; none holds for a size without a value.
fn both(a: Size, b: Size, holds: impl Fn(i64, i64) -> bool) -> bool {
    matches!((a, b), (Ok(a), Ok(b)) if holds(a, b))
}

fn equal(a: Size, b: Size) -> bool {
    both(a, b, |a, b| a == b)
}

fn at_least(a: Size, b: Size) -> bool {
    both(a, b, |a, b| a >= b)
}

fn at_most(a: Size, b: Size) -> bool {
    both(a, b, |a, b| a <= b)
}

fn divides(a: Size, b: Size) -> bool {
    both(a, b, |a, b| a != 0 && b.wrapping_rem(a) == 0)
}

fn broadcast(a: Size, b: Size) -> bool {
    both(a, b, |a, b| a == b || a == 1 || b == 1)
}

fn broadcast_to(a: Size, b: Size) -> bool {
    both(a, b, |a, b| a == b || a == 1)
}
