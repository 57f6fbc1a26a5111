//! Errors of suppliers. [`DocumentedErrors`] is for a supplier that documents each error code with one
//! HTTP status: a code with another status is not the documented error, so it has no meaning.
//! [`CodedError`] is for a supplier whose codes come with several statuses.

use crate::http::{self, Response};
use crate::types::{ChangeError, ReadError, Refusal, RefusalReason};

/// The documented errors of a supplier.
pub struct DocumentedErrors {
    /// Reads the error code of an unsuccessful response.
    pub code: fn(&Response) -> Option<String>,
    /// Returns the documented status of a code, and a message for operators. The supplier's own
    /// text may quote the request.
    pub describe: fn(&str) -> Option<(u16, &'static str)>,
    /// Returns why a code refuses a call.
    pub reason: fn(&str) -> RefusalReason,
    /// Returns whether a code says that the object of a read does not exist.
    pub is_not_found: fn(&str) -> bool,
}

/// The documented error of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentedError {
    pub code: String,
    pub message: &'static str,
}

impl DocumentedErrors {
    /// Returns the documented error of a response, if its status is the documented one.
    pub fn identify(&self, response: &Response) -> Option<DocumentedError> {
        if response.is_success() {
            return None;
        }
        let code = (self.code)(response)?;
        let (status, message) = (self.describe)(&code)?;
        (status == response.status).then_some(DocumentedError { code, message })
    }

    /// Returns whether a response has this documented error.
    pub fn has_code(&self, response: &Response, code: &str) -> bool {
        self.identify(response)
            .is_some_and(|error| error.code == code)
    }

    /// Returns the refusal for a documented code, whatever the status.
    pub fn refusal(&self, code: &str) -> Option<Refusal> {
        let (_, message) = (self.describe)(code)?;
        Some(Refusal::new((self.reason)(code), message).with_code(code))
    }

    /// Returns the response of a change that was carried out. `definite` lists the codes after
    /// which the change did nothing and will do nothing.
    ///
    /// # Errors
    /// Returns a refusal for a code in the list. The outcome of any other error is unknown.
    pub fn check_change(
        &self,
        response: Response,
        definite: &[&str],
    ) -> Result<Response, ChangeError> {
        if response.is_success() {
            return Ok(response);
        }
        let Some(error) = self.identify(&response) else {
            return Err(response.to_change_error());
        };
        let refusal = self.refusal(&error.code);
        Err(
            match refusal.filter(|_| definite.contains(&error.code.as_str())) {
                Some(refusal) => refusal.into(),
                None => ChangeError::Unknown(error.message.to_owned()),
            },
        )
    }

    /// Returns the response of a successful read.
    ///
    /// # Errors
    /// Converts a documented error by its code and its status, and any other by its status.
    pub fn check_read(&self, response: Response) -> Result<Response, ReadError> {
        if response.is_success() {
            return Ok(response);
        }
        let Some(DocumentedError { code, message }) = self.identify(&response) else {
            return Err(response.to_read_error());
        };
        Err(match response.status {
            401 => ReadError::Misconfigured(message.to_owned()),
            429 => ReadError::RateLimited(response.retry_after_s()),
            500..=599 => ReadError::Failed(message.to_owned()),
            _ if (self.is_not_found)(&code) => ReadError::NotFound(message.to_owned()),
            _ => Refusal::new((self.reason)(&code), message)
                .with_code(code)
                .into(),
        })
    }
}

/// An error of a supplier whose codes come with several statuses.
#[derive(Debug, Clone, PartialEq)]
pub struct CodedError {
    pub status: u16,
    pub retry_after_s: Option<u32>,
    /// Description for operators, without values of the request.
    pub text: String,
    /// The rejection that the status means, if the response has the supplier's own code. Without the
    /// code, the response may come from a proxy.
    pub rejection: Option<Refusal>,
}

impl CodedError {
    /// Converts the error for a read. `of_code` is the meaning of its code; the status determines the
    /// result if there is none or if the status contradicts it.
    pub fn into_read_error(self, of_code: Option<ReadError>) -> ReadError {
        of_code
            .filter(|error| self.is_proven(error))
            .unwrap_or_else(|| self.read_error_of_status())
    }

    /// Returns whether the status agrees with the meaning of the code. "Not found" counts as proof that
    /// there is no booking, so it requires a status with which a supplier sends it.
    const fn is_proven(&self, error: &ReadError) -> bool {
        match error {
            ReadError::NotFound(_) => matches!(self.status, 200 | 400 | 404 | 410),
            ReadError::Rejected(_) => self.status < 500,
            ReadError::Misconfigured(_)
            | ReadError::TimedOut(_)
            | ReadError::RateLimited(_)
            | ReadError::Unavailable(_)
            | ReadError::Failed(_)
            | ReadError::InvalidResponse(_) => true,
        }
    }

    fn read_error_of_status(self) -> ReadError {
        match (self.status, self.rejection) {
            (400 | 422, Some(refusal)) => ReadError::Rejected(refusal),
            (status, _) => http::read_error_of_status(status, self.retry_after_s, self.text),
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::testing::Outcome;

    #[test]
    fn code_counts_only_with_a_status_that_agrees() {
        let not_found = ReadError::NotFound(String::new());
        let rejected = ReadError::from(Refusal::new(RefusalReason::Expired, ""));
        let limited = ReadError::RateLimited(None);
        for (of_code, status, expected) in [
            (Some(&not_found), 200, Outcome::NotFound),
            (Some(&not_found), 404, Outcome::NotFound),
            (Some(&not_found), 202, Outcome::InvalidResponse),
            (Some(&not_found), 422, Outcome::Rejected("invalid")),
            (Some(&not_found), 502, Outcome::Failed),
            (Some(&rejected), 408, Outcome::Rejected("expired")),
            (Some(&rejected), 503, Outcome::Unavailable),
            (Some(&limited), 500, Outcome::RateLimited),
            (None, 400, Outcome::Rejected("invalid")),
            (None, 404, Outcome::InvalidResponse),
            (None, 401, Outcome::Misconfigured),
            (None, 504, Outcome::TimedOut),
        ] {
            let error = CodedError {
                status,
                retry_after_s: None,
                text: String::new(),
                rejection: Some(Refusal::new(RefusalReason::Invalid, "")),
            };
            let read_error = error.clone().into_read_error(of_code.cloned());
            assert_eq!(Outcome::from(&read_error), expected, "{of_code:?} {status}");
            // Without the supplier's code, no status is a rejection.
            let error = CodedError {
                rejection: None,
                ..error
            };
            let read_error = error.into_read_error(None);
            assert!(!matches!(read_error, ReadError::Rejected(_)), "{status}");
        }
    }
}
