//! Duffel's conventions: what every request carries, what stands around every
//! answer, and lists in pages.

use serde::{Deserialize, Serialize};
use stopover_sdk::http::{Method, Request, Response};
use stopover_sdk::json::{Unreadable, Unwritable};
use stopover_sdk::{ChangeError, ReadError};

use crate::fault::{Change, Fault};
use crate::settings::Settings;
use crate::wire::Envelope;
use crate::wire::request::Enveloped;

/// Longest wait for what Duffel answers out of its own data.
pub(crate) const READ_TIMEOUT_MS: u32 = 8_000;
/// Longest wait for what Duffel asks an airline for without changing anything.
pub(crate) const AIRLINE_TIMEOUT_MS: u32 = 30_000;
/// Longest wait for a change; airlines take up to two minutes to make a ticket.
pub(crate) const CHANGE_TIMEOUT_MS: u32 = 120_000;

/// An answer, opened.
pub(crate) enum Answer<T> {
    Data(Page<T>),
    Fault(Fault),
}

/// Data, and where more of it begins.
pub(crate) struct Page<T> {
    pub(crate) data: T,
    pub(crate) after: Option<String>,
}

/// A request in Duffel's version 2. The gateway adds the access token.
pub(crate) fn request(settings: &Settings, method: Method, path: &str) -> Request {
    Request::new(method, settings.url(path))
        .header("duffel-version", "v2")
        .header("accept", "application/json")
}

pub(crate) fn get(settings: &Settings, path: &str) -> Request {
    request(settings, Method::Get, path).timeout_ms(READ_TIMEOUT_MS)
}

/// A request with this as its data.
pub(crate) fn with_data<T: Serialize>(request: Request, data: T) -> Result<Request, Unwritable> {
    request.json(&Enveloped { data })
}

/// Opens an answer by its status: only 2xx has data.
pub(crate) fn open<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
) -> Result<Answer<T>, Unreadable> {
    if !response.is_success() {
        return Ok(Answer::Fault(Fault::new(response)));
    }
    let envelope: Envelope<T> = response.json()?;
    let data = envelope
        .data
        .ok_or_else(|| Unreadable::new("the answer has no data"))?;
    Ok(Answer::Data(Page {
        data,
        after: envelope.meta.after.filter(|after| !after.is_empty()),
    }))
}

/// What a read found, with where its next page begins.
pub(crate) fn open_page<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
) -> Result<Page<T>, ReadError> {
    match open(response)? {
        Answer::Data(page) => Ok(page),
        Answer::Fault(fault) => Err(fault.into_read_error()),
    }
}

/// What a read found.
pub(crate) fn open_read<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
) -> Result<T, ReadError> {
    open_page(response).map(|page| page.data)
}

/// What a change made.
pub(crate) fn open_change<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
    change: Change,
) -> Result<T, ChangeError> {
    match open(response)? {
        Answer::Data(page) => Ok(page.data),
        Answer::Fault(fault) => Err(fault.into_change_error(change)),
    }
}
