//! Nuitee's envelope and its errors, and two special cases of responses: a redirect and a stream of
//! events.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use stopover_sdk::http::{self, Request, Response};
use stopover_sdk::json::{self, DecodeError};
use stopover_sdk::lenient::{LenientText, OneOrMany};
use stopover_sdk::{ReadError, lenient_struct};

use crate::fault::Fault;

/// Timeout for airports and airlines, which Nuitee serves from its own data, in milliseconds.
pub(crate) const REFERENCE_TIMEOUT_MS: u32 = 8_000;

#[derive(Deserialize)]
struct Envelope<'a, T> {
    data: Option<OneOrMany<T>>,
    #[serde(borrow)]
    error: Option<WireError<'a>>,
    #[serde(borrow)]
    value: Option<Wrapped<'a>>,
}

lenient_struct! {
    /// A wrapper of `error` that some endpoints use.
    struct Wrapped<'a> {
        error: Option<WireError<'a>> = "error",
    }

    struct WireError<'a> {
        code: LenientText<'a> = "code",
        message: LenientText<'a> = "message",
        description: LenientText<'a> = "description",
    }
}

impl<'a, T> Envelope<'a, T> {
    fn open(self) -> (Option<WireError<'a>>, Option<Vec<T>>) {
        let wrapped = self.value.and_then(|value| value.error);
        (self.error.or(wrapped), self.data.map(|data| data.0))
    }
}

/// Sends a request and follows one redirect that keeps method and body, if it stays at the same
/// origin. `/flights/bookings` has such a redirect.
pub(crate) fn send(request: Request) -> Result<Response, http::Error> {
    let response = request.send()?;
    let Some(url) = moved_to(&request.url, &response) else {
        return Ok(response);
    };
    Request { url, ..request }.send()
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

/// Decodes the items of a response's `data`, of which most responses have one; "no content" has
/// none. An error body counts whatever the status, and only a 2xx response has data.
///
/// # Errors
/// Fails if a 2xx response has neither data nor an error. It does not say that there is nothing.
pub(crate) fn open<'a, T: Deserialize<'a>>(
    response: &Response,
    body: &'a [u8],
) -> Result<Result<Vec<T>, Fault>, DecodeError> {
    if response.status == 204 {
        return Ok(Ok(Vec::new()));
    }
    let error = match json::decode::<Envelope<'a, T>>(body).map(Envelope::open) {
        Ok((None, data)) if response.is_success() => {
            return data
                .map(Ok)
                .ok_or_else(|| DecodeError::new("the response has neither data nor an error"));
        }
        Ok((error, _)) => error,
        // The data beside an error may have another form, and a proxy's error may not be JSON.
        Err(unreadable) => match json::decode::<Envelope<'a, IgnoredAny>>(body) {
            Ok(envelope) => match envelope.open() {
                (None, _) if response.is_success() => return Err(unreadable),
                (error, _) => error,
            },
            Err(_) if response.is_success() => return Err(unreadable),
            Err(_) => None,
        },
    };
    let error = error.unwrap_or_default();
    Ok(Err(Fault {
        status: response.status,
        code: error.code.as_str().parse().ok(),
        message: error.message.to_owned(),
        description: error.description.to_owned().unwrap_or_default(),
        retry_after_s: response.retry_after_s(),
    }))
}

/// Decodes the only item of a read, or `None` for "no content".
pub(crate) fn open_read<'a, T: Deserialize<'a>>(
    response: &'a Response,
) -> Result<Option<T>, ReadError> {
    let items = open(response, &response.body)?.map_err(Fault::into_read_error)?;
    Ok(items.into_iter().next())
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
