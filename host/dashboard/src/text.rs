//! States, times and roles in the words of the pages.

use host_domain::account::AccountRole;
use host_domain::booking::BookingStatus;
use host_domain::money::Money;
use host_domain::time::{Date, Timestamp};

const MINUTE_MS: i64 = 60 * 1000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Time from which a page writes the date and not the distance in hours.
const HOURS_UNTIL_MS: i64 = 2 * DAY_MS;
/// Time from which a page writes the date of a coming event and not the distance in days.
const DAYS_UNTIL_MS: i64 = 30 * DAY_MS;

/// End of an id that is always shown.
const ID_END_BYTES: usize = 6;

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

    /// Returns date and time in UTC without the year, for lists of some days.
    pub(crate) fn short(&self) -> String {
        let (date, time) = self.full.split_once(", ").unwrap_or_default();
        let day = date.rsplit_once(' ').map_or(date, |(day, _year)| day);
        format!("{day}, {}", time.trim_end_matches(" UTC"))
    }
}

/// Returns the date as `26 Nov 2026`.
pub(crate) fn date(at: Timestamp) -> String {
    day(at.date_utc())
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

/// Returns an amount as `1,412.00 EUR`.
pub(crate) fn money(money: Money) -> String {
    let text = money.to_string();
    let (sign, amount) = match text.strip_prefix('-') {
        Some(amount) => ("−", amount),
        None => ("", text.as_str()),
    };
    let end = amount.find(['.', ' ']).unwrap_or(amount.len());
    let (whole, rest) = amount.split_at(end);
    match whole.parse() {
        Ok(whole) => format!("{sign}{}{rest}", number(whole)),
        Err(_) => text,
    }
}

/// Returns a duration of a call with two or three digits: `0.8 ms`, `240 ms`, `2.1 s` or `5 min`.
pub(crate) fn duration_us(us: u64) -> String {
    match us {
        0 => "0 ms".to_owned(),
        1..100 => format!("{us} µs"),
        100..9_950 => format!("{}.{} ms", us / 1000, us % 1000 / 100),
        9_950..999_500 => format!("{} ms", (us + 500) / 1000),
        999_500..60_000_000 => {
            let tenths = (us + 50_000) / 100_000;
            format!("{}.{} s", tenths / 10, tenths % 10)
        }
        60_000_000.. => format!("{} min", us / 60_000_000),
    }
}

/// Returns a size as `312 B` or `8.2 KB`, with a thousand bytes to the kilobyte.
pub(crate) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{}.{} KB", bytes / 1000, bytes % 1000 / 100),
        1_000_000.. => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// Splits an id into parts of which a narrow column cuts the first and the last, and shows the middle
/// one, which differs most.
pub(crate) fn split_id(id: &str) -> (&str, &str, &str) {
    // The id of a delivery is the id of its event, a dash and the id of its webhook.
    let rest = if id.starts_with("dlv_") {
        id.find('-').unwrap_or(id.len())
    } else {
        id.len()
    };
    let middle = rest.saturating_sub(ID_END_BYTES);
    let parts = id.split_at_checked(middle).and_then(|(first, end)| {
        let (middle, last) = end.split_at_checked(rest - first.len())?;
        Some((first, middle, last))
    });
    parts.unwrap_or((id, "", ""))
}

/// Returns the state of a booking.
pub(crate) const fn booking_state(status: BookingStatus) -> State {
    let (tone, label) = match status {
        BookingStatus::Created => ("", "Created"),
        BookingStatus::PrebookInProgress => ("wait", "Prebook in progress"),
        BookingStatus::ReadyForComplete => ("wait", "Ready to book"),
        BookingStatus::CompleteInProgress => ("wait", "Booking in progress"),
        BookingStatus::Confirmed => ("good", "Confirmed"),
        BookingStatus::CancelInProgress => ("wait", "Cancellation in progress"),
        BookingStatus::PartiallyCanceled => ("", "Partially canceled"),
        BookingStatus::Canceled => ("", "Canceled"),
        BookingStatus::Failed => ("bad", "Failed"),
        BookingStatus::Expired => ("", "Expired"),
    };
    State { tone, label }
}

/// Returns a date as `26 Nov 2026`.
pub(crate) fn day(day: Date) -> String {
    let month = usize::try_from(day.month() - 1).ok();
    let month = month.and_then(|month| MONTHS.get(month));
    let month = month.copied().unwrap_or_default();
    format!("{} {month} {}", day.day(), day.year())
}

/// Returns a name such as `book_confirmed` as `Book confirmed`.
pub(crate) fn words(name: &str) -> String {
    let mut words = name.replace(['_', '.'], " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// Returns a number with its noun, as `1 night` or `2 nights`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
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
    use host_domain::money::Currency;

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
        assert_eq!(now.short(), "26 Nov, 02:40:00");
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

    #[test]
    fn amount_is_grouped_and_has_its_currency() {
        let currency = Currency::parse("EUR").unwrap();
        for (minor, text) in [
            (0, "0.00 EUR"),
            (-5, "−0.05 EUR"),
            (141_200, "1,412.00 EUR"),
            (-141_200, "−1,412.00 EUR"),
        ] {
            assert_eq!(money(Money { minor, currency }), text);
        }
    }

    #[test]
    fn duration_of_a_call_has_two_or_three_digits() {
        for (us, text) in [
            (0, "0 ms"),
            (99, "99 µs"),
            (840, "0.8 ms"),
            (9_949, "9.9 ms"),
            (9_950, "10 ms"),
            (999_499, "999 ms"),
            (999_500, "1.0 s"),
            (2_149_999, "2.1 s"),
            (300_000_000, "5 min"),
        ] {
            assert_eq!(duration_us(us), text);
        }
    }

    #[test]
    fn id_keeps_the_part_that_differs() {
        for (id, parts) in [
            ("bkg_0123456789", ("bkg_0123", "456789", "")),
            ("req_01-0123456789", ("req_01-0123", "456789", "")),
            ("dlv_0123456789-abc", ("dlv_0123", "456789", "-abc")),
            ("req", ("", "req", "")),
            ("aé12345", ("aé12345", "", "")),
        ] {
            assert_eq!(split_id(id), parts);
        }
    }
}
