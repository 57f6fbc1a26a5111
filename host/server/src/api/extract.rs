//! Reading a request: everything that is wrong with it is found before anything
//! is done, and reported at once.
//!
//! A handler takes [`Valid<T>`], where `T` is one [`Part`] or a tuple of them:
//! `Valid((id, key, Body(request)))`. Parts also describe themselves, so that the
//! API document cannot say anything else than what is read.

use crate::api::code::Code;
use crate::api::document::Inputs;
use crate::api::problem::{ApiError, Place, Violation};
use crate::app::App;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use bytes::Bytes;
use host_domain::time::Timestamp;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Uri};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use utoipa::ToSchema;

/// Longest body, in bytes.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Query parameters that are looked at; more are refused without reading them.
const PARAMETERS_MAX: usize = 100;

/// A request that has been checked as a whole.
#[derive(Debug, Clone)]
pub struct Valid<T>(pub T);

/// What a request brought, while its parts are being read.
pub struct Incoming<'a> {
    app: &'a App,
    headers: &'a HeaderMap,
    uri: &'a Uri,
    path: Vec<(String, String)>,
    /// The JSON of the body, when a part reads it.
    json: Option<Value>,
    now: Timestamp,
    found: Vec<Violation>,
}

/// Something that a request must, or may, bring.
pub trait Part: Sized + Send {
    /// Whether it reads the JSON body.
    const READS_BODY: bool = false;
    /// Whether it reads the query.
    const READS_QUERY: bool = false;

    /// Reads it. None: violations were noted.
    fn take(incoming: &mut Incoming<'_>) -> Option<Self>;

    /// Adds it to the API document.
    fn describe(inputs: &mut Inputs);
}

/// Rules of a request that a schema cannot say.
pub trait Rules {
    /// Notes every violation; pointers begin at the request, e.g. `/check_out`.
    fn check(&self, now: Timestamp, found: &mut Found<'_>) {
        let _ = (now, found);
    }
}

/// Where [`Rules`] note what they find.
pub struct Found<'a> {
    place: Place,
    violations: &'a mut Vec<Violation>,
}

impl Found<'_> {
    /// Notes a violation. `code` is a stable word, e.g. `one_adult_lead_required`.
    pub fn push(&mut self, pointer: impl Into<String>, code: &str, detail: impl Into<String>) {
        self.violations
            .push(Violation::at(self.place, pointer, code, detail));
    }
}

/// The JSON body, which has the published schema of `T`.
#[derive(Debug, Clone)]
pub struct Body<T>(pub T);

/// The query, which has the published schema of `T`: an object whose members are
/// the parameters.
#[derive(Debug, Clone)]
pub struct Query<T>(pub T);

/// An identifier in the path.
#[derive(Debug, Clone)]
pub struct Id<T>(pub T);

/// `x-idempotency-key`, with the fingerprint of the request that it stands for.
/// Required; take `Option<IdempotencyKey>` where it is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey<const MAX: usize = 200> {
    /// The caller's key.
    pub key: String,
    /// SHA-256 in hex over the path's identifiers and the parsed body: member
    /// order and white space do not matter.
    pub fingerprint: String,
}

/// A value that stands in a path.
pub trait PathValue: Sized + Send {
    /// The parameter's name in the route, e.g. `id`.
    const NAME: &'static str;
    /// Its form as a regular expression.
    const PATTERN: &'static str;
    /// Longest, in characters.
    const CHARS_MAX: usize = 128;
    /// What it is the id of.
    const MEANING: &'static str;

    /// Reads it.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! path_ids {
    ($($id:ident $name:literal $pattern:literal $meaning:literal;)*) => {$(
        impl PathValue for host_domain::id::$id {
            const NAME: &'static str = $name;
            const PATTERN: &'static str = $pattern;
            const MEANING: &'static str = $meaning;

            fn read(text: &str) -> Option<Self> {
                Self::parse(text).ok()
            }
        }
    )*};
}

path_ids! {
    BookingId "id" "^bkg_[a-zA-Z0-9-]+$" "Id of a booking.";
    HotelId "hotel_id" "^htl_[a-zA-Z0-9-]+$" "Id of a hotel, as the gateway names it.";
    PlaceId "id" "^plc_[a-zA-Z0-9-]+$" "Id of a saved place.";
    InstrumentId "id" "^inst_[a-zA-Z0-9-]+$" "Id of a payment instrument.";
}

impl<T: Part> FromRequest<Arc<App>> for Valid<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let params = RawPathParams::from_request_parts(&mut parts, app).await;
        let mut found = Vec::new();
        let path = match &params {
            Ok(params) => params
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            Err(_) => {
                found.push(Violation::at(
                    Place::Path,
                    "",
                    "format",
                    "the path is not UTF-8 text",
                ));
                Vec::new()
            }
        };
        let json = if T::READS_BODY {
            Some(read_json(&parts.headers, body, app).await?)
        } else {
            None
        };
        let mut incoming = Incoming {
            app,
            headers: &parts.headers,
            uri: &parts.uri,
            path,
            json: json.flatten(),
            now: app.clock.now(),
            found,
        };
        if !T::READS_QUERY {
            incoming.refuse_parameters();
        }
        let taken = T::take(&mut incoming);
        match taken {
            Some(taken) if incoming.found.is_empty() => Ok(Self(taken)),
            _ => Err(ApiError::violations(incoming.found)),
        }
    }
}

