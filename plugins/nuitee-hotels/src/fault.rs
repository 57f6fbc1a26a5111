//! Meaning of Nuitee's error codes. Errors come with 200, and refusals with 400.
//!
//! For calls that change something, the codes here are closed lists of definite refusals: one of a
//! prebook and a booking, and a shorter one of a cancellation. A code proves nothing if the status says
//! that Nuitee itself failed (5xx) or if the response has data as well. A rate limit stops a request before
//! anything is done. Every other response leaves the outcome unknown.

use stopover_sdk::fault::CodedError;
use stopover_sdk::http::Response;
use stopover_sdk::lenient::{Essential, NonEmptyText};
use stopover_sdk::{ChangeError, ReadError, Refusal, RefusalReason};

use crate::wire::WireError;

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) status: u16,
    pub(crate) code: Option<u32>,
    /// General meaning of the code. It is safe to show to operators.
    pub(crate) message: Option<String>,
    /// Details of this error. It may quote the request, so it is only compared.
    pub(crate) description: String,
    pub(crate) retry_after_s: Option<u32>,
    /// Whether the response has data beside the error. Then the error proves nothing.
    pub(crate) has_data: bool,
}

const NO_CONTENT: u32 = 204;
const NO_AVAILABILITY: u32 = 2001;
const DUPLICATE_REFERENCE: u32 = 4005;
const PREBOOK_TIMED_OUT: u32 = 4016;

const fn is_rate_limit_code(code: u32) -> bool {
    matches!(code, 429 | 4290 | 4291)
}

impl Fault {
    pub(crate) fn new(response: &Response, error: WireError, has_data: bool) -> Self {
        let text = |text: Essential<NonEmptyText>| text.to_part().decoded();
        let description = text(error.description);
        Self {
            status: response.status,
            code: text(error.code).and_then(|code| code.as_str().parse().ok()),
            message: error.message.0,
            description: description.map_or_else(String::new, |text| text.as_str().to_owned()),
            retry_after_s: response.retry_after_s(),
            has_data,
        }
    }

    /// Returns whether the error counts with its code. It does not if Nuitee failed or sent data. Nuitee
    /// documents 200 and statuses from 400 to 499 for errors: another 2xx may be of a request that is
    /// still processed, and a redirect is not Nuitee's.
    const fn is_definite(&self) -> bool {
        matches!(self.status, 200 | 400..=499) && !self.has_data
    }

    /// Returns whether the error says that there is nothing. It counts as proof that there is no booking,
    /// so it requires a status with which Nuitee sends it.
    pub(crate) fn is_no_content(&self) -> bool {
        let is_documented = matches!(self.status, 200 | 400 | 404 | 410);
        self.code == Some(NO_CONTENT) && is_documented && self.is_definite()
    }

    pub(crate) fn is_no_availability(&self) -> bool {
        self.code == Some(NO_AVAILABILITY) && self.is_definite()
    }

    /// Returns whether a booking with this client reference exists already and must be read.
    pub(crate) fn is_duplicate_reference(&self) -> bool {
        self.code == Some(DUPLICATE_REFERENCE)
    }

    /// Converts the error for a read. The code determines the result; the status does so if the
    /// code has no meaning here or contradicts the status or the data.
    pub(crate) fn into_read_error(self) -> ReadError {
        let code = self.code.filter(|_| !self.has_data);
        let of_code = code.and_then(|code| self.read_error_of(code));
        let error = CodedError {
            status: self.status,
            retry_after_s: self.retry_after_s,
            text: self.to_text(),
            rejection: code.map(|_| self.refusal(RefusalReason::Invalid)),
        };
        error.into_read_error(of_code)
    }

