//! Formats numbers, money and times for people.

use crate::clock::UnixMs;
use time::OffsetDateTime;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Formats `14841` as `14,841`.
pub fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut grouped = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats `500` as `$5`, and `1250` as `$12.50`.
pub fn dollars(cents: i64) -> String {
    match cents % 100 {
        0 => format!("${}", thousands(cents / 100)),
        rest => format!("${}.{rest:02}", thousands(cents / 100)),
    }
}

/// Formats `red` as `Red`.
pub fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Formats a time as `22 Nov 2026, 03:40`, in UTC.
pub fn moment(at: UnixMs) -> String {
    let at = OffsetDateTime::from_unix_timestamp(at.0.div_euclid(1000)).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let month = MONTHS[usize::from(u8::from(at.month())) - 1];
    format!("{} {month} {}, {:02}:{:02}", at.day(), at.year(), at.hour(), at.minute())
}

/// Formats `2026-11-22` as `22 Nov`. Returns any other text unchanged.
pub fn day(day: &str) -> String {
    let mut parts = day.split('-').skip(1).map(|part| part.parse::<usize>().unwrap_or_default());
    match (parts.next(), parts.next()) {
        (Some(month @ 1..=12), Some(day)) => format!("{day} {}", MONTHS[month - 1]),
        _ => day.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (14_841, "14,841"), (1_000_000, "1,000,000"), (-1234, "-1,234")]
        {
            assert_eq!(thousands(number), expected);
        }
        for (cents, expected) in [(500, "$5"), (1250, "$12.50"), (100_000, "$1,000"), (5, "$0.05")] {
            assert_eq!(dollars(cents), expected);
        }
        assert_eq!(moment(UnixMs(1_795_219_260_000)), "21 Nov 2026, 00:01");
        for (given, expected) in [("2026-11-02", "2 Nov"), ("2026-13-02", "2026-13-02"), ("x", "x")] {
            assert_eq!(day(given), expected);
        }
    }
}
