//! A client of the admin listener that resolves calls with unknown outcome, and the commands that use
//! the listener.

use crate::client::{Client, Reply};
use crate::eventually;
use crate::server::{Server, binary};
use serde_json::Value;
use tokio::process::Command;

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

/// Runs a command of `stopover` against a server's admin listener. Returns whether it succeeds, and
/// what it prints to standard output and standard error.
///
/// # Panics
/// Panics if the command cannot be started or prints no UTF-8.
pub async fn admin_command(server: &Server, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(binary());
    command.args(arguments).args(["--admin-url", &server.admin]);
    let output = command.output().await.unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).unwrap())
}
