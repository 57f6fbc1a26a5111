//! What Nuitee's error codes mean. The first two digits of a code say whose call
//! it was (41 search, 42 verify, 43 prebook, 45 book, 46 cancel, 47 read, 49
//! quote) and whether the caller (4) or somebody behind Nuitee (5) is at fault.
//!
//! For calls that change something the lists here are closed: these codes, with
//! the status that they come with or in a 2xx, are a definite no, and every other
//! answer leaves the outcome unknown.

use stopover_sdk::{ChangeError, ReadError, Refusal, RefusalReason};

/// An error answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) status: u16,
    pub(crate) code: Option<u32>,
    /// What the code means in general. Safe to show to operators.
    pub(crate) message: Option<String>,
    /// What was wrong this time; may quote the request, so it is only compared.
    pub(crate) description: String,
    pub(crate) retry_after_s: Option<u32>,
}

/// A definite no: status, code, and why.
type Row = (u16, u32, fn() -> RefusalReason);

const ACCOUNT: fn() -> RefusalReason = || RefusalReason::Account;
const DECLINED: fn() -> RefusalReason = || RefusalReason::PaymentDeclined;
const EXPIRED: fn() -> RefusalReason = || RefusalReason::Expired;
const INVALID: fn() -> RefusalReason = || RefusalReason::Invalid;
const NOT_CANCELLABLE: fn() -> RefusalReason = || RefusalReason::NotCancellable;
const TERMS_CHANGED: fn() -> RefusalReason = || RefusalReason::TermsChanged;
const UNAVAILABLE: fn() -> RefusalReason = || RefusalReason::Unavailable;

/// Of every call: our key is not accepted.
const REFUSED_KEY: [Row; 3] = [
    (401, 401, ACCOUNT),
    (403, 40301, ACCOUNT),
    (403, 40302, ACCOUNT),
];

/// Of `verify`, which changes nothing.
pub(crate) const VERIFY: &[Row] = &[
    (400, 42001, INVALID),
    (400, 42013, INVALID),
    (400, 42015, EXPIRED),
    (401, 42003, ACCOUNT),
    (401, 42016, ACCOUNT),
    (404, 42004, EXPIRED),
    (404, 42017, EXPIRED),
    (404, 42018, EXPIRED),
    (404, 42019, EXPIRED),
    (502, 52001, TERMS_CHANGED),
    (502, 52016, EXPIRED),
    (502, 52019, UNAVAILABLE),
];

/// Of a prebook. Those of 502 are the airline's own no.
pub(crate) const PREBOOK: &[Row] = &[
    (400, 43001, INVALID),
    (400, 43007, INVALID),
    (400, 43015, EXPIRED),
    (401, 43003, ACCOUNT),
    (401, 43016, ACCOUNT),
    (404, 43004, EXPIRED),
    (404, 43017, EXPIRED),
    (404, 43019, EXPIRED),
    (502, 53001, TERMS_CHANGED),
    (502, 53016, EXPIRED),
    (502, 53019, UNAVAILABLE),
];

/// Of a booking: no conflict (409), limit (429) or failure (5xx) is among them,
/// because a booking may stand behind each.
pub(crate) const BOOK: &[Row] = &[
    (400, 45004, INVALID),
    (400, 45021, INVALID),
    (400, 45040, DECLINED),
    (400, 45063, EXPIRED),
    (400, 45081, ACCOUNT),
    (401, 45028, ACCOUNT),
    (401, 45082, ACCOUNT),
    (403, 45083, ACCOUNT),
    (404, 45029, EXPIRED),
    (404, 45033, EXPIRED),
    (404, 45084, EXPIRED),
];

/// Of a cancellation.
pub(crate) const CANCEL: &[Row] = &[(404, 46002, NOT_CANCELLABLE)];

const NO_AVAILABILITY: u32 = 2001;
const ALREADY_CANCELLED: u32 = 46004;
const CANCELLATION_NOT_FINAL: u32 = 46006;
const QUOTE_WHILE_CANCELLING: u32 = 49007;
const QUOTE_FAILED: u32 = 59099;

impl Fault {
    pub(crate) fn is_no_availability(&self) -> bool {
        self.code == Some(NO_AVAILABILITY)
    }

    /// The airline has no quote to give, for which the codes are 59099 and, while
    /// a cancellation runs, 49007.
    pub(crate) fn is_no_quote(&self) -> bool {
        matches!(self.code, Some(QUOTE_FAILED | QUOTE_WHILE_CANCELLING))
    }

