//! The traffic of a past day: searches as the request log has them, with the calls of suppliers
//! beneath them, and the statistics that count these calls. A chart and the list that it leads to
//! therefore have the same calls.
//!
//! No call names a booking, because bookings of the past cannot be made: their ids, their history
//! and their events have the time at which they were really made.

use crate::demo::call::{Call, sample_call};
use host_application::id_generator::{IdGenerator, new_request_id};
use host_domain::id::{CallLogId, KeyId, RequestLogId};
use host_domain::owner::Tenant;
use host_domain::request_log::{LoggedBodies, LoggedCall, LoggedCallKind, LoggedRequest};
use host_domain::statistics::{
    CallResult, CallStatistics, RemarkableCall, RemarkableReason, StatisticsKey, StatisticsSubject,
    TimeResolution,
};
use host_domain::time::Timestamp;
use host_storage::UnitOfWork;
use std::collections::BTreeMap;

/// Name of the machine that responded and counted.
const HOST: &str = "sample";

const MINUTE_MS: i64 = 60_000;
const MINUTES: i64 = 24 * 60;

/// Minutes that the charts show one by one.
const MINUTES_SHOWN: i64 = 120;

/// Calls of the busiest hour.
const CALLS_MAX: u64 = 72;

/// Share of the busiest hour in percent, by hour of the day in UTC.
const SHAPE: [u64; 24] = [
    12, 8, 6, 5, 6, 10, 22, 38, 55, 68, 76, 82, 88, 92, 90, 86, 84, 88, 96, 100, 90, 66, 40, 22,
];

/// The owner of the calls, and what their rows need.
pub(super) struct DayOfTraffic<'a> {
    pub(super) tenant: &'a Tenant,
    /// The key of all calls.
    pub(super) key: &'a KeyId,
    /// URL of the sandbox, without a trailing slash.
    pub(super) sandbox_url: &'a str,
    pub(super) ids: &'a dyn IdGenerator,
}

/// The rows of a past day.
#[derive(Default)]
pub(super) struct PastTraffic {
    requests: Vec<(LoggedRequest, Option<LoggedBodies>)>,
    calls: Vec<LoggedCall>,
    remarkable: Vec<RemarkableCall>,
    statistics: BTreeMap<StatisticsKey, CallStatistics>,
}

/// A counted call: subject, name and operation, as in [`StatisticsKey`].
type Counted<'a> = (StatisticsSubject, &'a str, &'a str);

impl PastTraffic {
    /// Adds all rows to a write.
    pub(super) fn insert_in(self, write: &mut UnitOfWork) {
        let statistics: Vec<_> = self.statistics.into_iter().collect();
        write
            .insert_request_log(&self.requests)
            .insert_call_log(&self.calls)
            .insert_remarkable_calls(&self.remarkable)
            .add_statistics(&statistics);
    }
}

