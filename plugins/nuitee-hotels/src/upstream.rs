//! Nuitee's envelope and its errors.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use stopover_sdk::http::Response;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{LenientList, LenientNumber, Part};
use stopover_sdk::{ReadError, json, lenient_struct};

use crate::fault::Fault;
use crate::wire::Reference;

/// Timeout of reads that Nuitee serves from its own data, in milliseconds. Nuitee itself gives up
/// after 4 s.
pub(crate) const READ_TIMEOUT_MS: u32 = 8_000;

/// The content of a response, `None` for "no content", or the error that it states.
pub(crate) type Opened<T> = Result<Option<T>, Fault>;

/// The data of a response, with the fields beside it that some endpoints have.
#[derive(Default)]
pub(crate) struct Body<T, H = IgnoredAny> {
    pub(crate) data: T,
    /// Summaries of the hotels of rates.
    pub(crate) hotels: Part<H>,
    /// Total number of items of a list.
    pub(crate) total: LenientNumber,
}

/// The envelope. Some endpoints have `error` under `value`.
#[derive(Deserialize)]
struct Envelope<T, H> {
    data: Option<T>,
    #[serde(default)]
    hotels: Part<H>,
    #[serde(default)]
    total: LenientNumber,
    #[serde(default)]
    error: Part<WireError>,
    #[serde(default)]
    value: Part<Wrapped>,
}

lenient_struct! {
    struct Wrapped {
        error: Part<WireError> = "error",
    }

    /// An error. One without any text states nothing.
    #[derive(Clone, PartialEq)]
    pub(crate) struct WireError {
        pub(crate) code: Reference = "code",
        pub(crate) message: Reference = "message",
        pub(crate) description: Reference = "description",
    }
}

impl<T, H> Envelope<T, H> {
    /// Returns the error, which is empty if it has another form.
    fn error(&self) -> Option<WireError> {
        let wrapped = self.value.as_decoded().map(|value| &value.error);
        let mut errors = [Some(&self.error), wrapped].into_iter().flatten();
        errors.find_map(Part::statement)
    }
}

/// Decodes a response, or `None` for "no content": by status 204 or by error code 204. An error body
/// counts whatever the status, and only a 2xx response has data. A response with both contradicts
/// itself, and its error proves nothing.
///
/// # Errors
/// Fails if a 2xx response has neither data nor an error. It does not say that there is nothing.
pub(crate) fn open<'a, T, H>(response: &'a Response) -> Result<Opened<Body<T, H>>, DecodeError>
where
    T: Deserialize<'a>,
    H: Deserialize<'a> + Default,
{
    if response.status == 204 {
        return Ok(Ok(None));
    }
    // Otherwise a list would count as an envelope, too, because its items are in the order of fields.
    let is_object = response.body.trim_ascii_start().starts_with(b"{");
    ensure(
        is_object || !response.is_success(),
        "the response is no object",
    )?;
    let opened = json::decode::<Envelope<T, H>>(&response.body);
    let unreadable = match opened {
        Ok(envelope) if response.is_success() && envelope.error().is_none() => {
            let data = envelope.data.ok_or_else(|| {
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
    let envelope = json::decode::<Envelope<Value, IgnoredAny>>(&response.body).ok();
    let error = envelope.as_ref().and_then(Envelope::error);
    if let (None, true, Some(unreadable)) = (&error, response.is_success(), unreadable) {
        return Err(unreadable);
    }
    let has_data = envelope.and_then(|envelope| envelope.data);
    let has_data = has_data.is_some_and(|data| !is_empty(&data));
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
pub(crate) fn open_list<'a, T, H>(
    response: &'a Response,
) -> Result<Opened<Body<LenientList<T>, H>>, DecodeError>
where
    T: Deserialize<'a>,
    H: Deserialize<'a> + Default,
{
    let opened = open::<LenientList<T>, H>(response)?;
    if let Ok(Some(body)) = &opened
        && body.data.len() + body.data.unreadable().len() <= 1
    {
        // An empty text and an object would count as lists of no and of one item.
        drop(open::<Vec<IgnoredAny>, IgnoredAny>(response)?);
    }
    Ok(opened)
}

/// Decodes the data of a call that may have changed something, or `None` for "no content".
pub(crate) fn open_change<'a, T: Deserialize<'a>>(
    response: &'a Response,
) -> Result<Opened<T>, DecodeError> {
    let opened = open::<T, IgnoredAny>(response)?;
    Ok(opened.map(|body| body.map(|body| body.data)))
}

/// Decodes the data of a read, or `None` for "no content".
pub(crate) fn open_read<'a, T: Deserialize<'a>>(
    response: &'a Response,
) -> Result<Option<T>, ReadError> {
    open_change(response)?.map_err(Fault::into_read_error)
}

/// Decodes the list of a read, which is empty for "no content".
pub(crate) fn open_read_list<'a, T: Deserialize<'a>>(
    response: &'a Response,
) -> Result<LenientList<T>, ReadError> {
    let body = open_list::<T, IgnoredAny>(response)?.map_err(Fault::into_read_error)?;
    Ok(body.map(|body| body.data).unwrap_or_default())
}
