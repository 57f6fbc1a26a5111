//! A mock server whose routes share a state, and the documents of the adapters' own fixtures with
//! which it responds.

use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tests::{
    MockResponse, MockServer, ReceivedRequest, count, days_ahead, eventually, for_each_string,
    minutes_ahead, read_fixture, shift_dates,
};

/// A function that handles the requests to a route.
pub(super) type Work<W> = fn(&mut W, &ReceivedRequest) -> MockResponse;

/// Header names and values.
pub(super) type Headers = &'static [(&'static str, &'static str)];

pub(super) struct Mock<W> {
    pub(super) api: MockServer,
    world: Arc<Mutex<W>>,
    /// Headers that every request must have.
    headers: Headers,
}

impl<W: Send + 'static> Mock<W> {
    pub(super) async fn start(world: Arc<Mutex<W>>, headers: Headers) -> Self {
        Self {
            api: MockServer::start().await,
            world,
            headers,
        }
    }

    /// Sets the function that handles the requests to a route.
    pub(super) fn serve(
        &self,
        route: &str,
        work: impl Fn(&mut W, &ReceivedRequest) -> MockResponse + Send + Sync + 'static,
    ) {
        let world = self.world.clone();
        self.api.on(route, move |request| {
            work(&mut world.lock().unwrap(), request)
        });
    }

    /// Makes a route return `answer` from now on. `work` still takes place.
    pub(super) fn respond_with(&self, route: &str, answer: MockResponse, work: Option<Work<W>>) {
        self.serve(route, move |world, request| {
            if let Some(work) = work {
                work(world, request);
            }
            answer.clone()
        });
    }

    /// Changes the state.
    pub(super) fn change(&self, change: impl FnOnce(&mut W)) {
        change(&mut self.world.lock().unwrap());
    }

    /// Returns the requests since the last call, in order. Checks the headers of each.
    pub(super) fn take_received(&self) -> Vec<ReceivedRequest> {
        let received = self.api.take_received();
        for request in &received {
            for (name, value) in self.headers {
                assert_eq!(request.header(name), Some(*value), "{}", request.route);
            }
        }
        received
    }

    /// Waits until this many requests on a route have arrived.
    pub(super) async fn wait_for_requests(&self, route: &str, times: usize) {
        eventually(&format!("{times} requests to {route}"), async || {
            (count(&self.api.received(), route) >= times).then_some(())
        })
        .await;
    }
}

/// A supplier's responses by name.
pub(super) type Documents = serde_json::Map<String, Value>;

/// Reads fixtures of an adapter by their names, which are separated by spaces. Moves all dates so
/// that the trip begins so many days from today, and every expiry to 30 minutes from now.
pub(super) fn read_documents(adapter: &str, names: &str, begins_in_days: i64) -> Documents {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let folder = plugins.join(adapter).join("fixtures");
    let (to, soon) = (days_ahead(begins_in_days), minutes_ahead(30));
    let documents = names.split(' ').map(|name| {
        let mut document = read_fixture(&folder.join(format!("{name}.json")));
        shift_dates(&mut document, "2027-06-01", &to);
        for_each_string(&mut document, &mut |key, text| {
            if ["expires_at", "expiration", "expiresAt", "ticketLimitTime"].contains(&key) {
                text.clone_from(&soon);
            }
        });
        (name.to_owned(), document)
    });
    documents.collect()
}