impl DayOfTraffic<'_> {
    /// Returns the calls of the 24 hours before `now`, about 950. The same day has the same calls.
    pub(super) fn before(&self, now: Timestamp) -> PastTraffic {
        /// Share of a call that one minute of an hour with a hundred calls has.
        const WHOLE_CALL: u64 = 100 * 60 * 100;
        let mut traffic = PastTraffic::default();
        let (mut due, mut number) = (0, 0);
        let last = TimeResolution::Minute.floor(now);
        for minutes_ago in (1..MINUTES).rev() {
            let minute = last.plus_ms(-minutes_ago * MINUTE_MS);
            due += CALLS_MAX * share_of_hour(minute) * (50 + noise(minute, 0));
            while due >= WHOLE_CALL {
                due -= WHOLE_CALL;
                let second = i64::try_from(noise(minute, number) * 6 / 10).unwrap_or_default();
                let at = minute.plus_ms(second * 1000 + 250);
                let made = sample_call(number, noise(minute, number + 1), at);
                self.add(&mut traffic, now, at, made);
                number += 1;
            }
        }
        traffic
    }

    /// Adds a call that was answered at `at`, and counts it.
    fn add(&self, traffic: &mut PastTraffic, now: Timestamp, at: Timestamp, made: Call) {
        let sample = made.request;
        let request = LoggedRequest {
            id: RequestLogId::at(at, self.ids.generate()),
            organization: self.tenant.organization.clone(),
            mode: self.tenant.mode,
            request_id: new_request_id(),
            at,
            method: sample.method.to_owned(),
            route: sample.route.to_owned(),
            path: sample.route.to_owned(),
            status: made.status(),
            duration_us: made.duration_us,
            key: Some(self.key.clone()),
            user: made.user.clone(),
            booking: None,
            code: made
                .failure
                .map(|failure| failure.code.info().name.to_owned()),
            host: HOST.to_owned(),
        };
        let route = format!("{} {}", sample.method, sample.route);
        for counted in [
            (StatisticsSubject::Total, "", ""),
            (StatisticsSubject::Route, &route, ""),
        ] {
            let result = made.result();
            self.count(traffic, now, at, counted, (made.duration_us, result));
        }
        self.add_supplier_call(traffic, now, &request, &made);
        let bodies = made.bodies(&request.request_id);
        traffic.requests.push((request, Some(bodies)));
    }

    /// Adds the call of the supplier's plugin, if there was one, and the HTTP request that it made.
    fn add_supplier_call(
        &self,
        traffic: &mut PastTraffic,
        now: Timestamp,
        request: &LoggedRequest,
        made: &Call,
    ) {
        let Some(sent) = made.supplier_call() else {
            return;
        };
        let started_at = request.began_at().plus_ms(1);
        let end = |duration_us: u64| {
            started_at.plus_ms(i64::try_from(duration_us / 1000).unwrap_or_default())
        };
        let plugin = LoggedCall {
            id: CallLogId::at(end(sent.duration_us), self.ids.generate()),
            organization: request.organization.clone(),
            mode: request.mode,
            request_id: request.request_id.clone(),
            kind: LoggedCallKind::Plugin,
            supplier: sent.supplier.clone(),
            capability: sent.capability.as_str().to_owned(),
            function: sent.function.to_owned(),
            target: String::new(),
            started_at,
            duration_us: sent.duration_us,
            outcome: sent.outcome.as_str().to_owned(),
            is_failure: sent.is_failure(),
            detail: None,
            status: None,
            request_bytes: 0,
            response_bytes: 0,
        };
        let exchange = LoggedCall {
            id: CallLogId::at(end(sent.exchange_us), self.ids.generate()),
            kind: LoggedCallKind::Http,
            function: String::new(),
            target: format!("POST {}{}", self.sandbox_url, sent.path),
            duration_us: sent.exchange_us,
            outcome: sent.exchange_outcome.as_str().to_owned(),
            is_failure: sent.exchange_status.is_none(),
            status: sent.exchange_status,
            request_bytes: sent.request_bytes,
            response_bytes: sent.response_bytes,
            ..plugin.clone()
        };
        let (at, operation) = (end(sent.duration_us), sent.operation());
        let counted = (
            StatisticsSubject::Supplier,
            sent.supplier.as_str(),
            operation.as_str(),
        );
        self.count(traffic, now, at, counted, (sent.duration_us, sent.result()));
        // A minute has so few calls that each is one of its slowest.
        let failed = sent.is_failure().then_some(RemarkableReason::Failed);
        for reason in failed.into_iter().chain([RemarkableReason::Slow]) {
            traffic.remarkable.push(RemarkableCall {
                tenant: self.tenant.clone(),
                at: TimeResolution::Minute.floor(at),
                supplier: sent.supplier.clone(),
                operation: operation.clone(),
                reason,
                request_id: request.request_id.clone(),
                duration_us: sent.duration_us,
                outcome: plugin.outcome.clone(),
            });
        }
        traffic.calls.extend([plugin, exchange]);
    }

    /// Counts a call for the organization and for all together: by hour, and by minute if the charts
    /// show its minute.
    fn count(
        &self,
        traffic: &mut PastTraffic,
        now: Timestamp,
        at: Timestamp,
        (subject, name, operation): Counted<'_>,
        (duration_us, result): (u64, CallResult),
    ) {
        let resolutions = match now.since(at) <= MINUTES_SHOWN * MINUTE_MS {
            true => &TimeResolution::ALL[..],
            false => &[TimeResolution::Hour],
        };
        for organization in [Some(self.tenant.organization.clone()), None] {
            for resolution in resolutions {
                let key = StatisticsKey {
                    organization: organization.clone(),
                    mode: self.tenant.mode,
                    resolution: *resolution,
                    subject,
                    at: resolution.floor(at),
                    name: name.to_owned(),
                    operation: operation.to_owned(),
                    host: HOST.to_owned(),
                };
                let calls = traffic.statistics.entry(key).or_default();
                calls.add_call(duration_us, result);
            }
        }
    }
}

