//! One call of the traffic of a past day: what was asked, how it ended and how long it took.

use crate::demo::traveller::traveller;
use host_domain::request_log::{LoggedBodies, LoggedBody};
use host_domain::statistics::CallResult;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Timestamp;
use host_runtime::{ExchangeOutcome, PluginCallOutcome};
use sandbox::credentials::{Credential, SANDBOX_HOTELS, SUPPLIER_A};
use serde_json::{Value, json};

/// An operation of the API.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) route: &'static str,
    /// Share of all calls in percent.
    share: u64,
    usual_us: u64,
    /// The supplier that prices what is searched. `None` for a list of bookings.
    priced_by: Option<Pricing>,
}

/// A supplier's function that prices.
struct Pricing {
    supplier: Credential,
    capability: Capability,
    /// Path of the plugin's HTTP request.
    path: &'static str,
}

const OPERATIONS: [Operation; 4] = [
    Operation {
        method: "POST",
        route: "/v1/hotel/offers",
        share: 55,
        usual_us: 80_000,
        priced_by: Some(Pricing {
            supplier: SANDBOX_HOTELS,
            capability: Capability::HotelPricing,
            path: "/lodge/v1/rates",
        }),
    },
    Operation {
        method: "POST",
        route: "/v1/flight/offers",
        share: 25,
        usual_us: 140_000,
        priced_by: Some(Pricing {
            supplier: SUPPLIER_A,
            capability: Capability::FlightPricing,
            path: "/skylane/offers/search",
        }),
    },
    Operation {
        method: "GET",
        route: "/v1/hotel/bookings",
        share: 13,
        usual_us: 3_000,
        priced_by: None,
    },
    Operation {
        method: "GET",
        route: "/v1/flight/bookings",
        share: 7,
        usual_us: 4_000,
        priced_by: None,
    },
];

/// The reason of a failure, as the API states it.
#[derive(Clone, Copy)]
pub(super) struct SampleFailure {
    status: u16,
    pub(super) code: &'static str,
    title: &'static str,
    retryable: bool,
    /// What happened at the supplier. `None` if the call was refused before.
    supplier: Option<SupplierFailure>,
}

#[derive(Clone, Copy)]
struct SupplierFailure {
    outcome: PluginCallOutcome,
    exchange: ExchangeOutcome,
    /// Duration of the plugin's call; `None` if it is as usual.
    duration_us: Option<u64>,
}

const MISTAKE: SampleFailure = SampleFailure {
    status: 400,
    code: "validation_failed",
    title: "The request is not valid",
    retryable: false,
    supplier: None,
};

const SUPPLIER_FAILURES: [SampleFailure; 3] = [
    SampleFailure {
        status: 504,
        code: "supplier_timeout",
        title: "The supplier did not answer in time",
        retryable: true,
        supplier: Some(SupplierFailure {
            outcome: PluginCallOutcome::TimedOut,
            exchange: ExchangeOutcome::TimedOut,
            duration_us: Some(10_000_000),
        }),
    },
    SampleFailure {
        status: 502,
        code: "supplier_error",
        title: "The supplier's answer cannot be used",
        retryable: true,
        supplier: Some(SupplierFailure {
            outcome: PluginCallOutcome::InvalidResponse,
            exchange: ExchangeOutcome::Completed,
            duration_us: None,
        }),
    },
    SampleFailure {
        status: 503,
        code: "supplier_unavailable",
        title: "The supplier cannot be reached",
        retryable: true,
        supplier: Some(SupplierFailure {
            outcome: PluginCallOutcome::Unavailable,
            exchange: ExchangeOutcome::ConnectionLost,
            duration_us: Some(2_000),
        }),
    },
];

/// Number of calls of which one is a mistake of the client.
const MISTAKE_EACH: u64 = 23;
/// Number of calls of which one fails at the supplier.
const SUPPLIER_FAILURE_EACH: u64 = 41;
/// Time that the gateway takes besides the supplier, in microseconds.
const OWN_US: u64 = 3_000;
/// Time that a plugin takes besides its HTTP request, in microseconds.
const PLUGIN_US: u64 = 700;

/// A call.
pub(super) struct Call {
    pub(super) operation: &'static Operation,
    pub(super) user: String,
    pub(super) failure: Option<SampleFailure>,
    pub(super) duration_us: u64,
    /// Dates of the stay or of the journey.
    days: [String; 2],
}

/// The call of a supplier's plugin, with the HTTP request that it made.
pub(super) struct SupplierCall {
    pub(super) supplier: SupplierId,
    pub(super) capability: Capability,
    pub(super) function: &'static str,
    pub(super) outcome: PluginCallOutcome,
    pub(super) duration_us: u64,
    pub(super) exchange_outcome: ExchangeOutcome,
    /// `None` without a complete response.
    pub(super) exchange_status: Option<u16>,
    pub(super) exchange_us: u64,
    /// Path of the HTTP request.
    pub(super) path: &'static str,
    pub(super) request_bytes: u64,
    pub(super) response_bytes: u64,
}

