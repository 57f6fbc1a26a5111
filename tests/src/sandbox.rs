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
        let request = http().get(format!("{sandbox}/control/ledger"));
        let answer = request.send().await.expect("the sandbox responds");
        let rows: Vec<Value> = answer.json().await.expect("the ledger is an array");
        let entry = |row: &Value| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            LedgerEntry {
                kind: text("kind"),
                client_reference: text("client_reference"),
                reference: text("reference"),
                amount: row["amount"].as_f64().unwrap_or_default(),
            }
        };
        Self(rows.iter().map(entry).collect())
    }

    /// Returns the kinds of a booking's entries, in order.
    pub fn kinds_of<'a>(&'a self, booking: &'a str) -> Vec<&'a str> {
        let entries = self.of(booking);
        entries.map(|entry| entry.kind.as_str()).collect()
    }

    /// Counts the entries of a kind for a booking.
    pub fn count(&self, booking: &str, kind: &str) -> usize {
        self.of_kind(booking, kind).count()
    }

    /// Counts the entries of each kind for a booking.
    pub fn counts<const N: usize>(&self, booking: &str, kinds: [&str; N]) -> [usize; N] {
        kinds.map(|kind| self.count(booking, kind))
    }

    /// Returns the sum of the amounts of a kind for a booking, in major units.
    pub fn sum(&self, booking: &str, kind: &str) -> f64 {
        let entries = self.of_kind(booking, kind);
        entries.map(|entry| entry.amount).sum()
    }

    fn of_kind<'a>(
        &'a self,
        booking: &'a str,
        kind: &'a str,
    ) -> impl Iterator<Item = &'a LedgerEntry> {
        let entries = self.of(booking);
        entries.filter(move |entry| entry.kind == kind)
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
    control(sandbox, "/control/pay", &json!({"token": token})).await;
}

/// Ends the outages of the scenarios that can be restored.
pub async fn restore_content(sandbox: &str) {
    control(sandbox, "/control/heal", &json!({})).await;
}

/// Sets the ROOM_ONLY price of a night at a hotel, in major units.
pub async fn set_price(sandbox: &str, hotel: &str, nightly: f64) {
    let price = json!({"supplier_hotel_id": hotel, "nightly": nightly});
    control(sandbox, "/control/price", &price).await;
}

async fn control(sandbox: &str, path: &str, body: &Value) {
    let request = http().post(format!("{sandbox}{path}")).json(body);
    let answer = request.send().await.expect("the sandbox responds");
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
}

fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}