    fn read_error_of(&self, code: u32) -> Option<ReadError> {
        Some(match code {
            NO_AVAILABILITY => ReadError::Rejected(self.refusal(RefusalReason::Unavailable)),
            401 | 403 | 40301 | 40302 => ReadError::Misconfigured(self.to_text()),
            4004 => ReadError::NotFound(self.to_text()),
            // Nuitee does not document these codes, and they may be those of a proxy.
            404 | 410 => return None,
            408 | 504 | PREBOOK_TIMED_OUT => ReadError::TimedOut(self.to_text()),
            code if is_rate_limit_code(code) => ReadError::RateLimited(self.retry_after_s),
            4040 => ReadError::Rejected(self.refusal(RefusalReason::Expired)),
            400..=499 | 4000 | 4002 | 4003 | 4010 => {
                ReadError::Rejected(self.refusal(RefusalReason::Invalid))
            }
            503 => ReadError::Unavailable(self.to_text()),
            500..=599 | 5000..=5999 => ReadError::Failed(self.to_text()),
            _ => return None,
        })
    }

    /// Converts the error of a prebook or a booking: a rate limit, a listed refusal, otherwise an unknown
    /// outcome. The result is never "not sent", because Nuitee has responded.
    pub(crate) fn into_sale_error(self) -> ChangeError {
        let reason = self.sale_refusal_reason();
        self.into_change_error(reason)
    }

    /// Converts the error of a cancellation in the same way, with the list of cancellations.
    pub(crate) fn into_cancellation_error(self) -> ChangeError {
        let reason = self.cancellation_refusal_reason();
        self.into_change_error(reason)
    }

    /// Converts the error of a change. `reason` is that of a listed refusal.
    fn into_change_error(self, reason: Option<RefusalReason>) -> ChangeError {
        if self.is_rate_limit() {
            return ChangeError::RateLimited(self.retry_after_s);
        }
        match reason {
            Some(reason) => ChangeError::Refused(self.refusal(reason)),
            None => ChangeError::Unknown(self.to_text()),
        }
    }

    fn is_rate_limit(&self) -> bool {
        let has_code = self.code.is_some_and(is_rate_limit_code);
        self.is_definite() && (has_code || self.status == 429)
    }

    /// Returns the reason of a refused cancellation. The codes of a prebook or a booking say nothing about
    /// a cancellation: a provider that did not confirm it, or a payment that could not be returned, may
    /// follow a cancellation that was made. A success status contradicts a refusal.
    fn cancellation_refusal_reason(&self) -> Option<RefusalReason> {
        if !self.is_definite() || self.status == 200 {
            return None;
        }
        Some(match self.code? {
            4000 | 4002 | 4003 => RefusalReason::Invalid,
            401 | 40301 | 40302 => RefusalReason::Account,
            _ => return None,
        })
    }

    /// Returns the reason of a refused prebook or booking.
    fn sale_refusal_reason(&self) -> Option<RefusalReason> {
        if !self.is_definite() {
            return None;
        }
        let says = |words: &str| self.description.to_ascii_lowercase().contains(words);
        Some(match self.code? {
            NO_AVAILABILITY => RefusalReason::Unavailable,
            2010 | 2013 => RefusalReason::Other("the hotel's provider did not confirm".to_owned()),
            2014 if says("payment not completed") || says("is not associated") => {
                RefusalReason::PaymentRequired
            }
            4000 | 4002 | 4003
                if says("rate not found") || says("invalid rate") || says("invalid offerid") =>
            {
                RefusalReason::Expired
            }
            4000 | 4002 | 4003 => RefusalReason::Invalid,
            4010 | 4040 => RefusalReason::Expired,
            5000 if says("payment failed") => RefusalReason::PaymentDeclined,
            401 | 40301 | 40302 => RefusalReason::Account,
            _ => return None,
        })
    }

    pub(crate) fn refusal(&self, reason: RefusalReason) -> Refusal {
        let refusal = Refusal::new(reason, self.to_text());
        match self.code {
            Some(code) => refusal.with_code(code),
            None => refusal,
        }
    }

    pub(crate) fn to_text(&self) -> String {
        let meaning = self.message.as_deref().unwrap_or("no explanation");
        match self.code {
            Some(code) => format!("Nuitee returned {code}: {meaning}"),
            None => format!("Nuitee returned the status {}", self.status),
        }
    }
}
