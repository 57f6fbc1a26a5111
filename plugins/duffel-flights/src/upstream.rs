//! Duffel's conventions: headers of requests, the envelope of responses, and lists in pages.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use stopover_sdk::http::{self, Method, Request, Response};
use stopover_sdk::json::{DecodeError, EncodeError, ensure, without_nulls};
use stopover_sdk::lenient::LenientList;
use stopover_sdk::{ChangeError, ReadError};

use crate::fault::{Change, Fault, RATE_LIMITED};
use crate::settings::Settings;
use crate::wire::{Cursor, Envelope};

/// Timeout of reads that Duffel serves from its own data, in milliseconds.
pub(crate) const READ_TIMEOUT_MS: u32 = 8_000;
/// Timeout of calls for which Duffel queries an airline without changing anything, in milliseconds.
pub(crate) const AIRLINE_TIMEOUT_MS: u32 = 30_000;
/// Timeout of changes, in milliseconds. Airlines take up to two minutes to issue a ticket.
pub(crate) const CHANGE_TIMEOUT_MS: u32 = 120_000;

/// The failure of a read.
pub(crate) enum ReadFailure {
    /// Duffel, or a proxy in between, returned an error.
    Fault(Fault),
    /// No complete response arrived.
    Exchange(http::Error),
    /// The response cannot be used.
    Unreadable(DecodeError),
}

impl ReadFailure {
    /// Returns whether Duffel says that it does not have the object.
    pub(crate) fn is_not_found(&self) -> bool {
        match self {
            Self::Fault(fault) => fault.is_not_found(),
            Self::Exchange(_) | Self::Unreadable(_) => false,
        }
    }

    /// Converts the failure of a read before the first change of a call. Only a listed error of
    /// Duffel is a refusal of the change. Nothing was changed, so that the status alone shows a rate limit.
    pub(crate) fn before_change(self, change: Change) -> ChangeError {
        if let Self::Fault(fault) = &self
            && fault.status == RATE_LIMITED
        {
            return ChangeError::RateLimited(fault.wait_s);
        }
        match self.into_change_error(change) {
            ChangeError::Unknown(text) => ChangeError::NotSent(text),
            error @ (ChangeError::Refused(_)
            | ChangeError::NotSent(_)
            | ChangeError::RateLimited(_)) => error,
        }
    }

    /// Converts the failure of a read after a change of the same call was sent.
    pub(crate) fn after_change(self, change: Change) -> ChangeError {
        after_change(self.into_change_error(change))
    }

    fn into_change_error(self, change: Change) -> ChangeError {
        match self {
            Self::Fault(fault) => fault.into_change_error(change),
            Self::Exchange(error) => error.into(),
            Self::Unreadable(error) => error.into(),
        }
    }
}

impl From<Fault> for ReadFailure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<http::Error> for ReadFailure {
    fn from(error: http::Error) -> Self {
        Self::Exchange(error)
    }
}

impl From<DecodeError> for ReadFailure {
    fn from(error: DecodeError) -> Self {
        Self::Unreadable(error)
    }
}

impl From<ReadFailure> for ReadError {
    fn from(failure: ReadFailure) -> Self {
        match failure {
            ReadFailure::Fault(fault) => fault.into_read_error(),
            ReadFailure::Exchange(error) => error.into(),
            ReadFailure::Unreadable(error) => error.into(),
        }
    }
}

/// Converts the error of a request that follows a change of the same call. That change may have
/// taken effect, so only a refusal of the whole call remains definite.
pub(crate) fn after_change(error: ChangeError) -> ChangeError {
    match error {
        ChangeError::NotSent(text) => ChangeError::Unknown(text),
        ChangeError::RateLimited(_) => {
            ChangeError::Unknown("the rate limit was reached after a change".to_owned())
        }
        ChangeError::Refused(_) | ChangeError::Unknown(_) => error,
    }
}

/// Converts the error of a response on which a change depends that was not sent yet.
pub(crate) fn not_sent(error: DecodeError) -> ChangeError {
    ChangeError::NotSent(error.to_string())
}

