//! The parts of a request.

use crate::extract::{BodySchema, RequestPart, RequestReader, Validate, Violations, json};
use crate::openapi::describe::OperationInputs;
use crate::problem::ViolationLocation;
use crate::validation::escape;
use host_application::idempotency::IdempotentRequest;
use host_application::offers::service::OfferService;
use host_domain::owner::{Owner, Tenant};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

/// The JSON body, validated by the published schema of `T`.
#[derive(Debug, Clone)]
pub(crate) struct Body<T>(pub T);

/// A request with the reference of an offer.
pub(crate) trait OfferRequest: Validate {
    /// The terms of the offer.
    type Offer: Send;

    /// Opens the offer. Returns `None` if its reference is not valid for the tenant.
    fn open_offer(&self, offers: &OfferService, tenant: &Tenant) -> Option<Self::Offer>;

    /// Adds a violation for every value that does not fit the offer, in the way of [`Validate`].
    fn validate_with(&self, offer: &Self::Offer, found: &mut Violations<'_>);
}

/// The JSON body of a request for an offer, validated by the published schema of `T` and compared with
/// the offer. Opening an offer reads nothing, so that one response names all violations.
#[derive(Debug)]
pub(crate) struct OfferBody<T: OfferRequest> {
    pub request: T,
    /// The offer; `None` if its reference is not valid for the caller.
    pub offer: Option<T::Offer>,
}

/// The query, validated by the published schema of `T`, an object whose members are the parameters.
#[derive(Debug, Clone)]
pub(crate) struct Query<T>(pub T);

/// An identifier in the path.
#[derive(Debug, Clone)]
pub(crate) struct PathId<T>(pub T);

/// The header `x-idempotency-key`, with the fingerprint of the request. It is required; use
/// `Option<IdempotencyKeyHeader>` where it is optional.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKeyHeader<const MAX: usize = 200> {
    pub key: String,
    /// SHA-256 in hexadecimal of the path parameters and the parsed body. Member order and white
    /// space do not change it.
    pub fingerprint: String,
}

/// An optional idempotency key, and the body.
pub(crate) type KeyedBody<T> = (Option<IdempotencyKeyHeader>, Body<T>);

/// Returns the number of list items to return if the query names none.
pub(crate) const fn default_limit<const LIMIT: u32>() -> u32 {
    LIMIT
}

impl<const MAX: usize> IdempotencyKeyHeader<MAX> {
    pub(crate) fn for_operation(self, owner: &Owner, operation: &str) -> IdempotentRequest {
        IdempotentRequest::new(owner, operation, &self.key, self.fingerprint)
    }
}

pub(crate) trait PathParameter: Sized + Send {
    const NAME: &'static str;
    const PATTERN: &'static str;
    const CHARS_MAX: usize = 128;
    const DESCRIPTION: &'static str;

    fn parse(text: &str) -> Option<Self>;
}

macro_rules! path_ids {
    ($($id:ident $name:literal $pattern:literal $meaning:literal;)*) => {$(
        impl PathParameter for host_domain::id::$id {
            const NAME: &'static str = $name;
            const PATTERN: &'static str = $pattern;
            const DESCRIPTION: &'static str = $meaning;

            fn parse(text: &str) -> Option<Self> {
                host_domain::id::$id::parse(text).ok()
            }
        }
    )*};
}

path_ids! {
    BookingId "id" "^bkg_[a-zA-Z0-9-]+$" "Id of a booking.";
    HotelId "hotel_id" "^htl_[a-zA-Z0-9-]+$" "Id of a hotel in the gateway.";
    PlaceId "id" "^plc_[a-zA-Z0-9-]+$" "Id of a saved place.";
    MandateId "id" "^mnd_[a-zA-Z0-9-]+$" "Id of a mandate.";
    InstrumentId "id" "^inst_[a-zA-Z0-9-]+$" "Id of a payment instrument.";
    ListenSessionId "id" "^lsn_[a-zA-Z0-9-]+$" "Id of a connection of a program that receives events.";
    SubscriptionId "id" "^whs_[a-zA-Z0-9-]+$" "Id of a webhook subscription.";
    WatchId "watch_id" "^wtc_[a-zA-Z0-9-]+$" "Id of a watch.";
    DeliveryId "delivery_id" "^dlv_[a-zA-Z0-9-]+$" "Id of a delivery to the subscription.";
}

impl<T: ToSchema + DeserializeOwned + Validate + Send + 'static> RequestPart for Body<T> {
    fn body_schema(incoming: &RequestReader<'_>) -> BodySchema {
        Some(incoming.validators.get::<T>())
    }

    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        let now = incoming.now;
        extract_body(incoming, |request: &T, found| request.validate(now, found)).map(Self)
    }

    fn describe(inputs: &mut OperationInputs) {
        inputs.body::<T>(true);
    }
}

impl<T: ToSchema + DeserializeOwned + OfferRequest + Send + 'static> RequestPart for OfferBody<T> {
    fn body_schema(incoming: &RequestReader<'_>) -> BodySchema {
        Some(incoming.validators.get::<T>())
    }

    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        let (now, offers, caller) = (incoming.now, incoming.offers, incoming.caller);
        let mut offer = None;
        let request = extract_body(incoming, |request: &T, found| {
            request.validate(now, found);
            offer = caller.and_then(|caller| request.open_offer(offers, &caller.owner.tenant));
            if let Some(offer) = &offer {
                request.validate_with(offer, found);
            }
        })?;
        Some(Self { request, offer })
    }

    fn describe(inputs: &mut OperationInputs) {
        inputs.body::<T>(true);
    }
}

