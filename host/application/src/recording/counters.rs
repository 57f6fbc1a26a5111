//! Counters between two writes of the statistics.

use crate::recording::limits::{ORGANIZATIONS_MAX, REMARKABLE_MAX};
use host_domain::money::{Currency, Money};
use host_domain::owner::{Mode, Tenant};
use host_domain::statistics::{
    BookedAmount, CallResult, CallStatistics, RemarkableCall, RemarkableReason, StatisticsKey,
    StatisticsSubject, TimeResolution,
};
use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Timestamp;
use std::collections::{BTreeMap, HashMap};

/// Counters by minute.
#[derive(Default)]
pub(super) struct Counters {
    minutes: BTreeMap<Timestamp, MinuteCounters>,
    /// Amounts by organization, mode, hour and currency. The organization `None` is the sum of all.
    amounts: BTreeMap<AmountKey, (u64, i64)>,
    /// Remarkable calls of minutes that may not be over.
    remarkable: BTreeMap<RemarkableKey, RemarkableCalls>,
}

type AmountKey = (Option<String>, Mode, Timestamp, String);
type RemarkableKey = (Timestamp, Tenant, SupplierId, String);

#[derive(Default)]
struct MinuteCounters {
    /// By name. The empty name has the calls that are counted in the sum of all only.
    organizations: HashMap<String, OrganizationCounters>,
}