/// Data, and the cursor of the next page.
pub(crate) struct Page<T> {
    pub(crate) data: T,
    pub(crate) after: Cursor,
}

/// Creates a request for version 2 of Duffel's API. The gateway adds the access token.
pub(crate) fn api_request(settings: &Settings, method: Method, path: &str) -> Request {
    Request::new(method, settings.url(path))
        .header("duffel-version", "v2")
        .header("accept", "application/json")
}

pub(crate) fn get(settings: &Settings, path: &str) -> Request {
    api_request(settings, Method::Get, path).timeout_ms(READ_TIMEOUT_MS)
}

/// Adds data to a request, in Duffel's envelope. Members that are `null` are not sent.
pub(crate) fn with_data(request: Request, data: Value) -> Result<Request, EncodeError> {
    request.json(&without_nulls(json!({ "data": data })))
}

/// Decodes a response by its status. Only 2xx responses have data.
pub(crate) fn open<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
) -> Result<Result<Page<T>, Fault>, DecodeError> {
    if !response.is_success() {
        return Ok(Err(Fault::new(response)));
    }
    let envelope: Envelope<T> = response.json()?;
    let has_errors = envelope.has_errors();
    ensure(!has_errors, "a response with a success status has errors")?;
    let after = envelope.cursor();
    let data = envelope.data.optional("data")?;
    let data = data.ok_or_else(|| DecodeError::new("the response has no data"))?;
    Ok(Ok(Page { data, after }))
}

/// Decodes a list, of which unreadable items are left out.
pub(crate) fn open_list<T: DeserializeOwned>(
    response: &Response,
) -> Result<Page<LenientList<T>>, ReadFailure> {
    let page: Page<LenientList<T>> = open(response)??;
    if page.data.len() + page.data.unreadable().len() <= 1 {
        // A single object counts as a list of it, and an empty text as an empty list, but Duffel did
        // not send a list.
        open::<Vec<IgnoredAny>>(response)??;
    }
    Ok(page)
}

/// Reads the page of a list that follows a cursor, or the first page.
pub(crate) fn read_page<T: DeserializeOwned>(
    list: Request,
    after: Option<&str>,
) -> Result<Page<LenientList<T>>, ReadFailure> {
    let request = match after {
        Some(after) => list.query("after", after),
        None => list,
    };
    open_list(&request.send()?)
}

/// Reads the pages of a list until `find` finds what it looks for in one of them.
///
/// # Errors
/// A page cannot be read, or nothing was found and an item cannot be read.
pub(crate) fn find_in_pages<T: DeserializeOwned, R>(
    list: impl Fn() -> Request,
    pages_max: usize,
    find: impl Fn(Vec<T>) -> Result<Option<R>, DecodeError>,
) -> Result<Option<R>, ReadFailure> {
    let mut after: Option<String> = None;
    let mut unreadable: Option<DecodeError> = None;
    for _ in 0..pages_max {
        let page = read_page(list(), after.as_deref())?;
        if let Some(item) = page.data.unreadable().first() {
            unreadable = Some(item.error.clone());
        }
        let found = find(page.data.into_items())?;
        if found.is_some() {
            return Ok(found);
        }
        match (page.after, unreadable.take()) {
            (Cursor::Next(cursor), error) => {
                after = Some(cursor);
                unreadable = error;
            }
            (Cursor::End, None) => return Ok(None),
            (Cursor::End, Some(error)) => return Err(error.into()),
            (Cursor::Unreadable, _) => return Err(unreadable_cursor().into()),
        }
    }
    Err(DecodeError::new("a list has more pages than are possible").into())
}

/// Returns the error of a list of which it is unknown whether it has another page.
pub(crate) fn unreadable_cursor() -> DecodeError {
    DecodeError::new("the response does not tell whether the list has another page")
}

/// Decodes the data of a read.
pub(crate) fn open_read<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
) -> Result<T, ReadFailure> {
    Ok(open(response)??.data)
}

/// Decodes the data of a change.
pub(crate) fn open_change<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
    change: Change,
) -> Result<T, ChangeError> {
    let page = open(response)?.map_err(|fault| fault.into_change_error(change))?;
    Ok(page.data)
}