/// The body as JSON; none when it is empty.
async fn read_json(
    headers: &HeaderMap,
    body: axum::body::Body,
    app: &App,
) -> Result<Option<Value>, ApiError> {
    let declared = headers
        .get(http::header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    if declared
        .and_then(|length| length.parse::<u64>().ok())
        .is_some_and(|length| length > BODY_BYTES_MAX as u64)
    {
        return Err(Code::BodyTooLarge.into());
    }
    let patience = std::time::Duration::from_secs(app.config.limits.request_s);
    let bytes =
        match tokio::time::timeout(patience, axum::body::to_bytes(body, BODY_BYTES_MAX)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) if is_too_long(&error) => return Err(Code::BodyTooLarge.into()),
            Ok(Err(_)) => {
                return Err(ApiError::from(Code::MalformedJson).detail("the body was cut off"));
            }
            Err(_) => {
                return Err(
                    ApiError::from(Code::MalformedJson).detail("the body did not arrive in time")
                );
            }
        };
    if bytes.is_empty() && !headers.contains_key(CONTENT_TYPE) {
        return Ok(None);
    }
    if !is_json(headers) {
        return Err(Code::UnsupportedMediaType.into());
    }
    parse(&bytes)
}

fn parse(bytes: &Bytes) -> Result<Option<Value>, ApiError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(bytes).map(Some).map_err(|error| {
        let detail = format!(
            "not JSON at line {}, column {}",
            error.line(),
            error.column()
        );
        ApiError::from(Code::MalformedJson).detail(detail)
    })
}

fn is_too_long(error: &axum::Error) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = source {
        if cause.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = cause.source();
    }
    false
}

/// `application/json`, with whatever parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

impl Incoming<'_> {
    fn note(&mut self, place: Place, pointer: &str, code: &str, detail: impl Into<String>) {
        self.found.push(Violation::at(place, pointer, code, detail));
    }

    fn refuse_parameters(&mut self) {
        for (name, _) in self.parameters() {
            self.note(
                Place::Query,
                &format!("/{name}"),
                "unknown_field",
                "there is no such parameter",
            );
        }
    }

    /// Names and values of the query, decoded. Too many are a violation.
    fn parameters(&mut self) -> Vec<(String, String)> {
        let query = self.uri.query().unwrap_or_default();
        let mut parameters = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            if parameters.len() == PARAMETERS_MAX {
                self.note(
                    Place::Query,
                    "",
                    "too_many",
                    format!("at most {PARAMETERS_MAX} parameters"),
                );
                return Vec::new();
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match (decode(name), decode(value)) {
                (Some(name), Some(value)) => parameters.push((name, value)),
                _ => self.note(Place::Query, "", "format", "not percent-encoded UTF-8"),
            }
        }
        parameters
    }

    /// Checks a value against schema and rules, and reads it.
    fn read<T: ToSchema + DeserializeOwned + Rules + 'static>(
        &mut self,
        place: Place,
        value: &Value,
    ) -> Option<T> {
        let compiled = match self.app.schemas.of::<T>() {
            Ok(compiled) => compiled,
            Err(error) => {
                tracing::error!(%error, "a request cannot be checked");
                self.note(
                    place,
                    "",
                    "unchecked",
                    "the gateway cannot check this request",
                );
                return None;
            }
        };
        let before = self.found.len();
        let known = compiled.check(place, value, &mut self.found);
        match serde_path_to_error::deserialize::<_, T>(known) {
            Ok(read) => {
                read.check(
                    self.now,
                    &mut Found {
                        place,
                        violations: &mut self.found,
                    },
                );
                Some(read)
            }
            Err(_) if self.found.len() > before => None,
            Err(error) => {
                let pointer = pointer(error.path());
                self.note(place, &pointer, "invalid", error.inner().to_string());
                None
            }
        }
    }
}

/// `application/x-www-form-urlencoded` text; none when it is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let segments = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    segments.fold(String::new(), |pointer, segment| {
        format!("{pointer}/{segment}")
    })
}

impl<T: ToSchema + DeserializeOwned + Rules + Send + 'static> Part for Body<T> {
    const READS_BODY: bool = true;

    fn take(incoming: &mut Incoming<'_>) -> Option<Self> {
        let Some(json) = incoming.json.take() else {
            incoming.note(Place::Body, "", "required", "a JSON body is required");
            return None;
        };
        let read = incoming.read(Place::Body, &json);
        incoming.json = Some(json);
        read.map(Self)
    }

    fn describe(inputs: &mut Inputs) {
        inputs.body::<T>();
    }
}