#[derive(Default)]
struct OrganizationCounters {
    routes: HashMap<String, RouteCounters>,
    suppliers: HashMap<(Mode, SupplierId, Capability, &'static str), CallStatistics>,
}

/// Counters of a route by mode and method, which are few.
type RouteCounters = Vec<((Mode, &'static str), CallStatistics)>;

#[derive(Default)]
struct RemarkableCalls {
    slow: Vec<RemarkableCall>,
    failed: Vec<RemarkableCall>,
}

/// A finished call of a plugin.
pub(super) struct PluginCall<'a> {
    pub(super) supplier: &'a SupplierId,
    pub(super) capability: Capability,
    pub(super) function: &'static str,
    pub(super) request_id: &'a str,
    pub(super) at: Timestamp,
    pub(super) duration_us: u64,
    pub(super) result: CallResult,
    pub(super) outcome: &'static str,
}

/// Rows that are stored at once, sorted by key.
#[derive(Debug, Default)]
pub(super) struct CountedRows {
    pub(super) statistics: Vec<(StatisticsKey, CallStatistics)>,
    pub(super) amounts: Vec<BookedAmount>,
    pub(super) remarkable: Vec<RemarkableCall>,
}

impl CountedRows {
    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.statistics.len() + self.amounts.len() + self.remarkable.len()
    }

    /// Splits the rows into parts that have up to `rows_max` rows each.
    pub(super) fn into_parts(mut self, rows_max: usize) -> Vec<Self> {
        let mut parts = Vec::new();
        while self.len() > 0 {
            let statistics = take_first(&mut self.statistics, rows_max);
            let amounts = take_first(&mut self.amounts, rows_max - statistics.len());
            let left = rows_max - statistics.len() - amounts.len();
            parts.push(Self {
                statistics,
                amounts,
                remarkable: take_first(&mut self.remarkable, left),
            });
        }
        parts
    }
}

/// Takes up to `number` of the first items.
fn take_first<T>(items: &mut Vec<T>, number: usize) -> Vec<T> {
    items.drain(..number.min(items.len())).collect()
}

impl Counters {
    pub(super) fn count_request(
        &mut self,
        tenant: Option<&Tenant>,
        mode: Mode,
        at: Timestamp,
        (method, route): (&'static str, Option<&str>),
        call: (u64, CallResult),
    ) {
        let mode = tenant.map_or(mode, |tenant| tenant.mode);
        let organization = tenant.map_or("", |tenant| &tenant.organization);
        let route = route.unwrap_or("unknown");
        self.change(organization, at, |counters| {
            match counters.routes.get_mut(route) {
                Some(methods) => count_in(methods, (mode, method), call),
                None => {
                    let methods = counters.routes.entry(route.to_owned()).or_default();
                    count_in(methods, (mode, method), call);
                }
            }
        });
    }

    pub(super) fn count_call(&mut self, tenant: &Tenant, call: &PluginCall<'_>) {
        let supplier = call.supplier.clone();
        let function = (tenant.mode, supplier, call.capability, call.function);
        self.change(&tenant.organization, call.at, |counters| {
            let calls = counters.suppliers.entry(function).or_default();
            calls.add_call(call.duration_us, call.result);
        });
        self.remember(tenant, call);
    }

    pub(super) fn count_booking(&mut self, tenant: &Tenant, at: Timestamp, amount: Money) {
        let hour = TimeResolution::Hour.floor(at);
        for organization in [None, Some(tenant.organization.clone())] {
            let currency = amount.currency.code().to_owned();
            let key = (organization, tenant.mode, hour, currency);
            let (bookings, minor) = self.amounts.entry(key).or_default();
            *bookings += 1;
            *minor = minor.saturating_add(amount.minor);
        }
    }

    /// Changes the counters of an organization in the minute of `at`. Only its first call in the
    /// minute allocates.
    fn change(
        &mut self,
        organization: &str,
        at: Timestamp,
        change: impl FnOnce(&mut OrganizationCounters),
    ) {
        let minute = self.minutes.entry(TimeResolution::Minute.floor(at));
        let organizations = &mut minute.or_default().organizations;
        if let Some(counters) = organizations.get_mut(organization) {
            return change(counters);
        }
        let name = if organizations.len() < ORGANIZATIONS_MAX {
            organization
        } else {
            ""
        };
        change(organizations.entry(name.to_owned()).or_default());
    }

    /// Keeps a call if it is one of the slowest of its minute, or one of the first that failed.
    fn remember(&mut self, tenant: &Tenant, call: &PluginCall<'_>) {
        let minute = TimeResolution::Minute.floor(call.at);
        let operation = operation(call.capability, call.function);
        let key = (
            minute,
            tenant.clone(),
            call.supplier.clone(),
            operation.clone(),
        );
        let kept = self.remarkable.entry(key).or_default();
        let remarkable = |reason| RemarkableCall {
            tenant: tenant.clone(),
            at: minute,
            supplier: call.supplier.clone(),
            operation: operation.clone(),
            reason,
            request_id: call.request_id.to_owned(),
            duration_us: call.duration_us,
            outcome: call.outcome.to_owned(),
        };
        if call.result == CallResult::ServerError && kept.failed.len() < REMARKABLE_MAX {
            kept.failed.push(remarkable(RemarkableReason::Failed));
        }
        let faster = kept
            .slow
            .partition_point(|other| other.duration_us >= call.duration_us);
        if faster < REMARKABLE_MAX {
            kept.slow.insert(faster, remarkable(RemarkableReason::Slow));
            kept.slow.truncate(REMARKABLE_MAX);
        }
    }

    /// Takes all counters, and all remarkable calls.
    pub(super) fn take_all(&mut self) -> TakenCounters {
        TakenCounters(std::mem::take(self))
    }

    /// Takes all counters, and the remarkable calls of the minutes before `now`. Counters of a
    /// minute may be taken several times, each time those since the last time.
    pub(super) fn take(&mut self, now: Timestamp) -> TakenCounters {
        let current = TimeResolution::Minute.floor(now);
        let mut ended = std::mem::take(&mut self.remarkable);
        self.remarkable = ended
            .extract_if(.., |(minute, ..), _| *minute >= current)
            .collect();
        TakenCounters(Self {
            minutes: std::mem::take(&mut self.minutes),
            amounts: std::mem::take(&mut self.amounts),
            remarkable: ended,
        })
    }
}

/// Counters that were taken and are to be stored.
pub(super) struct TakenCounters(Counters);

impl TakenCounters {
    /// Converts the counters to rows: by minute and by hour, for each organization and for all.
    pub(super) fn into_rows(self, host: &str) -> CountedRows {
        let Counters {
            minutes,
            amounts,
            remarkable,
        } = self.0;
        let mut sums = StatisticsSums {
            host,
            rows: BTreeMap::new(),
        };
        for (minute, counters) in minutes {
            for (organization, counters) in counters.organizations {
                sums.add_organization(minute, &organization, counters);
            }
        }
        let amounts = amounts.into_iter().filter_map(|(key, (bookings, minor))| {
            let (organization, mode, at, currency) = key;
            Some(BookedAmount {
                organization,
                mode,
                at,
                bookings,
                amount: Money::new(minor, Currency::parse(&currency).ok()?),
            })
        });
        let remarkable = remarkable.into_values();
        CountedRows {
            statistics: sums.rows.into_iter().collect(),
            amounts: amounts.collect(),
            remarkable: remarkable
                .flat_map(|calls| calls.slow.into_iter().chain(calls.failed))
                .collect(),
        }
    }
}

struct StatisticsSums<'a> {
    host: &'a str,
    rows: BTreeMap<StatisticsKey, CallStatistics>,
}

impl StatisticsSums<'_> {
    fn add_organization(
        &mut self,
        minute: Timestamp,
        organization: &str,
        counters: OrganizationCounters,
    ) {
        for (route, methods) in counters.routes {
            for ((mode, method), calls) in methods {
                let name = format!("{method} {route}");
                let scope = (organization, mode, minute);
                self.add(
                    scope,
                    StatisticsSubject::Route,
                    (name, String::new()),
                    &calls,
                );
                let total = (String::new(), String::new());
                self.add(scope, StatisticsSubject::Total, total, &calls);
            }
        }
        for ((mode, supplier, capability, function), calls) in counters.suppliers {
            let name = (supplier.to_string(), operation(capability, function));
            let scope = (organization, mode, minute);
            self.add(scope, StatisticsSubject::Supplier, name, &calls);
        }
    }

