//! Parsers for numbers among the arguments. Each reports its range for anything else: a word, NaN,
//! or a number that fits into no type.

use std::ops::RangeInclusive;

/// Returns a `value_parser` for a whole number in a range.
pub fn whole(range: RangeInclusive<i64>) -> impl Fn(&str) -> Result<i64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("a whole number, {} to {}", range.start(), range.end()))
    }
}

/// Returns a `value_parser` for a number in a range, with or without a fraction.
pub fn real(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        // No range contains NaN.
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("a number, {} to {}", range.start(), range.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_ranges() {
        let dollars = real(0.0..=1_000_000.0);
        for (given, number) in [("0", 0.0), ("12.5", 12.5), ("1e6", 1_000_000.0), (" 7 ", 7.0)] {
            assert_eq!(dollars(given), Ok(number), "{given}");
        }
        for given in ["NaN", "nan", "inf", "-inf", "-1", "-0.01", "1000000.01", "1e400", "", "ten", "1,5", "0x10"] {
            assert_eq!(dollars(given), Err("a number, 0 to 1000000".to_owned()), "{given}");
        }
        let credits = whole(1..=100);
        assert_eq!((credits("1"), credits("+100")), (Ok(1), Ok(100)));
        for given in ["0", "-1", "101", "1.0", "99999999999999999999999", "NaN", "inf", "", "1e2", "١"] {
            assert_eq!(credits(given), Err("a whole number, 1 to 100".to_owned()), "{given}");
        }
    }
}