/// Returns the share of the busiest hour in percent of the hour of a time.
fn share_of_hour(time: Timestamp) -> u64 {
    let hour = time.0.div_euclid(60 * MINUTE_MS).rem_euclid(24);
    let share = usize::try_from(hour).ok().and_then(|hour| SHAPE.get(hour));
    share.copied().unwrap_or_default()
}

/// Returns a number below 100 that looks random, without a generator of random numbers.
fn noise(minute: Timestamp, salt: u64) -> u64 {
    let minute = minute.0.unsigned_abs() / MINUTE_MS.unsigned_abs();
    let mixed = (minute.wrapping_mul(2_654_435_761) ^ salt.wrapping_mul(40_503))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) % 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use host_application::id_generator::UuidV7Generator;
    use host_domain::owner::Mode;

    const NOW: Timestamp = Timestamp(1_795_660_860_000);

    fn past_day() -> PastTraffic {
        let tenant = Tenant {
            organization: "demo".to_owned(),
            mode: Mode::Test,
        };
        let day = DayOfTraffic {
            tenant: &tenant,
            key: &KeyId::from_bits(1),
            sandbox_url: "http://127.0.0.1:9",
            ids: &UuidV7Generator,
        };
        day.before(NOW)
    }

    /// Returns the statistics of all organizations by minute or by hour.
    fn counted(
        traffic: &PastTraffic,
        resolution: TimeResolution,
        subject: StatisticsSubject,
    ) -> Vec<(&StatisticsKey, &CallStatistics)> {
        let rows = traffic.statistics.iter();
        rows.filter(|(key, _)| {
            (key.resolution, key.subject) == (resolution, subject) && key.organization.is_none()
        })
        .collect()
    }

    #[test]
    fn every_hour_has_as_many_logged_calls_as_are_counted() {
        let traffic = past_day();
        assert!(
            (300..=1000).contains(&traffic.requests.len()),
            "{} calls",
            traffic.requests.len()
        );
        let hours = counted(&traffic, TimeResolution::Hour, StatisticsSubject::Total);
        assert!(hours.len() >= 24, "{} hours have calls", hours.len());
        for (key, calls) in hours {
            let end = key.at.plus_ms(TimeResolution::Hour.ms());
            let logged = traffic.requests.iter().map(|(request, _)| request);
            let logged = logged.filter(|request| request.at >= key.at && request.at < end);
            let with_status = |statuses: std::ops::Range<u16>| {
                let logged = logged.clone();
                u64::try_from(
                    logged
                        .filter(|request| statuses.contains(&request.status))
                        .count(),
                )
                .unwrap()
            };
            assert_eq!(with_status(100..600), calls.count);
            assert_eq!(with_status(400..500), calls.client_errors);
            assert_eq!(with_status(500..600), calls.server_errors);
        }
    }

    #[test]
    fn calls_of_suppliers_are_within_their_api_call() {
        let traffic = past_day();
        let suppliers = counted(&traffic, TimeResolution::Hour, StatisticsSubject::Supplier);
        let counted: u64 = suppliers.iter().map(|(_, calls)| calls.count).sum();
        assert_eq!(2 * counted, u64::try_from(traffic.calls.len()).unwrap());
        for call in &traffic.calls {
            let mut requests = traffic.requests.iter().map(|(request, _)| request);
            let request = requests.find(|request| request.request_id == call.request_id);
            let request = request.unwrap();
            let end = call
                .started_at
                .plus_ms(i64::try_from(call.duration_us / 1000).unwrap());
            assert!(request.began_at() <= call.started_at && end <= request.at);
            assert!(request.at < NOW && NOW.since(request.at) < MINUTES * MINUTE_MS);
            assert!(!call.is_failure || request.status >= 500);
        }
    }
}
