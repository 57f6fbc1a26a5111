//! Errors of a supplier that documents each error code with one HTTP status. A code with another
//! status is not the documented error, so it has no meaning.

use crate::http::Response;
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
