//! One call of the sample traffic: its request, its result and its duration.

use crate::demo::traveller::traveller;
use host_api::error_code::ErrorCode;
use host_domain::request_log::{LoggedBodies, LoggedBody};
use host_domain::statistics::CallResult;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Timestamp;
use host_runtime::{ExchangeOutcome, PluginCallOutcome};
use sandbox::credentials::{Credential, SANDBOX_HOTELS, SUPPLIER_A};
use serde_json::{Value, json};

/// A request that the sample traffic repeats.
pub(super) struct SampleRequest {
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

const SAMPLE_REQUESTS: [SampleRequest; 4] = [
    SampleRequest {
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
    SampleRequest {
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
    SampleRequest {
        method: "GET",
        route: "/v1/hotel/bookings",
        share: 13,
        usual_us: 3_000,
        priced_by: None,
    },
    SampleRequest {
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
    pub(super) code: ErrorCode,
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

const CLIENT_ERROR: SampleFailure = SampleFailure {
    code: ErrorCode::ValidationFailed,
    supplier: None,
};

const SUPPLIER_FAILURES: [SampleFailure; 3] = [
    SampleFailure {
        code: ErrorCode::SupplierTimeout,
        supplier: Some(SupplierFailure {
            outcome: PluginCallOutcome::TimedOut,
            exchange: ExchangeOutcome::TimedOut,
            duration_us: Some(10_000_000),
        }),
    },
    SampleFailure {
        code: ErrorCode::SupplierError,
        supplier: Some(SupplierFailure {
            outcome: PluginCallOutcome::InvalidResponse,
            exchange: ExchangeOutcome::Completed,
            duration_us: None,
        }),
    },
    SampleFailure {
        code: ErrorCode::SupplierUnavailable,
        supplier: Some(SupplierFailure {
            outcome: PluginCallOutcome::Unavailable,
            exchange: ExchangeOutcome::ConnectionLost,
            duration_us: Some(2_000),
        }),
    },
];

/// One of this many calls is an error of the client.
const CLIENT_ERROR_INTERVAL: u64 = 23;
/// One of this many calls fails at the supplier.
const SUPPLIER_FAILURE_INTERVAL: u64 = 41;
/// Time that the gateway takes besides the supplier, in microseconds.
const GATEWAY_US: u64 = 3_000;
/// Time that a plugin takes besides its HTTP request, in microseconds.
const PLUGIN_US: u64 = 700;

/// A call.
pub(super) struct Call {
    pub(super) request: &'static SampleRequest,
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

/// Returns the call with this number. `jitter_percent`, below 100, varies its duration and its dates.
pub(super) fn sample_call(number: u64, jitter_percent: u64, at: Timestamp) -> Call {
    let request = sample_request(number);
    let is_priced = request.priced_by.is_some();
    let failure =
        if is_priced && number % SUPPLIER_FAILURE_INTERVAL == SUPPLIER_FAILURE_INTERVAL / 2 {
            let kinds = SUPPLIER_FAILURES.iter().cycle();
            let kind = usize::try_from(number / SUPPLIER_FAILURE_INTERVAL % 3).unwrap_or_default();
            kinds.copied().nth(kind)
        } else {
            let is_client_error =
                is_priced && number % CLIENT_ERROR_INTERVAL == CLIENT_ERROR_INTERVAL / 2;
            is_client_error.then_some(CLIENT_ERROR)
        };
    let slowness = if jitter_percent > 96 { 6 } else { 1 };
    let usual_us = GATEWAY_US + request.usual_us * (60 + jitter_percent) / 100 * slowness;
    let duration_us = match failure {
        None => usual_us,
        Some(SampleFailure { supplier, .. }) => match supplier {
            None => GATEWAY_US - 2 * jitter_percent,
            Some(failed) => failed.duration_us.map_or(usual_us, |us| GATEWAY_US + us),
        },
    };
    let (user, _, _) = traveller(usize::try_from(number % 7).unwrap_or_default());
    let day = |days: i64| at.plus_s(days * 86_400).date_utc().to_string();
    let ahead = i64::try_from(7 + jitter_percent % 60).unwrap_or_default();
    Call {
        request,
        user: user.to_lowercase(),
        failure,
        duration_us,
        days: [day(ahead), day(ahead + 3)],
    }
}

/// Returns the request of a call. Of a hundred calls, each request has its share.
fn sample_request(number: u64) -> &'static SampleRequest {
    let mut place = number * 37 % 100;
    for request in &SAMPLE_REQUESTS {
        if place < request.share {
            return request;
        }
        place -= request.share;
    }
    &SAMPLE_REQUESTS[0]
}

impl Call {
    pub(super) fn status(&self) -> u16 {
        self.failure
            .map_or(200, |failure| failure.code.info().status)
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
        let pricing = self.request.priced_by.as_ref()?;
        let failed = match self.failure {
            None => None,
            Some(failure) => Some(failure.supplier?),
        };
        let outcome = failed.map_or(PluginCallOutcome::Succeeded, |failed| failed.outcome);
        let exchange = failed.map_or(ExchangeOutcome::Completed, |failed| failed.exchange);
        let is_complete = exchange == ExchangeOutcome::Completed;
        let duration_us = self.duration_us.saturating_sub(GATEWAY_US);
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
        let request = match self.request.priced_by {
            Some(_) => body(&self.search()),
            None => LoggedBody::default(),
        };
        let response = match self.failure {
            Some(failure) => body(&failure.problem(request_id)),
            None if self.request.priced_by.is_some() => LoggedBody {
                bytes: 14_000 + self.duration_us / 100,
                text: None,
            },
            None => body(&json!({ "data": [], "meta": self.list_meta() })),
        };
        LoggedBodies { request, response }
    }

    /// Returns the body of a search. That of a client's error lacks a valid currency.
    fn search(&self) -> Value {
        let currency = match self.result() {
            CallResult::ClientError => "EURO",
            CallResult::Succeeded | CallResult::ServerError => "EUR",
        };
        let [first, last] = &self.days;
        let supplier = self.request.priced_by.as_ref();
        let supplier = supplier.map(|pricing| pricing.supplier.account);
        if self.request.route == "/v1/flight/offers" {
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
        match self.request.route {
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
        let info = self.code.info();
        json!({
            "status": info.status,
            "code": info.name,
            "title": info.title,
            "retryable": info.retryable,
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