impl<T: ToSchema + DeserializeOwned + Rules + Send + 'static> Part for Query<T> {
    const READS_QUERY: bool = true;

    fn take(incoming: &mut Incoming<'_>) -> Option<Self> {
        let compiled = incoming.app.schemas.of::<T>().ok();
        let mut object = Map::new();
        for (name, text) in incoming.parameters() {
            let value = compiled
                .as_ref()
                .map_or(Value::Null, |compiled| compiled.read_parameter(&name, text));
            if object.contains_key(&name) {
                incoming.note(
                    Place::Query,
                    &format!("/{name}"),
                    "duplicate",
                    "given more than once",
                );
            }
            object.insert(name, value);
        }
        incoming
            .read(Place::Query, &Value::Object(object))
            .map(Self)
    }

    fn describe(inputs: &mut Inputs) {
        inputs.query::<T>();
    }
}

impl<T: PathValue> Part for Id<T> {
    fn take(incoming: &mut Incoming<'_>) -> Option<Self> {
        let text = incoming
            .path
            .iter()
            .find(|(name, _)| name == T::NAME)
            .map(|(_, text)| text.as_str());
        let read = text
            .filter(|text| text.chars().count() <= T::CHARS_MAX)
            .and_then(T::read);
        if read.is_none() {
            let detail = format!(
                "must match {} and have at most {} characters",
                T::PATTERN,
                T::CHARS_MAX
            );
            incoming.note(Place::Path, &format!("/{}", T::NAME), "pattern", detail);
        }
        read.map(Self)
    }

    fn describe(inputs: &mut Inputs) {
        inputs.path_value::<T>();
    }
}

const IDEMPOTENCY_KEY: &str = "x-idempotency-key";

impl<const MAX: usize> Part for IdempotencyKey<MAX> {
    fn take(incoming: &mut Incoming<'_>) -> Option<Self> {
        match <Option<Self> as Part>::take(incoming) {
            Some(None) => {
                incoming.note(
                    Place::Header,
                    "/x-idempotency-key",
                    "required",
                    "the header is required",
                );
                None
            }
            key => key.flatten(),
        }
    }

    fn describe(inputs: &mut Inputs) {
        inputs.idempotency_key(true, MAX);
    }
}

impl<const MAX: usize> Part for Option<IdempotencyKey<MAX>> {
    fn take(incoming: &mut Incoming<'_>) -> Option<Self> {
        let mut values = incoming.headers.get_all(IDEMPOTENCY_KEY).iter();
        let Some(value) = values.next() else {
            return Some(None);
        };
        let key = value
            .to_str()
            .ok()
            .filter(|key| (1..=MAX).contains(&key.len()));
        match key.filter(|_| values.next().is_none()) {
            Some(key) => Some(Some(IdempotencyKey {
                key: key.to_owned(),
                fingerprint: fingerprint(incoming),
            })),
            None => {
                let detail =
                    format!("must be sent once and have 1 to {MAX} visible ASCII characters");
                incoming.note(Place::Header, "/x-idempotency-key", "pattern", detail);
                None
            }
        }
    }

    fn describe(inputs: &mut Inputs) {
        inputs.idempotency_key(false, MAX);
    }
}

/// What makes two requests the same one.
fn fingerprint(incoming: &Incoming<'_>) -> String {
    let mut hash = Sha256::new();
    for (name, value) in &incoming.path {
        hash.update(name);
        hash.update([0]);
        hash.update(value);
        hash.update([0]);
    }
    if let Some(json) = &incoming.json {
        hash.update(canonical(json));
    }
    hex::encode(hash.finalize())
}

/// JSON text with the members of every object in order.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            let members = sorted.into_iter().map(|(name, member)| {
                format!("{}:{}", Value::from(name.as_str()), canonical(member))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(elements) => format!(
            "[{}]",
            elements.iter().map(canonical).collect::<Vec<_>>().join(",")
        ),
        scalar => scalar.to_string(),
    }
}

/// Nothing is read: a call without body and parameters.
impl Part for () {
    fn take(_: &mut Incoming<'_>) -> Option<Self> {
        Some(())
    }

    fn describe(_: &mut Inputs) {}
}

macro_rules! tuples {
    ($(($($part:ident),+);)*) => {$(
        impl<$($part: Part),+> Part for ($($part,)+) {
            const READS_BODY: bool = $($part::READS_BODY)||+;
            const READS_QUERY: bool = $($part::READS_QUERY)||+;

            #[expect(non_snake_case, reason = "a variable for each type")]
            fn take(incoming: &mut Incoming<'_>) -> Option<Self> {
                // Every part is read before any is given up, so that all violations are found.
                $(let $part = $part::take(incoming);)+
                Some(($($part?,)+))
            }

            fn describe(inputs: &mut Inputs) {
                $($part::describe(inputs);)+
            }
        }
    )*};
}

tuples! {
    (A, B);
    (A, B, C);
    (A, B, C, D);
}