    fn add(
        &mut self,
        (organization, mode, minute): (&str, Mode, Timestamp),
        subject: StatisticsSubject,
        (name, operation): (String, String),
        calls: &CallStatistics,
    ) {
        let own = Some(organization.to_owned()).filter(|name| !name.is_empty());
        for organization in own.map(Some).into_iter().chain([None]) {
            for resolution in TimeResolution::ALL {
                let key = StatisticsKey {
                    organization: organization.clone(),
                    mode,
                    resolution,
                    subject,
                    at: resolution.floor(minute),
                    name: name.clone(),
                    operation: operation.clone(),
                    host: self.host.to_owned(),
                };
                self.rows.entry(key).or_default().add(calls);
            }
        }
    }
}

/// Counts a call in the counters of its route.
fn count_in(
    counters: &mut RouteCounters,
    key: (Mode, &'static str),
    (duration_us, result): (u64, CallResult),
) {
    let known = counters.iter_mut().find(|(known, _)| *known == key);
    if let Some((_, calls)) = known {
        calls.add_call(duration_us, result);
        return;
    }
    let mut calls = CallStatistics::default();
    calls.add_call(duration_us, result);
    counters.push((key, calls));
}

/// Returns the name of a plugin's function, e.g. `hotel_booking.book`.
fn operation(capability: Capability, function: &str) -> String {
    format!("{}.{function}", capability.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Timestamp = Timestamp(1_795_660_860_000);

    fn tenant(organization: &str) -> Tenant {
        Tenant {
            organization: organization.to_owned(),
            mode: Mode::Test,
        }
    }

    fn supplier_call(request_id: &str, ms: u64, result: CallResult) -> PluginCall<'_> {
        static SUPPLIER: std::sync::LazyLock<SupplierId> =
            std::sync::LazyLock::new(|| SupplierId::parse("SUPPLIER_A").unwrap());
        PluginCall {
            supplier: &SUPPLIER,
            capability: Capability::HotelBooking,
            function: "book",
            request_id,
            at: MINUTE,
            duration_us: ms * 1000,
            result,
            outcome: "done",
        }
    }

    #[test]
    fn calls_count_for_their_organization_and_for_all() {
        let mut counters = Counters::default();
        let route = ("GET", Some("/v1/suppliers"));
        let call = (1500, CallResult::Succeeded);
        for organization in ["acme", "acme", "other"] {
            let tenant = tenant(organization);
            counters.count_request(Some(&tenant), Mode::Live, MINUTE, route, call);
        }
        counters.count_request(None, Mode::Test, MINUTE, ("GET", None), call);
        let rows = counters.take(MINUTE).into_rows("host").statistics;
        let count = |organization: Option<&str>, subject, name: &str| {
            let rows = rows.iter().filter(|(key, _)| {
                key.organization.as_deref() == organization
                    && (key.subject, key.name.as_str()) == (subject, name)
                    && key.resolution == TimeResolution::Hour
                    && key.mode == Mode::Test
            });
            rows.map(|(_, calls)| calls.count).collect::<Vec<_>>()
        };
        let (total, route) = (StatisticsSubject::Total, StatisticsSubject::Route);
        assert_eq!(count(Some("acme"), total, ""), [2]);
        assert_eq!(count(Some("other"), route, "GET /v1/suppliers"), [1]);
        assert_eq!(count(None, total, ""), [4]);
        assert_eq!(count(None, route, "GET unknown"), [1]);
        assert!(count(Some(""), total, "").is_empty());
        let keys: Vec<_> = rows.iter().map(|(key, _)| key).collect();
        assert!(keys.is_sorted());
        assert_eq!(counters.take(MINUTE).into_rows("host").statistics, []);
    }

    #[test]
    fn rows_are_split_into_parts_in_their_order() {
        let mut counters = Counters::default();
        let acme = tenant("acme");
        let euros = Money::new(100, Currency::parse("EUR").unwrap());
        for number in 0..3 {
            let minute = MINUTE.plus_ms(60_000 * number);
            let call = (1500, CallResult::Succeeded);
            counters.count_request(Some(&acme), Mode::Test, minute, ("GET", None), call);
            counters.count_booking(&acme, minute, euros);
        }
        counters.count_call(&acme, &supplier_call("a", 5, CallResult::Succeeded));
        let whole = counters.take_all().into_rows("host");
        let (statistics, amounts) = (whole.statistics.clone(), whole.amounts.clone());
        assert_eq!(whole.remarkable.len(), 1);
        let parts = whole.into_parts(4);
        let last = parts.last().unwrap();
        assert!(parts.iter().all(|part| (1..=4).contains(&part.len())));
        assert_eq!(last.remarkable.len(), 1);
        let joined = parts.iter().flat_map(|part| part.statistics.clone());
        assert_eq!(joined.collect::<Vec<_>>(), statistics);
        let joined = parts.iter().flat_map(|part| part.amounts.clone());
        assert_eq!(joined.collect::<Vec<_>>(), amounts);
    }

    #[test]
    fn organizations_beyond_the_limit_count_for_all_only() {
        let mut counters = Counters::default();
        let call = (1500, CallResult::Succeeded);
        for number in 0..2 * ORGANIZATIONS_MAX {
            let tenant = tenant(&number.to_string());
            counters.count_request(Some(&tenant), Mode::Test, MINUTE, ("GET", None), call);
        }
        let rows = counters.take(MINUTE).into_rows("host").statistics;
        let organizations = rows.iter().filter(|(key, _)| {
            key.organization.is_some()
                && key.subject == StatisticsSubject::Total
                && key.resolution == TimeResolution::Minute
        });
        assert_eq!(organizations.count(), ORGANIZATIONS_MAX);
        let all = rows.iter().find(|(key, _)| key.organization.is_none());
        let all = all.map(|(_, calls)| calls.count);
        assert_eq!(all, u64::try_from(2 * ORGANIZATIONS_MAX).ok());
    }

    #[test]
    fn slowest_and_failed_calls_of_a_minute_are_remembered_once_it_is_over() {
        let mut counters = Counters::default();
        let acme = tenant("acme");
        for (id, ms) in [("a", 5), ("b", 50), ("c", 1), ("d", 500), ("e", 50)] {
            counters.count_call(&acme, &supplier_call(id, ms, CallResult::Succeeded));
        }
        for id in ["v", "w", "x", "y"] {
            counters.count_call(&acme, &supplier_call(id, 0, CallResult::ServerError));
        }
        assert_eq!(counters.take(MINUTE).into_rows("host").remarkable, []);
        let later = MINUTE.plus_ms(60_000);
        let rows = counters.take(later).into_rows("host").remarkable;
        let ids = |reason| {
            let calls = rows.iter().filter(|call| call.reason == reason);
            calls
                .map(|call| call.request_id.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(RemarkableReason::Slow), ["d", "b", "e"]);
        assert_eq!(ids(RemarkableReason::Failed), ["v", "w", "x"]);
    }
}