/// Returns the call with this number. `spread` is below 100 and moves its duration.
pub(super) fn call(number: u64, spread: u64, at: Timestamp) -> Call {
    let operation = operation(number);
    let is_priced = operation.priced_by.is_some();
    let failure = if is_priced && number % SUPPLIER_FAILURE_EACH == SUPPLIER_FAILURE_EACH / 2 {
        let kinds = SUPPLIER_FAILURES.iter().cycle();
        let kind = usize::try_from(number / SUPPLIER_FAILURE_EACH % 3).unwrap_or_default();
        kinds.copied().nth(kind)
    } else {
        let is_mistake = is_priced && number % MISTAKE_EACH == MISTAKE_EACH / 2;
        is_mistake.then_some(MISTAKE)
    };
    let slowness = if spread > 96 { 6 } else { 1 };
    let usual_us = OWN_US + operation.usual_us * (60 + spread) / 100 * slowness;
    let duration_us = match failure {
        None => usual_us,
        Some(SampleFailure { supplier, .. }) => match supplier {
            None => OWN_US - 2 * spread,
            Some(failed) => failed.duration_us.map_or(usual_us, |us| OWN_US + us),
        },
    };
    let (user, _, _) = traveller(usize::try_from(number % 7).unwrap_or_default());
    let day = |days: i64| at.plus_s(days * 86_400).date_utc().to_string();
    let ahead = i64::try_from(7 + spread % 60).unwrap_or_default();
    Call {
        operation,
        user: user.to_lowercase(),
        failure,
        duration_us,
        days: [day(ahead), day(ahead + 3)],
    }
}

/// Returns the operation of a call. Of a hundred calls, each operation has its share.
fn operation(number: u64) -> &'static Operation {
    let mut place = number * 37 % 100;
    for operation in &OPERATIONS {
        if place < operation.share {
            return operation;
        }
        place -= operation.share;
    }
    &OPERATIONS[0]
}

impl Call {
    pub(super) fn status(&self) -> u16 {
        self.failure.map_or(200, |failure| failure.status)
    }

    /// Returns how the statistics count the call.
    pub(super) fn result(&self) -> CallResult {
        match self.failure {
            None => CallResult::Succeeded,
            Some(failure) if failure.supplier.is_some() => CallResult::ServerError,
            Some(_) => CallResult::ClientError,
        }
    }

    /// Returns the call of the supplier, if there was one.
    pub(super) fn supplier_call(&self) -> Option<SupplierCall> {
        let pricing = self.operation.priced_by.as_ref()?;
        let failed = match self.failure {
            None => None,
            Some(failure) => Some(failure.supplier?),
        };
        let outcome = failed.map_or(PluginCallOutcome::Succeeded, |failed| failed.outcome);
        let exchange = failed.map_or(ExchangeOutcome::Completed, |failed| failed.exchange);
        let is_complete = exchange == ExchangeOutcome::Completed;
        let duration_us = self.duration_us.saturating_sub(OWN_US);
        Some(SupplierCall {
            supplier: SupplierId::parse(pricing.supplier.account).ok()?,
            capability: pricing.capability,
            function: "price",
            outcome,
            duration_us,
            exchange_outcome: exchange,
            exchange_status: is_complete.then_some(200),
            exchange_us: duration_us.saturating_sub(PLUGIN_US),
            path: pricing.path,
            request_bytes: 240,
            response_bytes: if is_complete { 9_600 } else { 0 },
        })
    }

    /// Returns the bodies: no body of a successful search was short enough to be recorded.
    pub(super) fn bodies(&self, request_id: &str) -> LoggedBodies {
        let request = match self.operation.priced_by {
            Some(_) => body(&self.search()),
            None => LoggedBody::default(),
        };
        let response = match self.failure {
            Some(failure) => body(&failure.problem(request_id)),
            None if self.operation.priced_by.is_some() => LoggedBody {
                bytes: 14_000 + self.duration_us / 100,
                text: None,
            },
            None => body(&json!({ "data": [], "meta": self.list_meta() })),
        };
        LoggedBodies { request, response }
    }

    /// Returns the body of a search. That of a mistake lacks a valid currency.
    fn search(&self) -> Value {
        let currency = match self.result() {
            CallResult::ClientError => "EURO",
            CallResult::Succeeded | CallResult::ServerError => "EUR",
        };
        let [first, last] = &self.days;
        let supplier = self.operation.priced_by.as_ref();
        let supplier = supplier.map(|pricing| pricing.supplier.account);
        if self.operation.route == "/v1/flight/offers" {
            return json!({
                "supplier": supplier,
                "journeys": [{ "origin": "LHR", "destination": "JFK", "date": first }],
                "passengers": { "adults": 1 },
                "currency": currency,
            });
        }
        json!({
            "supplier": supplier,
            "supplier_hotel_ids": ["OK"],
            "check_in": first,
            "check_out": last,
            "occupancy": [{ "adults": 2, "children": [] }],
            "currency": currency,
        })
    }

    fn list_meta(&self) -> Value {
        match self.operation.route {
            "/v1/flight/bookings" => {
                json!({ "limit": 20, "offset": 0, "has_more": false, "total": 0 })
            }
            _ => json!({ "limit": 20, "offset": 0, "has_more": false }),
        }
    }
}

impl SupplierCall {
    pub(super) const fn is_failure(&self) -> bool {
        !matches!(self.outcome, PluginCallOutcome::Succeeded)
    }

    /// Returns how the statistics count the call.
    pub(super) const fn result(&self) -> CallResult {
        if self.is_failure() {
            CallResult::ServerError
        } else {
            CallResult::Succeeded
        }
    }

    /// Returns the name of the function in the statistics.
    pub(super) fn operation(&self) -> String {
        format!("{}.{}", self.capability.as_str(), self.function)
    }
}

impl SampleFailure {
    fn problem(&self, request_id: &str) -> Value {
        json!({
            "status": self.status,
            "code": self.code,
            "title": self.title,
            "retryable": self.retryable,
            "request_id": request_id,
        })
    }
}

fn body(content: &Value) -> LoggedBody {
    let text = content.to_string();
    LoggedBody {
        bytes: u64::try_from(text.len()).unwrap_or_default(),
        text: Some(text),
    }
}