/// Parses the body, and checks its rules with `check`.
fn extract_body<T: ToSchema + DeserializeOwned + 'static>(
    incoming: &mut RequestReader<'_>,
    check: impl FnOnce(&T, &mut Violations<'_>),
) -> Option<T> {
    let Some(json) = incoming.json.take() else {
        let detail = "a JSON body is required";
        incoming.report(ViolationLocation::Body, "", "required", detail);
        return None;
    };
    let read = incoming.parse_and_check(ViolationLocation::Body, &json, check);
    incoming.json = Some(json);
    read
}

impl<T: ToSchema + DeserializeOwned + Validate + Send + 'static> RequestPart for Option<Body<T>> {
    fn body_schema(incoming: &RequestReader<'_>) -> BodySchema {
        Some(incoming.validators.get::<T>())
    }

    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        if incoming.json.is_none() {
            return Some(None);
        }
        Body::extract(incoming).map(Some)
    }

    fn describe(inputs: &mut OperationInputs) {
        inputs.body::<T>(false);
    }
}

impl<T: ToSchema + DeserializeOwned + Validate + Send + 'static> RequestPart for Query<T> {
    const READS_QUERY: bool = true;

    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        let compiled = incoming.validators.get::<T>().ok();
        let mut object = Map::new();
        for (name, text) in incoming.query_parameters() {
            let value = compiled.as_ref().map_or(Value::Null, |compiled| {
                compiled.parse_parameter(&name, text)
            });
            if object.contains_key(&name) {
                let pointer = format!("/{}", escape(&name));
                incoming.report(
                    ViolationLocation::Query,
                    &pointer,
                    "duplicate",
                    "given more than once",
                );
            }
            object.insert(name, value);
        }
        let (now, location) = (incoming.now, ViolationLocation::Query);
        let object = Value::Object(object);
        let read = incoming.parse_and_check(location, &object, |query: &T, found| {
            query.validate(now, found);
        });
        read.map(Self)
    }

    fn describe(inputs: &mut OperationInputs) {
        inputs.query::<T>();
    }
}

impl<T: PathParameter> RequestPart for PathId<T> {
    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        let text = incoming.path.iter().find(|(name, _)| name == T::NAME);
        let text = text.map(|(_, text)| text.as_str());
        let short = text.filter(|text| text.chars().count() <= T::CHARS_MAX);
        let read = short.and_then(T::parse);
        if read.is_none() {
            let (pattern, most) = (T::PATTERN, T::CHARS_MAX);
            let detail = format!("must match {pattern} and have at most {most} characters");
            incoming.report(
                ViolationLocation::Path,
                &format!("/{}", T::NAME),
                "pattern",
                detail,
            );
        }
        read.map(Self)
    }

    fn describe(inputs: &mut OperationInputs) {
        inputs.path_parameter(T::NAME, T::DESCRIPTION, T::PATTERN, T::CHARS_MAX);
    }
}

const IDEMPOTENCY_KEY: &str = "x-idempotency-key";
/// The header in violations.
const HEADER: &str = "/x-idempotency-key";

impl<const MAX: usize> RequestPart for IdempotencyKeyHeader<MAX> {
    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        match <Option<Self> as RequestPart>::extract(incoming) {
            Some(None) => {
                incoming.report(
                    ViolationLocation::Header,
                    HEADER,
                    "required",
                    "the header is required",
                );
                None
            }
            key => key.flatten(),
        }
    }

    fn describe(inputs: &mut OperationInputs) {
        inputs.idempotency_key(true, MAX);
    }
}

impl<const MAX: usize> RequestPart for Option<IdempotencyKeyHeader<MAX>> {
    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        let mut values = incoming.headers.get_all(IDEMPOTENCY_KEY).iter();
        let Some(value) = values.next() else {
            return Some(None);
        };
        let key = value
            .to_str()
            .ok()
            .filter(|key| (1..=MAX).contains(&key.len()))
            // A tab is valid in a header value, but not in a key.
            .filter(|key| key.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        match key.filter(|_| values.next().is_none()) {
            Some(key) => Some(Some(IdempotencyKeyHeader {
                key: key.to_owned(),
                fingerprint: fingerprint(incoming),
            })),
            None => {
                let detail =
                    format!("must be sent once and have 1 to {MAX} printable ASCII characters");
                incoming.report(ViolationLocation::Header, HEADER, "pattern", detail);
                None
            }
        }
    }

    fn describe(inputs: &mut OperationInputs) {
        inputs.idempotency_key(false, MAX);
    }
}

/// Returns the hash that identifies a request. Two requests with the same hash are the same
/// request.
fn fingerprint(incoming: &RequestReader<'_>) -> String {
    let mut hash = Sha256::new();
    for (name, value) in &incoming.path {
        hash.update(name);
        hash.update([0]);
        hash.update(value);
        hash.update([0]);
    }
    // If the body is optional, `{}` means the same as no body.
    if let Some(json) = incoming.json.as_ref().filter(|json| !json::is_empty(json)) {
        hash.update(json::canonical(json));
    }
    hex::encode(hash.finalize())
}
