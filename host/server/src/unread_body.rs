//! Bodies of requests that were refused before they were read. hyper cannot serve the next request
//! of a connection before the body has been read, and closes the connection without saying so. The
//! client would then lose its next request.

use axum::body::{Body, Bytes};
use http::header::{CONNECTION, EXPECT};
use http::{HeaderValue, Request, Response};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;

/// Maximum length of a body that is read and discarded. Forms of the dashboard are no longer.
const DISCARDED_BYTES_MAX: u64 = 64 * 1024;
/// Time in which a discarded body must have come.
const DISCARD_TIME_MAX: Duration = Duration::from_secs(2);

/// Responds to a request, and discards what was not read of its body. A response that leaves too
/// much of it says that the connection is closed.
pub(crate) async fn respond<F>(
    request: Request<Incoming>,
    service: impl FnOnce(Request<Body>) -> F,
) -> Result<Response<Body>, Infallible>
where
    F: Future<Output = Result<Response<Body>, Infallible>>,
{
    if request.body().is_end_stream() {
        return service(request.map(Body::new)).await;
    }
    // Reading would ask the client to send what it holds back.
    let is_held_back = request.headers().contains_key(EXPECT);
    let rest = UnreadBody::default();
    let request = request.map(|body| {
        Body::new(ReturnedBody {
            body: Some(body),
            rest: Arc::clone(&rest),
        })
    });
    let mut response = service(request).await?;
    let unread = rest.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(unread) = unread
        && (is_held_back || !discard(unread).await)
    {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
    Ok(response)
}

/// Reads the rest of a body. Returns whether it was short enough and came in time.
async fn discard(mut body: Incoming) -> bool {
    let mut left = DISCARDED_BYTES_MAX;
    if body.size_hint().lower() > left {
        return false;
    }
    let read_all = async {
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let bytes = frame.ok()?.into_data().map_or(0, |data| data.len());
            left = left.checked_sub(u64::try_from(bytes).ok()?)?;
        }
        Some(())
    };
    timeout(DISCARD_TIME_MAX, read_all)
        .await
        .ok()
        .flatten()
        .is_some()
}

/// The part of a body that was not read.
type UnreadBody = Arc<Mutex<Option<Incoming>>>;

/// A body whose unread part comes back when it is dropped.
struct ReturnedBody {
    /// `None` after the end.
    body: Option<Incoming>,
    rest: UnreadBody,
}

impl hyper::body::Body for ReturnedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let body = self.body.as_ref();
        body.map_or_else(|| SizeHint::with_exact(0), Incoming::size_hint)
    }
}

impl Drop for ReturnedBody {
    fn drop(&mut self) {
        let unread = self.body.take().filter(|body| !body.is_end_stream());
        *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = unread;
    }
}
