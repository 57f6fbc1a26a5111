//! States, times and roles in the words of the pages.

use host_domain::account::AccountRole;
use host_domain::time::Timestamp;

const MINUTE_MS: i64 = 60 * 1000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Time from which a page writes the date and not the distance in hours.
const HOURS_UNTIL_MS: i64 = 2 * DAY_MS;
/// Time from which a page writes the date of a coming event and not the distance in days.
const DAYS_UNTIL_MS: i64 = 30 * DAY_MS;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A coloured dot and a word, for `components/state.html`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    /// `good`, `wait`, `bad`, or empty for a neutral state.
    pub(crate) tone: &'static str,
    pub(crate) label: &'static str,
}

/// A point in time, for `components/time.html`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeText {
    /// RFC 3339, UTC.
    pub(crate) datetime: String,
    /// The distance from now or the date.
    pub(crate) text: String,
    /// Date and time with the time zone.
    pub(crate) full: String,
}

impl TimeText {
    pub(crate) fn new(at: Timestamp, now: Timestamp) -> Self {
        let datetime = at.to_string();
        let time = datetime.get(11..19).unwrap_or_default();
        Self {
            text: distance(at, now).unwrap_or_else(|| date(at)),
            full: format!("{}, {time} UTC", date(at)),
            datetime,
        }
    }
}

/// Returns the date as `26 Nov 2026`.
pub(crate) fn date(at: Timestamp) -> String {
    let date = at.date_utc();
    let month = usize::try_from(date.month() - 1).ok();
    let month = month.and_then(|month| MONTHS.get(month));
    let month = month.copied().unwrap_or_default();
    format!("{} {month} {}", date.day(), date.year())
}

/// Returns the distance from now in words, or `None` if it is so long that the date says more.
fn distance(at: Timestamp, now: Timestamp) -> Option<String> {
    let ms = now.since(at);
    Some(match ms {
        0..MINUTE_MS => "just now".to_owned(),
        MINUTE_MS..HOURS_UNTIL_MS => format!("{} ago", duration(ms)),
        ms if (-DAYS_UNTIL_MS..0).contains(&ms) => format!("in {}", duration(-ms)),
        _ => return None,
    })
}

/// Returns a duration in its largest unit, rounded down: `5 min`, `3 h` or `6 days`.
pub(crate) fn duration(ms: i64) -> String {
    match ms {
        ..MINUTE_MS => "less than a minute".to_owned(),
        MINUTE_MS..HOUR_MS => format!("{} min", ms / MINUTE_MS),
        HOUR_MS..HOURS_UNTIL_MS => format!("{} h", ms / HOUR_MS),
        HOURS_UNTIL_MS.. => format!("{} days", ms / DAY_MS),
    }
}

/// Returns a number with a comma between each group of three digits.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a role in words.
pub(crate) fn role(role: &AccountRole) -> String {
    match role {
        AccountRole::Operator => "Operator of the installation".to_owned(),
        AccountRole::Organization { organization, role } => {
            let name = role.as_str();
            let (first, rest) = name.split_at(1);
            format!("{}{rest} of {organization}", first.to_ascii_uppercase())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-26T02:40:00Z
    const NOW: Timestamp = Timestamp(1_795_660_800_000);

    #[test]
    fn time_is_a_distance_until_the_date_says_more() {
        for (ms, text) in [
            (0, "just now"),
            (-59_999, "just now"),
            (-60_000, "1 min ago"),
            (-HOUR_MS, "1 h ago"),
            (-2 * DAY_MS + 1, "47 h ago"),
            (-2 * DAY_MS, "24 Nov 2026"),
            (1, "in less than a minute"),
            (HOUR_MS, "in 1 h"),
            (6 * DAY_MS, "in 6 days"),
            (31 * DAY_MS, "27 Dec 2026"),
        ] {
            assert_eq!(TimeText::new(NOW.plus_ms(ms), NOW).text, text, "{ms}");
        }
        let now = TimeText::new(NOW, NOW);
        assert_eq!(now.datetime, "2026-11-26T02:40:00.000Z");
        assert_eq!(now.full, "26 Nov 2026, 02:40:00 UTC");
    }

    #[test]
    fn number_is_grouped() {
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (12_345, "12,345"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
