//! Conversion between suppliers' dates and times and the formats of the plugin interface:
//! `YYYY-MM-DD`, `YYYY-MM-DDTHH:MM`, and milliseconds since 1970.
//!
//! Time-zone names are not supported, because a component has no time-zone database. The calendar
//! is Gregorian, years 1 to 9999.

use crate::types::{Date, LocalTime, TimestampMs};

const DAY_MS: i64 = 86_400_000;
/// The number of days in 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// Returns the days from 1970-01-01 to `YYYY-MM-DD`, or `None` if the text is not a date.
pub fn parse_date(text: &str) -> Option<i64> {
    match split(text)? {
        (days, "") => Some(days),
        _ => None,
    }
}

/// Returns the age in whole years on a day, of which only the date is read. Returns `None` if a date
/// is invalid or the birthday is after the day.
pub fn age_on(birthday: &str, day: &str) -> Option<u8> {
    let day = day.get(..10)?;
    if parse_date(birthday)? > parse_date(day)? {
        return None;
    }
    let year = |date: &str| date.get(..4)?.parse::<u32>().ok();
    let is_before_birthday = day.get(5..) < birthday.get(5..);
    let years = year(day)?.checked_sub(year(birthday)?)?;
    u8::try_from(years.checked_sub(is_before_birthday.into())?).ok()
}

/// Returns the whole minutes between two local times in the same time zone, or `None` if the second
/// is earlier.
pub fn minutes_between(from: &str, to: &str) -> Option<u32> {
    let (from, to) = (parse_timestamp(from)?, parse_timestamp(to)?);
    u32::try_from(to.checked_sub(from)? / 60_000).ok()
}

/// Formats the date `days` days after 1970-01-01. Returns `None` outside the years 1 to 9999.
pub fn format_date(days: i64) -> Option<Date> {
    let (year, month, day) = civil(days);
    (1..=9999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// Parses a timestamp: `YYYY-MM-DD`, optionally with a `T` or a space and `HH:MM[:SS[.fraction]]`,
/// optionally with `Z` or an offset `±HH:MM`. Without an offset it is UTC; a date alone means the
/// start of the day.
pub fn parse_timestamp(text: &str) -> Option<TimestampMs> {
    let (days, rest) = split(text)?;
    if rest.is_empty() {
        return Some(days * DAY_MS);
    }
    let (of_day_ms, rest) = parse_clock(rest.strip_prefix(['T', 't', ' '])?)?;
    let offset_ms = match rest.trim_start() {
        "" | "Z" | "z" | "UTC" | "GMT" => 0,
        offset => parse_offset_ms(offset)?,
    };
    Some(days * DAY_MS + of_day_ms - offset_ms)
}

/// Returns the wall-clock part of a date and time and ignores any text after it.
pub fn parse_local_time(text: &str) -> Option<LocalTime> {
    let (days, rest) = split(text)?;
    let (of_day_ms, _) = parse_clock(rest.strip_prefix(['T', 't', ' '])?)?;
    let minutes = of_day_ms / 60_000;
    let date = format_date(days)?;
    Some(format!("{date}T{:02}:{:02}", minutes / 60, minutes % 60))
}

/// Returns the whole minutes of an ISO 8601 duration in days, hours, minutes and seconds
/// (`P1DT2H30M`, `PT02H26M`). Returns `None` for weeks, months and years, and for invalid
/// durations.
pub fn parse_duration_minutes(text: &str) -> Option<u32> {
    const DATE: &[(char, u32)] = &[('D', 86_400)];
    const CLOCK: &[(char, u32)] = &[('H', 3600), ('M', 60), ('S', 1)];
    let written = text.strip_prefix('P')?;
    let (date, clock) = written.split_once('T').unwrap_or((written, "0S"));
    if written.is_empty() || clock.is_empty() {
        return None;
    }
    let mut seconds: u32 = 0;
    for (mut part, units) in [(date, DATE), (clock, CLOCK)] {
        for (unit, unit_s) in units {
            let Some((count, after)) = part.split_once(*unit) else {
                continue;
            };
            if !count.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let count: u32 = count.parse().ok()?;
            seconds = seconds.checked_add(count.checked_mul(*unit_s)?)?;
            part = after;
        }
        if !part.is_empty() {
            return None;
        }
    }
    Some(seconds / 60)
}

/// Parses an HTTP date, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn parse_http_date(text: &str) -> Option<TimestampMs> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut words = text.split(", ").nth(1)?.split(' ');
    let day = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? + 1;
    let year = words.next()?.parse().ok()?;
    let (of_day_ms, rest) = parse_clock(words.next()?)?;
    if !rest.is_empty() || words.next() != Some("GMT") {
        return None;
    }
    Some(days_from_civil(year, i64::try_from(month).ok()?, day)? * DAY_MS + of_day_ms)
}

/// Splits a text into the days of its leading date and the text after it.
fn split(text: &str) -> Option<(i64, &str)> {
    let (date, rest) = text.split_at_checked(10)?;
    let (year, date) = take_digits(date, 4)?;
    let (month, date) = take_digits(date.strip_prefix('-')?, 2)?;
    let (day, _) = take_digits(date.strip_prefix('-')?, 2)?;
    Some((days_from_civil(year, month, day)?, rest))
}

/// Splits a text into the milliseconds of the leading `HH:MM[:SS[.fraction]]` and the text after
/// it. `24:00` is not a time; a leap second counts as the second before it.
fn parse_clock(text: &str) -> Option<(i64, &str)> {
    let (hour, rest) = take_digits(text, 2)?;
    let (minute, mut rest) = take_digits(rest.strip_prefix(':')?, 2)?;
    let mut second = 0;
    let mut milliseconds = 0;
    if let Some(after) = rest.strip_prefix(':') {
        (second, rest) = take_digits(after, 2)?;
        if let Some(after) = rest.strip_prefix('.') {
            let end = after
                .find(|character: char| !character.is_ascii_digit())
                .unwrap_or(after.len());
            let (fraction, after) = after.split_at_checked(end)?;
            milliseconds = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
            rest = after;
        }
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = hour * 3600 + minute * 60 + second.min(59);
    Some((seconds * 1000 + milliseconds, rest))
}

/// Parses an offset `±HH:MM`, `±HHMM` or `±HH`.
fn parse_offset_ms(text: &str) -> Option<i64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, rest) = take_digits(rest, 2)?;
    let (minutes, rest) = match rest {
        "" => (0, ""),
        rest => take_digits(rest.strip_prefix(':').unwrap_or(rest), 2)?,
    };
    if !rest.is_empty() || hours > 23 || minutes > 59 {
        return None;
    }
    Some(sign * (hours * 60 + minutes) * 60_000)
}

fn take_digits(text: &str, count: usize) -> Option<(i64, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().ok()?, rest))
}

/// Returns the days since 1970-01-01, or `None` if the date does not exist.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_month = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days_of_month).contains(&day) || !(1..=9999).contains(&year) {
        return None;
    }
    // Years start in March here, so that a leap day is the last day of its year.
    let (year, months) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let day_of_year = (153 * months + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
    // Day 0 of this count is 0000-03-01, which is 719,468 days before 1970-01-01.
    Some(days - 719_468)
}

/// Returns year, month and day of the date `days` days after 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let era = days.div_euclid(ERA_DAYS);
    let day_of_era = days.rem_euclid(ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months + 2) / 5 + 1;
    let month = if months < 10 { months + 3 } else { months - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests;
