//! Searching airports, for both suppliers.

use std::time::Duration;

use serde_json::Value;

use crate::{
    flight::reference_data::{Airport, find_airports},
    state::SandboxState,
};

/// Searches airports as a caller does. Returns at most `limit` of them, each in the supplier's format,
/// and whether there are more. One query takes longer than any caller waits.
pub(super) async fn search_airports(
    app: &SandboxState,
    text: &str,
    limit: usize,
    wire: fn(&Airport) -> Value,
) -> (Vec<Value>, bool) {
    let wait_s = if text.trim() == "slowsearch" { 9 } else { 0 };
    app.sleep_or_stop(Duration::from_secs(wait_s)).await;
    let found = find_airports(text);
    let airports = found.iter().take(limit).map(|airport| wire(airport));
    (airports.collect(), found.len() > limit)
}
