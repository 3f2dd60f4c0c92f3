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
