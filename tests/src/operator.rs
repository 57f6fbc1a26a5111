//! A client of the admin listener that resolves calls with unknown outcome.

use crate::client::{Client, Reply};
use crate::eventually;
use crate::server::Server;
use serde_json::Value;

/// An operator of a server.
pub struct AdminClient(Client);

impl AdminClient {
    /// Creates an operator of `server`.
    pub fn of(server: &Server) -> Self {
        Self(Client::new(&server.admin, ""))
    }

    /// Lists the unresolved calls of a booking's step.
    pub async fn unresolved_calls(&self, booking: &str, step: &str) -> Vec<Value> {
        let listed = self.0.get("/unresolved").await.expect(200);
        let calls = listed.data()["calls"].as_array().unwrap().iter();
        let is_it = |call: &&Value| call["booking_id"] == booking && call["step"] == step;
        calls.filter(is_it).cloned().collect()
    }

    /// Returns whether a booking's step has an unresolved call.
    pub async fn has_unresolved_call(&self, booking: &str, step: &str) -> bool {
        !self.unresolved_calls(booking, step).await.is_empty()
    }

    /// Returns the parked job of a booking.
    pub async fn parked_job(&self, booking: &str) -> Option<Value> {
        let listed = self.0.get("/unresolved").await.expect(200);
        let mut jobs = listed.data()["parked_jobs"].as_array().unwrap().iter();
        jobs.find(|job| job["subject"] == booking).cloned()
    }

    /// Retries parked jobs and returns them.
    pub async fn retry_parked_jobs(&self, which: &Value) -> Vec<Value> {
        let begun = self.0.post("/parked_jobs", which).await.expect(200);
        begun.data()["jobs"].as_array().unwrap().clone()
    }

    /// Resolves an unknown outcome and returns the response.
    pub async fn resolve(&self, booking: &str, verdict: &Value) -> Reply {
        self.0
            .post(&format!("/unresolved/{booking}"), verdict)
            .await
    }

    /// Resolves an unknown outcome as soon as no reconciliation is in progress.
    pub async fn resolve_when_idle(&self, booking: &str, verdict: &Value) -> Reply {
        eventually("no reconciliation to be in progress", async || {
            let reply = self.resolve(booking, verdict).await;
            Some(reply).filter(|reply| reply.body["code"] != "booking_changed")
        })
        .await
    }
}
