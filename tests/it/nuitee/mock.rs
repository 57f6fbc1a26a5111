//! A mock server whose routes share a state, and the errors in Nuitee's format.

use serde_json::json;
use std::sync::{Arc, Mutex};
use tests::{MockResponse, MockServer, ReceivedRequest};

/// API key of the account.
pub(super) const KEY: &str = "sand_0123456789abcdef";

/// A function that handles the requests to a route.
pub(super) type Work<W> = fn(&mut W, &ReceivedRequest) -> MockResponse;

/// A server that refuses requests without the key.
pub(super) struct Mock<W> {
    pub(super) api: MockServer,
    world: Arc<Mutex<W>>,
}

impl<W: Send + 'static> Mock<W> {
    pub(super) async fn start(world: Arc<Mutex<W>>) -> Self {
        Self {
            api: MockServer::start().await,
            world,
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
            if request.header("x-api-key") == Some(KEY) {
                work(&mut world.lock().unwrap(), request)
            } else {
                refusal(401, 401, "Unauthorized")
            }
        });
    }

    /// Makes a route return `answer` from now on. `work` still takes place.
    pub(super) fn respond_with(&self, route: &str, answer: MockResponse, work: Option<Work<W>>) {
        let world = self.world.clone();
        self.api.on(route, move |request| {
            if let Some(work) = work {
                work(&mut world.lock().unwrap(), request);
            }
            answer.clone()
        });
    }

    /// Changes the state.
    pub(super) fn change(&self, change: impl FnOnce(&mut W)) {
        change(&mut self.world.lock().unwrap());
    }

    /// Returns the requests since the last call, in order. Checks that each has the key.
    pub(super) fn take_received(&self) -> Vec<ReceivedRequest> {
        let received = self.api.take_received();
        for request in &received {
            assert_eq!(request.header("x-api-key"), Some(KEY), "{}", request.route);
        }
        received
    }
}

/// Returns an error in Nuitee's format.
pub(super) fn refusal(status: u16, code: u32, description: &str) -> MockResponse {
    let error = json!({"code": code, "message": "an explanation", "description": description});
    MockResponse::json(status, &json!({ "error": error }))
}
