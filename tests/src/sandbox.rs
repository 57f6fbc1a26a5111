//! The sandbox's ledger and controls.

use serde_json::{Value, json};

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerEntry {
    /// One of `booking`, `cancellation`, `authorization`, `capture`, `void`, `refund`.
    pub kind: String,
    /// Reference that the gateway sent. It begins with the booking's id.
    pub client_reference: String,
    /// The supplier's own id of the booking, or the processor's id of the payment.
    pub reference: String,
    /// Amount in major units.
    pub amount: f64,
}

/// All entries, oldest first.
#[derive(Debug, Clone)]
pub struct Ledger(Vec<LedgerEntry>);

impl Ledger {
    /// Reads the ledger of a sandbox.
    pub async fn read(sandbox: &str) -> Self {
        let rows: Value = control(sandbox, reqwest::Method::GET, "/control/ledger", None).await;
        let rows = rows.as_array().expect("the ledger is an array").iter();
        Self(
            rows.map(|row| LedgerEntry {
                kind: row["kind"].as_str().unwrap().to_owned(),
                client_reference: row["client_reference"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
                reference: row["reference"].as_str().unwrap_or_default().to_owned(),
                amount: row["amount"].as_f64().unwrap_or_default(),
            })
            .collect(),
        )
    }

    /// Returns the kinds of a booking's entries, in order.
    #[must_use]
    pub fn kinds_of<'a>(&'a self, booking: &'a str) -> Vec<&'a str> {
        self.of(booking)
            .map(|effect| effect.kind.as_str())
            .collect()
    }

    /// Counts the entries of a kind for a booking.
    #[must_use]
    pub fn count(&self, booking: &str, kind: &str) -> usize {
        self.of(booking)
            .filter(|effect| effect.kind == kind)
            .count()
    }

    /// Returns the sum of the amounts of a kind for a booking, in major units.
    #[must_use]
    pub fn sum(&self, booking: &str, kind: &str) -> f64 {
        self.of(booking)
            .filter(|effect| effect.kind == kind)
            .map(|effect| effect.amount)
            .sum()
    }

    /// Returns all entries of a booking.
    pub fn of<'a>(&'a self, booking: &'a str) -> impl Iterator<Item = &'a LedgerEntry> {
        self.0
            .iter()
            .filter(move |effect| effect.client_reference.starts_with(booking))
    }
}

/// Completes a payment in place of a browser.
pub async fn complete_payment(sandbox: &str, token: &str) {
    control(
        sandbox,
        reqwest::Method::POST,
        "/control/pay",
        Some(json!({"token": token})),
    )
    .await;
}

/// Ends the outages of the scenarios that can be restored.
pub async fn restore_content(sandbox: &str) {
    control(
        sandbox,
        reqwest::Method::POST,
        "/control/heal",
        Some(json!({})),
    )
    .await;
}

/// Sets the ROOM_ONLY price of a night at a hotel, in major units.
pub async fn set_price(sandbox: &str, hotel: &str, nightly: f64) {
    control(
        sandbox,
        reqwest::Method::POST,
        "/control/price",
        Some(json!({"supplier_hotel_id": hotel, "nightly": nightly})),
    )
    .await;
}

async fn control(sandbox: &str, method: reqwest::Method, path: &str, body: Option<Value>) -> Value {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = http.request(method, format!("{sandbox}{path}"));
    if let Some(body) = body {
        request = request.json(&body);
    }
    let answer = request.send().await.expect("the sandbox responds");
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
    let text = answer.text().await.unwrap();
    if text.is_empty() {
        Value::Null
    } else {
        serde_json::from_str(&text).unwrap()
    }
}