    /// The booking is cancelled already, or about to be: it tells which.
    pub(crate) fn is_cancelled_before(&self) -> bool {
        matches!(self.code, Some(ALREADY_CANCELLED | CANCELLATION_NOT_FINAL))
    }

    /// What it means for a call that changes nothing. By its code, and by its
    /// status where the code says nothing.
    pub(crate) fn into_read_error(self) -> ReadError {
        let of_code = self.code.and_then(|code| self.read_error_of(code));
        of_code
            .or_else(|| self.read_error_of(u32::from(self.status)))
            .unwrap_or_else(|| ReadError::Unreadable(self.to_text()))
    }

    fn read_error_of(&self, code: u32) -> Option<ReadError> {
        Some(match code {
            401 | 403 | 40301 | 40302 | 41004 | 41011 | 47001 | 47006 => {
                ReadError::Misconfigured(self.to_text())
            }
            404 | 410 | 4004 | 47002 | 47003 => ReadError::NotFound(self.to_text()),
            408 | 504 => ReadError::TimedOut(self.to_text()),
            429 | 4290 => ReadError::RateLimited(self.retry_after_s),
            // The limit itself cannot be looked up.
            503 | 4291 => ReadError::Unavailable(self.to_text()),
            400..=499 | 4000 | 4002 | 41000..=41999 | 47000..=47999 => {
                ReadError::Rejected(self.refusal(RefusalReason::Invalid))
            }
            500 | 502 | 505..=599 | 5000..=5999 => ReadError::Failed(self.to_text()),
            // Providers are down, or failed, by the status; in a 2xx they failed.
            51000..=59999 if self.status < 300 => ReadError::Failed(self.to_text()),
            _ => return None,
        })
    }

    /// What it means for a call that changes nothing, on the way to a change: a
    /// no out of the list, or the call may be made again.
    pub(crate) fn into_unchanged(self, closed: &[Row]) -> ChangeError {
        if self.is_limit() {
            return ChangeError::RateLimited(self.retry_after_s);
        }
        match self.reason(closed) {
            Some(reason) => self.refusal(reason).into(),
            None => ChangeError::NotSent(self.to_text()),
        }
    }

    /// The same for a change before which Nuitee tells its limit: refused out of
    /// the list, else unknown. Never "not sent": Nuitee has answered.
    pub(crate) fn into_change_error(self, closed: &[Row]) -> ChangeError {
        if self.is_limit() {
            return ChangeError::RateLimited(self.retry_after_s);
        }
        self.into_refused_or_unknown(closed)
    }

    /// The same for a booking, whose limit is unknown, too.
    pub(crate) fn into_book_error(self) -> ChangeError {
        if self.is_unpaid() {
            return self.refusal(RefusalReason::PaymentRequired).into();
        }
        self.into_refused_or_unknown(BOOK)
    }

    fn into_refused_or_unknown(self, closed: &[Row]) -> ChangeError {
        match self.reason(closed) {
            Some(reason) => self.refusal(reason).into(),
            None => ChangeError::Unknown(self.to_text()),
        }
    }

    fn reason(&self, closed: &[Row]) -> Option<RefusalReason> {
        let rows = closed.iter().chain(&REFUSED_KEY);
        let row = rows.into_iter().find(|(status, code, _)| {
            Some(*code) == self.code && (*status == self.status || self.status < 300)
        });
        row.map(|(_, _, reason)| reason())
    }

    /// A rejected booking whose checkout is not finished. Nuitee documents no
    /// code of flights for it, and for hotels these words beside several codes.
    fn is_unpaid(&self) -> bool {
        let is_rejected = matches!(self.status, 200..=299 | 400 | 402);
        let is_book = matches!(self.code, Some(2014 | 45000..=45999));
        let words = self.description.to_ascii_lowercase();
        is_rejected
            && is_book
            && ["payment not completed", "payment is not completed"]
                .iter()
                .any(|said| words.contains(said))
    }

    fn is_limit(&self) -> bool {
        matches!(
            (self.status, self.code),
            (429, None) | (_, Some(429 | 4290))
        )
    }

    fn refusal(&self, reason: RefusalReason) -> Refusal {
        let refusal = Refusal::new(reason, self.to_text());
        match self.code {
            Some(code) => refusal.with_code(code),
            None => refusal,
        }
    }

    pub(crate) fn to_text(&self) -> String {
        let meaning = self.message.as_deref().unwrap_or("no explanation");
        match self.code {
            Some(code) => format!("Nuitee answered {code}: {meaning}"),
            None => format!("Nuitee answered with status {}", self.status),
        }
    }
}
