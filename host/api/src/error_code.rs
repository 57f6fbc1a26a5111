//! All error codes of the API with their public properties. Status, title and retryability are
//! defined only here.

use http::StatusCode;

/// Fixed properties of an error code.
#[derive(Debug, Clone, Copy)]
pub struct ErrorCodeInfo {
    /// Stable name in responses.
    pub name: &'static str,
    pub status: u16,
    /// Whether the same request may be sent again. An occurrence that requires a correction first
    /// is not retryable, whatever its code.
    pub retryable: bool,
    /// Short title, the same for every occurrence.
    pub title: &'static str,
    /// Meaning and remedy, for the documentation.
    pub description: &'static str,
}

macro_rules! codes {
    ($($variant:ident = $status:literal $name:literal $retry:ident $title:literal $meaning:literal;)*) => {
        /// An error code of the API.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $variant,)*
        }

        impl ErrorCode {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub const fn info(self) -> ErrorCodeInfo {
                match self {
                    $(Self::$variant => ErrorCodeInfo {
                        name: $name,
                        status: $status,
                        retryable: codes!(@retry $retry),
                        title: $title,
                        description: $meaning,
                    },)*
                }
            }
        }
    };
    (@retry again) => { true };
    (@retry never) => { false };
}

codes! {
    ValidationFailed = 400 "validation_failed" never "The request is not valid"
        "One or more values are missing, unknown or out of range. `errors` names every one of them.";
    MalformedJson = 400 "malformed_json" never "The body is not JSON"
        "The body cannot be read as JSON text in UTF-8, or is nested too deeply.";
    MalformedRequest = 400 "malformed_request" never "This is not an HTTP request"
        "The request line or a header cannot be read.";
    MissingApiKey = 401 "missing_api_key" never "An API key is required"
        "The header x-api-key is missing.";
    InvalidApiKey = 401 "invalid_api_key" never "The API key is not valid"
        "The key is malformed, unknown, revoked or expired.";
    OrganizationMismatch = 403 "organization_mismatch" never "The key belongs to another organization"
        "x-organization-id names another organization than the key's.";
    InvalidSignature = 401 "invalid_signature" never "The delivery is not the supplier's"
        "The supplier's signature is missing, wrong or too old.";
    InsufficientScope = 403 "insufficient_scope" never "The key may not do this"
        "The key lacks the scope of this operation.";
    HostNotAllowed = 403 "host_not_allowed" never "The listener does not serve this host"
        "The header Host of a request to the admin listener must name a loopback address, or a host of `admin.allowed_hosts`.";
    OriginNotAllowed = 403 "origin_not_allowed" never "Web pages may not do this"
        "A browser sent the request to the admin listener for a page of another origin.";
    NotFound = 404 "not_found" never "There is nothing here"
        "The path is unknown.";
    HotelNotFound = 404 "hotel_not_found" never "The hotel does not exist"
        "No hotel has this id.";
    BookingNotFound = 404 "booking_not_found" never "The booking does not exist"
        "No booking of this organization, mode and user has this id.";
    AirlineNotFound = 404 "airline_not_found" never "The airline does not exist"
        "No airline has this IATA code.";
    EventNotFound = 404 "event_not_found" never "The event does not exist"
        "The organization's log holds no event with this id.";
    SubscriptionNotFound = 404 "subscription_not_found" never "The subscription does not exist"
        "The organization has no webhook subscription with this id.";
    DeliveryNotFound = 404 "delivery_not_found" never "The delivery does not exist"
        "The subscription has no delivery with this id.";
    WatchNotFound = 404 "watch_not_found" never "The watch does not exist"
        "No watch of this organization, mode and user has this id.";
    PlaceNotFound = 404 "place_not_found" never "The place does not exist"
        "No saved place has this id.";
    MandateNotFound = 404 "mandate_not_found" never "The mandate does not exist"
        "No mandate of this organization, mode and user has this id.";
    PaymentInstrumentNotFound = 404 "payment_instrument_not_found" never "The payment instrument does not exist"
        "No payment instrument of this organization, mode and user has this id.";
    MethodNotAllowed = 405 "method_not_allowed" never "The path has no such method"
        "The header Allow names the methods that it has.";
    NotAcceptable = 406 "not_acceptable" never "The answer is JSON only"
        "The header Accept rules out application/json.";
    BodyTooLarge = 413 "body_too_large" never "The body is too large"
        "A body holds at most 1 MiB.";
    UriTooLong = 414 "uri_too_long" never "The URI is too long"
        "A URI has at most 65,534 bytes.";
    UnsupportedMediaType = 415 "unsupported_media_type" never "The body must be application/json"
        "The header Content-Type names something else.";
    IdempotencyInProgress = 409 "idempotency_in_progress" again "The first request with this key is still running"
        "Send the same request again after the time in Retry-After.";
    OfferInUse = 409 "offer_in_use" never "The offer already has an unfinished booking"
        "Finish that booking, or let it expire, or price again.";
    OfferPriceChanged = 409 "offer_price_changed" never "The price went up"
        "Nothing was booked. `offered` is the total of the offer, `current` what it costs now; price again.";
    BookingStateConflict = 409 "booking_state_conflict" never "The booking's status does not allow this"
        "`booking_status` is its current status.";
    BookingChanged = 409 "booking_changed" again "The booking changed meanwhile"
        "Read it again and decide again.";
    ReplayNotAllowed = 409 "replay_not_allowed" never "The delivery cannot be replayed now"
        "It is still being sent.";
    SubscriptionPaused = 409 "subscription_paused" never "The subscription is paused"
        "Resume it first.";
    AccountConflict = 409 "account_conflict" never "The account does not allow this"
        "Only the admin listener sends this: an account with the address exists, the account has no such role, the person is a member already, or the organization would have no admin.";
    WatchStateConflict = 409 "watch_state_conflict" never "The watch's status does not allow this"
        "Read the watch.";
    OfferInvalid = 422 "offer_invalid" never "The offer reference is not valid"
        "It was changed, or made for another organization or mode.";
    OfferExpired = 422 "offer_expired" never "The offer has expired"
        "Price again.";
    OfferUnavailable = 422 "offer_unavailable" never "The offer is sold out"
        "Price again, or choose another.";
    IdempotencyKeyReused = 422 "idempotency_key_reused" never "The idempotency key was used for another request"
        "Use a new key for a new request.";
    PaymentFailed = 422 "payment_failed" never "The payment failed"
        "Nothing was charged. The booking waits for another means of payment until it expires.";
    PaymentInstrumentInvalid = 422 "payment_instrument_invalid" never "The payment instrument cannot be used"
        "It does not exist, is deleted, belongs to another owner, or its token is not valid.";
    SupplierRejected = 422 "supplier_rejected" never "The supplier refused"
        "The supplier refused definitively. Nothing was bought.";
    SupplierOperationUnsupported = 422 "supplier_operation_unsupported" never "The supplier does not offer this"
        "The supplier is not configured for this kind and mode, or has no such operation. GET /v1/suppliers lists what each one has.";
    CancellationRestricted = 422 "cancellation_restricted" never "The booking may not be canceled now"
        "The booking carries an active restriction.";
    MandateInvalid = 422 "mandate_invalid" never "The mandate cannot be used"
        "It is used up, revoked, expired, or does not cover this.";
    UrlNotAllowed = 422 "url_not_allowed" never "The URL may not be called"
        "It is not https, or it resolves to an address that is not public.";
    HeadersTooLarge = 431 "headers_too_large" never "The headers are too large"
        "A request has at most 100 headers, and its head about 400 KB.";
    RateLimited = 429 "rate_limited" again "Too many requests"
        "Send it again after the time in Retry-After.";
    ResultUnknown = 500 "result_unknown" never "The outcome is not known yet"
        "It may have happened. Do not send it under a new idempotency key. The same request with the same key does nothing twice, and returns the outcome once it is known.";
    InternalError = 500 "internal_error" never "Something broke here"
        "Quote the request id when you ask for help.";
    SupplierError = 502 "supplier_error" again "The supplier's answer cannot be used"
        "The supplier failed or sent an invalid response.";
    SupplierUnavailable = 503 "supplier_unavailable" again "The supplier cannot be reached"
        "The request was not sent, or it had no effect.";
    SupplierRateLimited = 503 "supplier_rate_limited" again "The supplier's limit is reached"
        "Send it again after the time in Retry-After.";
    Overloaded = 503 "overloaded" again "Too much at once"
        "Nothing was sent. Send it again after the time in Retry-After.";
    SupplierTimeout = 504 "supplier_timeout" again "The supplier did not answer in time"
        "Nothing was changed.";
}

impl ErrorCode {
    pub(crate) const fn as_str(self) -> &'static str {
        self.info().name
    }

    pub(crate) fn status(self) -> StatusCode {
        StatusCode::from_u16(self.info().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// Returns the code for an error response that carries none, because the router or a library
    /// created it.
    pub(crate) fn from_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => Self::MethodNotAllowed,
            StatusCode::NOT_ACCEPTABLE => Self::NotAcceptable,
            StatusCode::PAYLOAD_TOO_LARGE => Self::BodyTooLarge,
            StatusCode::URI_TOO_LONG => Self::UriTooLong,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::UnsupportedMediaType,
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Self::HeadersTooLarge,
            StatusCode::TOO_MANY_REQUESTS => Self::RateLimited,
            StatusCode::SERVICE_UNAVAILABLE => Self::Overloaded,
            status if status.is_client_error() => Self::ValidationFailed,
            _ => Self::InternalError,
        }
    }
}
