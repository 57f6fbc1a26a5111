//! How a supplier's no becomes what the gateway is told. Which errors there are,
//! and which of them refuse which change, is each supplier's own list.

use stopover_sdk::http::Response;
use stopover_sdk::{ChangeError, ReadError, Refusal, RefusalReason};

/// An error as its supplier documents it.
pub(crate) struct Fault {
    pub(crate) code: &'static str,
    /// The status that it comes with.
    pub(crate) status: u16,
    pub(crate) reason: fn() -> RefusalReason,
    /// One for operators: the supplier's own text may quote what was sent.
    pub(crate) sentence: &'static str,
}

impl Fault {
    fn is(&self, other: &Self) -> bool {
        self.code == other.code
    }

    fn refusal(&self) -> Refusal {
        Refusal::new((self.reason)(), self.sentence).with_code(self.code)
    }
}

/// A definite no for which the interface has no word.
pub(crate) fn other(reason: &str) -> RefusalReason {
    RefusalReason::Other(reason.to_owned())
}

/// All that a supplier documents of its errors.
pub(crate) struct Faults {
    pub(crate) documented: &'static [&'static Fault],
    /// The code that an answer carries, whatever its status.
    pub(crate) code: fn(&Response) -> Option<String>,
    /// There is no such booking, airline or path.
    pub(crate) not_found: &'static Fault,
    /// The airline cannot say what a cancellation costs.
    pub(crate) no_quote: &'static Fault,
}

impl Faults {
    /// The documented error of an answer, where it comes with its own status.
    fn of(&self, response: &Response) -> Option<&'static Fault> {
        let code = (self.code)(response)?;
        (self.documented.iter())
            .find(|fault| fault.code == code && fault.status == response.status)
            .copied()
    }

    pub(crate) fn is_not_found(&self, response: &Response) -> bool {
        (self.of(response)).is_some_and(|fault| fault.is(self.not_found))
    }

    /// Why there is no quote, where the airline is who cannot say.
    pub(crate) fn no_quote(&self, response: &Response) -> Option<String> {
        (self.of(response))
            .filter(|fault| fault.is(self.no_quote))
            .map(|fault| fault.sentence.to_owned())
    }

    /// The answer of a change that was carried out. `definite` are the errors by
    /// which this change did nothing and will do nothing.
    pub(crate) fn change(
        &self,
        response: Response,
        definite: &[&Fault],
    ) -> Result<Response, ChangeError> {
        if response.is_success() {
            return Ok(response);
        }
        Err(match self.of(&response) {
            Some(fault) if definite.iter().any(|listed| listed.is(fault)) => fault.refusal().into(),
            Some(fault) => ChangeError::Unknown(fault.sentence.to_owned()),
            None => response.change_error(),
        })
    }

    /// The same for a prebook. It changes nothing at either supplier, so that a
    /// limit, whoever it belongs to, leaves no doubt.
    pub(crate) fn prebook(
        &self,
        response: Response,
        definite: &[&Fault],
    ) -> Result<Response, ChangeError> {
        match response.status {
            429 => Err(ChangeError::RateLimited(response.retry_after_s())),
            _ => self.change(response, definite),
        }
    }

    /// The answer of a read that gave something.
    pub(crate) fn read(&self, response: Response) -> Result<Response, ReadError> {
        if response.is_success() {
            return Ok(response);
        }
        Err(match self.of(&response) {
            Some(fault) if fault.status == 401 => {
                ReadError::Misconfigured(fault.sentence.to_owned())
            }
            Some(fault) if fault.status == 404 => ReadError::NotFound(fault.sentence.to_owned()),
            Some(fault) => fault.refusal().into(),
            // Whoever says "not found" in another form than the supplier's is not it.
            None => match response.read_error() {
                ReadError::NotFound(text) => ReadError::Unreadable(text),
                error => error,
            },
        })
    }

    /// Why a booking was given up, by a code that comes without a status. That it
    /// was is definite, whatever the reason.
    pub(crate) fn failure(&self, code: Option<&str>) -> Refusal {
        let known = (self.documented.iter()).find(|fault| Some(fault.code) == code);
        match (known, code) {
            (Some(fault), _) => fault.refusal(),
            (None, Some(code)) => given_up().with_code(code),
            (None, None) => given_up(),
        }
    }
}

fn given_up() -> Refusal {
    Refusal::new(other("failed"), "The supplier gave the booking up.")
}
