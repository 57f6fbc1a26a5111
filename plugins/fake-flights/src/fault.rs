//! Conversion of a supplier's errors. Each supplier has its own list of errors, and its own list of
//! those that refuse a change.

use stopover_sdk::http::Response;
use stopover_sdk::{ChangeError, ReadError, Refusal, RefusalReason};

/// An error as its supplier documents it.
pub(crate) struct Fault {
    pub(crate) code: &'static str,
    /// The documented HTTP status of the error.
    pub(crate) status: u16,
    pub(crate) reason: fn() -> RefusalReason,
    /// A message for operators. The supplier's own text may quote the request.
    pub(crate) message: &'static str,
}

impl Fault {
    fn matches(&self, other: &Self) -> bool {
        self.code == other.code
    }

    fn refusal(&self) -> Refusal {
        Refusal::new((self.reason)(), self.message).with_code(self.code)
    }
}

/// Returns the reason of a definite refusal that the interface has no case for.
pub(crate) fn other(reason: &str) -> RefusalReason {
    RefusalReason::Other(reason.to_owned())
}

/// The documented errors of a supplier.
pub(crate) struct DocumentedFaults {
    pub(crate) documented: &'static [&'static Fault],
    /// Reads the code of a response, whatever its status.
    pub(crate) code: fn(&Response) -> Option<String>,
    /// The error that there is no such booking, airline or path.
    pub(crate) not_found: &'static Fault,
    /// The error that the airline cannot quote a cancellation.
    pub(crate) no_quote: &'static Fault,
}

impl DocumentedFaults {
    /// Returns the documented error of a response, if its status is the documented one.
    fn identify(&self, response: &Response) -> Option<&'static Fault> {
        let code = (self.code)(response)?;
        (self.documented.iter())
            .find(|fault| fault.code == code && fault.status == response.status)
            .copied()
    }

    pub(crate) fn is_not_found(&self, response: &Response) -> bool {
        (self.identify(response)).is_some_and(|fault| fault.matches(self.not_found))
    }

    /// Returns the reason why there is no quote, if the airline cannot give one.
    pub(crate) fn no_quote(&self, response: &Response) -> Option<String> {
        (self.identify(response))
            .filter(|fault| fault.matches(self.no_quote))
            .map(|fault| fault.message.to_owned())
    }

    /// Returns the response of a change that was carried out. `definite` lists the errors after
    /// which the change did nothing and will do nothing.
    pub(crate) fn check_change(
        &self,
        response: Response,
        definite: &[&Fault],
    ) -> Result<Response, ChangeError> {
        if response.is_success() {
            return Ok(response);
        }
        Err(match self.identify(&response) {
            Some(fault) if definite.iter().any(|listed| listed.matches(fault)) => {
                fault.refusal().into()
            }
            Some(fault) => ChangeError::Unknown(fault.message.to_owned()),
            None => response.to_change_error(),
        })
    }

    /// Returns the response of a prebook. A prebook changes nothing at either supplier. After a rate
    /// limit, whoever applies it, it is therefore certain that nothing was done.
    pub(crate) fn check_prebook(
        &self,
        response: Response,
        definite: &[&Fault],
    ) -> Result<Response, ChangeError> {
        match response.status {
            429 => Err(ChangeError::RateLimited(response.retry_after_s())),
            _ => self.check_change(response, definite),
        }
    }

    /// Returns the response of a successful read.
    pub(crate) fn check_read(&self, response: Response) -> Result<Response, ReadError> {
        if response.is_success() {
            return Ok(response);
        }
        Err(match self.identify(&response) {
            Some(fault) if fault.status == 401 => {
                ReadError::Misconfigured(fault.message.to_owned())
            }
            Some(fault) if fault.status == 404 => ReadError::NotFound(fault.message.to_owned()),
            Some(fault) => fault.refusal().into(),
            // A "not found" in another form is not from the supplier.
            None => match response.to_read_error() {
                ReadError::NotFound(text) => ReadError::InvalidResponse(text),
                error => error,
            },
        })
    }

    /// Returns the refusal of a booking that the supplier gave up, by a code without a status. The
    /// refusal is definite, whatever the reason.
    pub(crate) fn booking_failure(&self, code: Option<&str>) -> Refusal {
        let known = (self.documented.iter()).find(|fault| Some(fault.code) == code);
        match (known, code) {
            (Some(fault), _) => fault.refusal(),
            (None, Some(code)) => supplier_failed().with_code(code),
            (None, None) => supplier_failed(),
        }
    }
}

fn supplier_failed() -> Refusal {
    Refusal::new(other("failed"), "The supplier gave up the booking.")
}
