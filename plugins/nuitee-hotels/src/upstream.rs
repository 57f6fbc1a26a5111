//! Nuitee's envelope and its errors.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use stopover_sdk::http::Response;
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{Essential, LenientList, LenientNumber, Part, Single};
use stopover_sdk::{ReadError, json, lenient_struct};

use crate::fault::Fault;
use crate::wire::WireError;
use crate::wire::rate::Hotel;

/// Timeout of reads that Nuitee serves from its own data, in milliseconds. Nuitee itself gives up
/// after 4 s.
pub(crate) const READ_TIMEOUT_MS: u32 = 8_000;

/// The content of a response, `None` for "no content", or the error that it states.
pub(crate) type Opened<T> = Result<Option<T>, Fault>;

/// The data of a response, with the fields beside it that some endpoints have.
#[derive(Default)]
pub(crate) struct Body<T> {
    pub(crate) data: T,
    /// Summaries of the hotels of rates.
    pub(crate) hotels: Part<LenientList<Hotel>>,
    /// Total number of items of a list.
    pub(crate) total: LenientNumber,
}

lenient_struct! {
    /// The envelope. Some endpoints have `error` under `value`.
    struct Envelope<T> {
        data: Single<T>,
        hotels: Part<LenientList<Hotel>>,
        total: LenientNumber,
        error: Essential<WireError>,
        value: Essential<Wrapped>,
    }

    #[derive(Clone, PartialEq)]
    struct Wrapped {
        error: Essential<WireError>,
    }
}

impl<T> Envelope<T> {
    /// Returns the error, which is empty if it has another form or is ambiguous.
    fn error(&self) -> Option<WireError> {
        let wrapped = || self.value.to_part().decoded()?.error.to_part().statement();
        self.error.to_part().statement().or_else(wrapped)
    }
}

/// Decodes a response, or `None` for "no content": by status 204 or by error code 204. An error body
/// counts whatever the status, and only a 2xx response has data. A response with both contradicts
/// itself, and its error proves nothing.
///
/// # Errors
/// Fails if a 2xx response has neither data nor an error, or several data. It does not say that there is
/// nothing.
pub(crate) fn open<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
) -> Result<Opened<Body<T>>, DecodeError> {
    if response.status == 204 {
        return Ok(Ok(None));
    }
    let unreadable = match json::decode::<Envelope<T>>(&response.body) {
        Ok(envelope) if response.is_success() && envelope.error().is_none() => {
            let data = envelope.data.optional("data")?.ok_or_else(|| {
                DecodeError::missing("the response has neither data nor an error")
            })?;
            return Ok(Ok(Some(Body {
                data,
                hotels: envelope.hotels,
                total: envelope.total,
            })));
        }
        Ok(_) => None,
        // The data beside an error may have another form, and a proxy's error may not be JSON.
        Err(unreadable) => Some(unreadable),
    };
    let envelope = json::decode::<Envelope<Value>>(&response.body).ok();
    let error = envelope.as_ref().and_then(Envelope::error);
    if let (None, true, Some(unreadable)) = (&error, response.is_success(), unreadable) {
        return Err(unreadable);
    }
    let has_data = envelope.is_some_and(|envelope| match envelope.data {
        Single::Missing => false,
        Single::Value(data) => !is_empty(&data),
        Single::Repeated => true,
    });
    let fault = Fault::new(response, error.unwrap_or_default(), has_data);
    Ok(match fault.is_no_content() {
        true => Ok(None),
        false => Err(fault),
    })
}

fn is_empty(data: &Value) -> bool {
    match data {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Decodes a list, of which unreadable items are left out, or `None` for "no content".
///
/// # Errors
/// Fails like [`open`], and if the data of a 2xx response is no list.
pub(crate) fn open_list<'a, T: Deserialize<'a>>(
    response: &'a Response,
) -> Result<Opened<Body<LenientList<T>>>, DecodeError> {
    let opened = open::<LenientList<T>>(response)?;
    if let Ok(Some(body)) = &opened
        && body.data.len() + body.data.unreadable().len() <= 1
    {
        // An empty text and an object would count as lists of no and of one item.
        drop(open::<Vec<IgnoredAny>>(response)?);
    }
    Ok(opened)
}

/// Decodes the data of a call that may have changed something, or `None` for "no content".
pub(crate) fn open_change<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
) -> Result<Opened<T>, DecodeError> {
    let opened = open::<T>(response)?;
    Ok(opened.map(|body| body.map(|body| body.data)))
}

/// Decodes the data of a read, or `None` for "no content".
pub(crate) fn open_read<'a, T: Deserialize<'a> + Default>(
    response: &'a Response,
) -> Result<Option<T>, ReadError> {
    open_change(response)?.map_err(Fault::into_read_error)
}

/// Decodes the list of the price index. Nuitee documents that its errors have no envelope.
pub(crate) fn open_price_index<'a, T: Deserialize<'a>>(
    response: &'a Response,
) -> Result<LenientList<T>, ReadError> {
    open_read_list(response).map_err(|error| match plain_error(response) {
        Some(plain) => Fault::new(response, plain, false).into_read_error(),
        None => error,
    })
}

/// Returns the error that is the whole body of a response, if there is one.
fn plain_error(response: &Response) -> Option<WireError> {
    let envelope = json::decode::<Envelope<Value>>(&response.body).ok()?;
    let has_envelope = envelope.error().is_some() || !matches!(envelope.data, Single::Missing);
    if response.status < 400 || has_envelope {
        return None;
    }
    json::decode(&response.body).ok()
}

/// Decodes the list of a read, which is empty for "no content".
pub(crate) fn open_read_list<'a, T: Deserialize<'a>>(
    response: &'a Response,
) -> Result<LenientList<T>, ReadError> {
    let body = open_list::<T>(response)?.map_err(Fault::into_read_error)?;
    Ok(body.map(|body| body.data).unwrap_or_default())
}
