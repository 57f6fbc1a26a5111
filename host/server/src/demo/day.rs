//! Numbers of calls of a past day, so that the charts of the demo have something to show.

use host_domain::owner::Mode;
use host_domain::statistics::{
    CallResult, CallStatistics, StatisticsKey, StatisticsSubject, TimeResolution,
};
use host_domain::time::Timestamp;
use std::collections::BTreeMap;

/// Name of the machine that counted.
const HOST: &str = "sample";

const MINUTE_MS: i64 = 60_000;
const MINUTES: i64 = 24 * 60;

/// Minutes that the charts show one by one.
const MINUTES_SHOWN: i64 = 120;

/// Calls of the busiest minute.
const CALLS_MAX: u64 = 12;

/// Share of the busiest minute in percent, by hour of the day in UTC.
const SHAPE: [u64; 24] = [
    12, 8, 6, 5, 6, 10, 22, 38, 55, 68, 76, 82, 88, 92, 90, 86, 84, 88, 96, 100, 90, 66, 40, 22,
];

/// Calls of one kind.
struct Series {
    subject: StatisticsSubject,
    name: &'static str,
    operation: &'static str,
    /// Share of all calls in percent.
    share: u64,
    /// Usual duration in milliseconds.
    usual_ms: u64,
    /// Number of calls of which one fails.
    fails_each: u64,
}

const fn route(name: &'static str, share: u64, usual_ms: u64, fails_each: u64) -> Series {
    Series {
        subject: StatisticsSubject::Route,
        name,
        operation: "",
        share,
        usual_ms,
        fails_each,
    }
}

const fn supplier(
    name: &'static str,
    operation: &'static str,
    share: u64,
    usual_ms: u64,
    fails_each: u64,
) -> Series {
    Series {
        subject: StatisticsSubject::Supplier,
        name,
        operation,
        share,
        usual_ms,
        fails_each,
    }
}

const SERIES: [Series; 8] = [
    Series {
        subject: StatisticsSubject::Total,
        ..route("", 100, 60, 90)
    },
    route("POST /v1/hotel/offers", 55, 80, 120),
    route("POST /v1/flight/offers", 20, 140, 60),
    route("GET /v1/hotel/bookings/{id}", 18, 3, 400),
    route("POST /v1/hotel/prebook", 7, 160, 40),
    supplier("SANDBOX_HOTELS", "hotel_pricing.price", 55, 70, 120),
    supplier("SANDBOX_HOTELS", "hotel_booking.prebook", 7, 120, 40),
    supplier("SUPPLIER_A", "flight_pricing.price", 20, 130, 60),
];

/// Returns the statistics of the 24 hours before `now`, sorted by key.
pub(super) fn past_day(organization: &str, now: Timestamp) -> Vec<(StatisticsKey, CallStatistics)> {
    let mut rows = BTreeMap::<StatisticsKey, CallStatistics>::new();
    let last = TimeResolution::Minute.floor(now);
    for minute in 1..MINUTES {
        let at = last.plus_ms(-minute * MINUTE_MS);
        for (index, series) in (0..).zip(&SERIES) {
            let calls = calls_of_minute(at, index, series);
            if calls.count == 0 {
                continue;
            }
            let resolutions = match minute <= MINUTES_SHOWN {
                true => &TimeResolution::ALL[..],
                false => &[TimeResolution::Hour],
            };
            for organization in [Some(organization), None] {
                for resolution in resolutions {
                    let key = StatisticsKey {
                        organization: organization.map(str::to_owned),
                        mode: Mode::Test,
                        resolution: *resolution,
                        subject: series.subject,
                        at: resolution.floor(at),
                        name: series.name.to_owned(),
                        operation: series.operation.to_owned(),
                        host: HOST.to_owned(),
                    };
                    rows.entry(key).or_default().add(&calls);
                }
            }
        }
    }
    rows.into_iter().collect()
}

fn calls_of_minute(at: Timestamp, index: u64, series: &Series) -> CallStatistics {
    let minute = at.0.unsigned_abs() / MINUTE_MS.unsigned_abs();
    let hour = usize::try_from(minute / 60 % 24).unwrap_or(0);
    let shape = SHAPE.get(hour).copied().unwrap_or(0);
    // Noise without a generator of random numbers: the same day looks the same.
    let noise = |salt: u64| (minute.wrapping_mul(2_654_435_761) ^ salt.wrapping_mul(40_503)) % 100;
    let calls = CALLS_MAX * shape * series.share * (60 + noise(index)) / 1_000_000;
    let mut statistics = CallStatistics::default();
    for call in 0..calls {
        let spread = noise(index * 64 + call);
        let slow = if spread > 97 { 6 } else { 1 };
        let duration_us = series.usual_ms * 10 * (60 + spread) * slow;
        let result = match (minute * CALLS_MAX + call) % series.fails_each {
            0 => CallResult::ServerError,
            1 | 2 => CallResult::ClientError,
            _ => CallResult::Succeeded,
        };
        statistics.add_call(duration_us, result);
    }
    statistics
}
