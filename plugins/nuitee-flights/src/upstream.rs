//! Nuitee's envelope and its errors, and two special cases of responses: a redirect and a stream of
//! events.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::http::{self, Request, Response};
use stopover_sdk::json::{self, DecodeError, ensure};
use stopover_sdk::lenient::{Essential, LenientList, Single};
use stopover_sdk::lenient_struct;

use crate::fault::Fault;
use crate::wire::WireError;

/// Timeout for airports and airlines, which Nuitee serves from its own data, in milliseconds.
pub(crate) const REFERENCE_TIMEOUT_MS: u32 = 8_000;

lenient_struct! {
    /// The envelope of every response. Some endpoints have `error` under `value`.
    struct Envelope<B> {
        data: Single<B>,
        error: Essential<WireError>,
        value: Essential<Wrapped>,
    }

    #[derive(Clone, PartialEq)]
    struct Wrapped {
        error: Essential<WireError>,
    }
}

impl<B> Envelope<B> {
    /// Returns the error, which is empty if it has another form or is ambiguous.
    fn error(&self) -> Option<WireError> {
        let wrapped = || self.value.to_part().decoded()?.error.to_part().statement();
        self.error.to_part().statement().or_else(wrapped)
    }
}

/// Sends a request and follows one redirect that keeps method and body, if it stays at the same
/// origin. `/flights/bookings` has such a redirect.
pub(crate) fn send(request: Request) -> Result<Response, http::Error> {
    exchange(request, Request::send)
}

/// Sends a request that changes nothing at Nuitee, like [`send`].
pub(crate) fn send_read(request: Request) -> Result<Response, http::Error> {
    exchange(request, Request::send_read)
}

fn exchange(
    request: Request,
    send: impl Fn(&Request) -> Result<Response, http::Error>,
) -> Result<Response, http::Error> {
    let response = send(&request)?;
    let Some(url) = moved_to(&request.url, &response) else {
        return Ok(response);
    };
    send(&Request { url, ..request })
}

fn moved_to(url: &str, response: &Response) -> Option<String> {
    if !matches!(response.status, 307 | 308) {
        return None;
    }
    let location = response.header("location")?;
    let (scheme, rest) = url.split_once("://")?;
    let origin = format!("{scheme}://{}", rest.split(['/', '?']).next()?);
    let path = location.strip_prefix(origin.as_str()).unwrap_or(location);
    (path.starts_with('/') && !path.starts_with("//")).then(|| format!("{origin}{path}"))
}

/// Decodes the items of a response's `data`, or `None` for "no content". An error body counts
/// whatever the status, and only a 2xx response has data. A response with both contradicts itself,
/// and its error proves nothing.
///
/// # Errors
/// Fails if a 2xx response has neither data nor an error, or several data. It does not say that there is
/// nothing.
pub(crate) fn open<'a, T: Deserialize<'a>>(
    response: &Response,
    body: &'a [u8],
) -> Result<Result<Option<LenientList<T>>, Fault>, DecodeError> {
    if response.status == 204 {
        return Ok(Ok(None));
    }
    let unreadable = match json::decode::<Envelope<LenientList<T>>>(body) {
        Ok(envelope) if response.is_success() && envelope.error().is_none() => {
            let lacks_data = || DecodeError::missing("the response has neither data nor an error");
            let data = envelope.data.optional("data")?;
            return Ok(Ok(Some(data.ok_or_else(lacks_data)?)));
        }
        Ok(_) => None,
        // The data beside an error may have another form, and a proxy's error may not be JSON.
        Err(unreadable) => Some(unreadable),
    };
    let envelope = json::decode::<Envelope<Box<RawValue>>>(body).ok();
    let error = envelope.as_ref().and_then(Envelope::error);
    if let (None, true, Some(unreadable)) = (&error, response.is_success(), unreadable) {
        return Err(unreadable);
    }
    let has_data = envelope.is_some_and(|envelope| match envelope.data {
        Single::Missing => false,
        Single::Value(data) => !is_empty(&data),
        Single::Repeated => true,
    });
    Ok(Err(Fault::new(
        response,
        error.unwrap_or_default(),
        has_data,
    )))
}

/// Returns whether data consist of brackets, quotes and spaces only.
fn is_empty(data: &RawValue) -> bool {
    let mut bytes = data.get().bytes();
    bytes.all(|byte| b"[]{}\" \t\r\n".contains(&byte))
}

/// Returns the only item of a response about one object, or `None` for "no content". Unreadable items
/// beside it are left out.
///
/// # Errors
/// The response has no readable item, or several.
pub(crate) fn only_item<T>(
    data: Option<LenientList<T>>,
    dropped: &mut DroppedItems,
) -> Result<Option<T>, DecodeError> {
    let Some(data) = data else {
        return Ok(None);
    };
    let mut items = dropped.readable(format_args!("/data"), data);
    let item = items.next();
    ensure(items.next().is_none(), "the response has several items")?;
    dropped.check_remaining(item.is_some())?;
    let (_, item) = item.ok_or_else(|| DecodeError::missing("the response has no item"))?;
    Ok(Some(item))
}

/// Returns the only item of a response about one booking. Nuitee documents no response without one:
/// an error says that there is no such booking.
///
/// # Errors
/// As those of [`only_item`], or the response has no content.
pub(crate) fn found_item<T>(
    data: Option<LenientList<T>>,
    dropped: &mut DroppedItems,
) -> Result<T, DecodeError> {
    only_item(data, dropped)?.ok_or_else(|| DecodeError::missing("the response has no content"))
}

/// A response whose `data` was sent as a list.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only the form of the document counts")]
struct Listed<T> {
    data: Vec<T>,
}

/// Checks a document in which nothing is listed: each list must have been sent as one. An empty text
/// looks like an empty list, but Nuitee did not send a list.
///
/// # Errors
/// The document does not have the form of `T`.
pub(crate) fn check_lists<'a, T: Deserialize<'a>>(document: &'a [u8]) -> Result<(), DecodeError> {
    json::decode::<Listed<T>>(document).map(drop)
}

/// Splits a body into documents. A stream of server-sent events has one document per event; any
/// other body is one document. Keep-alives and the closing event are skipped.
pub(crate) fn documents(body: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let is_stream = ["data:", "event:", "id:", "retry:", ":"]
        .iter()
        .any(|field| body.trim_ascii_start().starts_with(field.as_bytes()));
    if !is_stream {
        return vec![Cow::Borrowed(body)];
    }
    let mut documents: Vec<Cow<'_, [u8]>> = Vec::new();
    let mut document: Option<Cow<'_, [u8]>> = None;
    for line in body.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        if line.is_empty() {
            documents.extend(document.take());
        } else if let Some(data) = line.strip_prefix(b"data:") {
            let data = data.trim_ascii_start();
            match &mut document {
                Some(begun) => begun.to_mut().extend_from_slice(data),
                None => document = Some(Cow::Borrowed(data)),
            }
        }
    }
    documents.extend(document);
    documents.retain(|document| document.starts_with(b"{"));
    documents
}
