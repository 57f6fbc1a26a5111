//! Nuitee's envelope and its errors.

use serde::Deserialize;
use serde::de::IgnoredAny;
use stopover_sdk::http::Response;
use stopover_sdk::json::DecodeError;
use stopover_sdk::{ReadError, json};

use crate::fault::Fault;
use crate::wire::Code;
use stopover_sdk::lenient::LenientNumber;

/// Timeout of reads that Nuitee serves from its own data, in milliseconds. Nuitee itself gives up
/// after 4 s.
pub(crate) const READ_TIMEOUT_MS: u32 = 8_000;

/// The data of a response, with the fields beside it that some endpoints have.
pub(crate) struct Body<T, H = IgnoredAny> {
    pub(crate) data: T,
    /// Summaries of the hotels of rates.
    pub(crate) hotels: Option<H>,
    /// Total number of items of a list.
    pub(crate) total: LenientNumber,
}

/// The envelope. Some endpoints have `error` under `value`.
#[derive(Deserialize)]
struct Envelope<T, H> {
    data: Option<T>,
    hotels: Option<H>,
    #[serde(default)]
    total: LenientNumber,
    error: Option<WireError>,
    value: Option<Wrapped>,
}

#[derive(Deserialize)]
struct Wrapped {
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct WireError {
    code: Option<Code>,
    message: Option<String>,
    description: Option<String>,
}

/// Decodes a response, or `None` for "no content": by status 204 or by error code 204. An error body
/// counts whatever the status, and only a 2xx response has data.
///
/// # Errors
/// Fails if a 2xx response has neither data nor an error. It does not say that there is nothing.
pub(crate) fn open<'a, T, H>(
    response: &'a Response,
) -> Result<Result<Option<Body<T, H>>, Fault>, DecodeError>
where
    T: Deserialize<'a>,
    H: Deserialize<'a>,
{
    if response.status == 204 {
        return Ok(Ok(None));
    }
    let error = match json::decode::<Envelope<T, H>>(&response.body) {
        Ok(envelope) => match envelope
            .error
            .or(envelope.value.and_then(|value| value.error))
        {
            None if response.is_success() => {
                let (hotels, total) = (envelope.hotels, envelope.total);
                let data = envelope.data.ok_or_else(|| {
                    DecodeError::new("the response has neither data nor an error")
                })?;
                return Ok(Ok(Some(Body {
                    data,
                    hotels,
                    total,
                })));
            }
            error => error,
        },
        // The data beside an error may have another form, and a proxy's error may not be JSON.
        Err(unreadable) => match error_of(response) {
            None if response.is_success() => return Err(unreadable),
            error => error,
        },
    };
    let fault = Fault::new(
        response,
        error
            .as_ref()
            .and_then(|error| error.code)
            .map(|code| code.0),
        error.as_ref().and_then(|error| error.message.clone()),
        error.and_then(|error| error.description),
    );
    Ok(match fault.code {
        Some(204) if response.status < 500 => Ok(None),
        _ => Err(fault),
    })
}

/// Decodes the data of a call that may have changed something, or `None` for "no content".
pub(crate) fn open_change<'a, T: Deserialize<'a>>(
    response: &'a Response,
) -> Result<Result<Option<T>, Fault>, DecodeError> {
    let opened = open::<T, IgnoredAny>(response)?;
    Ok(opened.map(|body| body.map(|body| body.data)))
}

/// Decodes the data of a read, or `None` for "no content".
pub(crate) fn open_read<'a, T: Deserialize<'a>>(
    response: &'a Response,
) -> Result<Option<T>, ReadError> {
    open_change(response)?.map_err(Fault::into_read_error)
}

fn error_of(response: &Response) -> Option<WireError> {
    let envelope: Envelope<IgnoredAny, IgnoredAny> = json::decode(&response.body).ok()?;
    envelope
        .error
        .or(envelope.value.and_then(|value| value.error))
}
