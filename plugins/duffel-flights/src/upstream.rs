//! Duffel's conventions: headers of requests, the envelope of responses, and lists in pages.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stopover_sdk::http::{Method, Request, Response};
use stopover_sdk::json::{DecodeError, EncodeError, without_nulls};
use stopover_sdk::{ChangeError, ReadError};

use crate::fault::{Change, Fault};
use crate::settings::Settings;
use crate::wire::Envelope;

/// Timeout of reads that Duffel serves from its own data, in milliseconds.
pub(crate) const READ_TIMEOUT_MS: u32 = 8_000;
/// Timeout of calls for which Duffel queries an airline without changing anything, in milliseconds.
pub(crate) const AIRLINE_TIMEOUT_MS: u32 = 30_000;
/// Timeout of changes, in milliseconds. Airlines take up to two minutes to issue a ticket.
pub(crate) const CHANGE_TIMEOUT_MS: u32 = 120_000;

/// Data, and the cursor of the next page.
pub(crate) struct Page<T> {
    pub(crate) data: T,
    pub(crate) after: Option<String>,
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
    let data = envelope
        .data
        .ok_or_else(|| DecodeError::new("the response has no data"))?;
    Ok(Ok(Page {
        data,
        after: envelope.meta.after.filter(|after| !after.is_empty()),
    }))
}

/// Reads the page of a list that follows a cursor, or the first page.
pub(crate) fn read_page<T: DeserializeOwned + Default>(
    list: Request,
    after: Option<&str>,
) -> Result<Page<T>, ReadError> {
    let request = match after {
        Some(after) => list.query("after", after),
        None => list,
    };
    open(&request.send()?)?.map_err(Fault::into_read_error)
}

/// Decodes the data of a read.
pub(crate) fn open_read<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
) -> Result<T, ReadError> {
    let page = open(response)?.map_err(Fault::into_read_error)?;
    Ok(page.data)
}

/// Decodes the data of a change.
pub(crate) fn open_change<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
    change: Change,
) -> Result<T, ChangeError> {
    let page = open(response)?.map_err(|fault| fault.into_change_error(change))?;
    Ok(page.data)
}
