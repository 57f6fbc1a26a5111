//! Entries of a booking's timeline in order of time, for `components/timeline.html`.

use crate::text::date;
use host_domain::time::Timestamp;

/// An event as the service returns it, in words.
#[derive(Debug, Clone)]
pub(crate) struct TimelineEvent {
    pub(crate) at: Timestamp,
    /// `good`, `wait`, `bad`, or empty for a neutral event.
    pub(crate) tone: &'static str,
    /// Origin of the entry, e.g. `Supplier`.
    pub(crate) source: &'static str,
    pub(crate) title: String,
    /// Empty for none.
    pub(crate) detail: String,
    pub(crate) links: Vec<TimelineLink>,
}

/// A page about a part of an event.
#[derive(Debug, Clone)]
pub(crate) struct TimelineLink {
    pub(crate) label: String,
    pub(crate) path: String,
}

/// An event as the page shows it.
#[derive(Debug, Clone)]
pub(crate) struct TimelineItem {
    pub(crate) at: ClockText,
    pub(crate) tone: &'static str,
    pub(crate) source: &'static str,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) links: Vec<TimelineLink>,
}

/// A point in time to the millisecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClockText {
    /// RFC 3339, UTC.
    pub(crate) datetime: String,
    /// The date, empty if the item before has the same one.
    pub(crate) date: String,
    /// The time of day with milliseconds, UTC.
    pub(crate) clock: String,
    /// Date and time with the time zone.
    pub(crate) full: String,
}

/// Returns the items of a timeline. Events must be in order of time.
pub(crate) fn timeline_items(events: impl IntoIterator<Item = TimelineEvent>) -> Vec<TimelineItem> {
    let mut last_date = String::new();
    let items = events.into_iter().map(|event| {
        let at = ClockText::new(event.at, &last_date);
        last_date = date(event.at);
        TimelineItem {
            at,
            tone: event.tone,
            source: event.source,
            title: event.title,
            detail: event.detail,
            links: event.links,
        }
    });
    items.collect()
}

impl ClockText {
    fn new(at: Timestamp, last_date: &str) -> Self {
        let datetime = at.to_string();
        let date = date(at);
        let clock = datetime.get(11..23).unwrap_or_default().to_owned();
        Self {
            full: format!("{date}, {clock} UTC"),
            date: if date == last_date {
                String::new()
            } else {
                date
            },
            clock,
            datetime,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_has_its_date_if_it_is_the_first_of_a_day() {
        let event = |at: &str| TimelineEvent {
            at: Timestamp::parse(at).unwrap(),
            tone: "",
            source: "API",
            title: String::new(),
            detail: String::new(),
            links: Vec::new(),
        };
        let items = timeline_items([
            event("2026-11-26T23:59:58.001Z"),
            event("2026-11-26T23:59:59.999Z"),
            event("2026-11-27T00:00:00Z"),
        ]);
        let shown: Vec<_> = items
            .iter()
            .map(|item| (item.at.date.as_str(), item.at.clock.as_str()))
            .collect();
        let expected = [
            ("26 Nov 2026", "23:59:58.001"),
            ("", "23:59:59.999"),
            ("27 Nov 2026", "00:00:00.000"),
        ];
        assert_eq!(shown, expected);
    }
}
