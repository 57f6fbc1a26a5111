//! A booking whose caller retries until it has ended.

use crate::flow::{Flow, FollowUp};
use reqwest::Method;
use serde_json::{Value, json};
use tests::{Booking, Client, Ledger, Reply, Server, eventually};

/// A booking in progress and the requests of its caller, which are always the same.
pub(crate) struct RetriedBooking<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) booking: Booking,
    payment: Value,
    /// Request that purchases bags.
    bags: Option<Value>,
}

/// The results of one round of the caller's calls.
pub(crate) struct RoundResult {
    pub(crate) booking: Value,
    /// Response to the call that the caller made because the booking had not ended.
    pub(crate) reply: Option<Reply>,
}

impl<'a> RetriedBooking<'a> {
    /// Makes a booking that is ready to be completed.
    pub(crate) async fn begin(server: &Server, flow: &'a Flow) -> Self {
        let builder = flow.builder();
        Self {
            flow,
            booking: builder.prebooked(server).await,
            payment: builder.payment(&server.client()).await,
            bags: None,
        }
    }

    /// Completes the ticket, waits for its capture, and selects bags.
    pub(crate) async fn choose_bags(&mut self, server: &Server, card: &str) {
        let client = server.client();
        let _confirmed = self.booking.book(&self.payment).await.expect(200);
        eventually("the ticket to be paid", async || {
            (server.ledger().await.count(&self.booking.id, "capture") == 1).then_some(())
        })
        .await;
        self.bags = Some(client.bag_request(&self.booking.id, card).await);
    }

    /// Reads the booking and sends the call that it still needs. Returns `None` if the process is
    /// down.
    pub(crate) async fn call_once(&self, client: &Client) -> Option<RoundResult> {
        let path = &self.booking.path;
        let found = client.try_send(Method::GET, path, None).await.ok()?;
        let booking = found.expect(200).data().clone();
        let (verb, body) = match (booking["status"].as_str().unwrap(), self.flow.follow_up) {
            ("READY_FOR_COMPLETE", _) => ("book", self.payment.clone()),
            ("CONFIRMED", FollowUp::Cancel) => ("cancel", json!({})),
            ("CONFIRMED", FollowUp::Bags(..)) => ("services", self.bags.clone().unwrap()),
            _ => {
                let reply = None;
                return Some(RoundResult { booking, reply });
            }
        };
        // Purchasing bags needs a key. Every repetition uses the same one.
        let client = match verb {
            "services" => client.header("x-idempotency-key", "crash-1"),
            _ => client.clone(),
        };
        let body = Some(body.to_string().into_bytes());
        let path = format!("{path}/{verb}");
        let reply = Some(client.try_send(Method::POST, &path, body).await.ok()?);
        Some(RoundResult { booking, reply })
    }

    /// Returns whether everything is in its final state.
    pub(crate) fn has_ended(&self, seen: &RoundResult, ledger: &Ledger) -> bool {
        let answered = match (self.flow.follow_up, &seen.reply) {
            (FollowUp::Bags(_, answer), Some(reply)) => reply.status == answer,
            (FollowUp::Bags(..), None) => false,
            (FollowUp::Nothing | FollowUp::Cancel, _) => true,
        };
        answered && seen.booking["status"] == self.flow.end && self.has_ledger_entries(ledger)
    }

    /// Returns whether the ledger has the entries that the flow ends with.
    pub(crate) fn has_ledger_entries(&self, ledger: &Ledger) -> bool {
        let mut wanted = self.flow.ledger.iter();
        wanted.all(|(kind, count)| ledger.count(&self.booking.id, kind) == *count)
    }

    /// Checks that every authorization was captured or voided, that the captures equal the price of
    /// the booking, and that refunds do not exceed them.
    pub(crate) fn check_money(&self, booking: &Value, ledger: &Ledger, point: &str) {
        let id = &self.booking.id;
        let [held, taken, released] = ledger.counts(id, ["authorization", "capture", "void"]);
        assert_eq!(held, taken + released, "{point}: a hold is left");
        let (captured, refunded) = (ledger.sum(id, "capture"), ledger.sum(id, "refund"));
        if taken > 0 {
            // The two products name the total differently.
            let total = booking.get("total").unwrap_or(&booking["total_amount"]);
            let total = total["amount"].as_f64().unwrap();
            let is_exact = (captured - total).abs() < 0.001;
            assert!(is_exact, "{point}: {captured} taken of {total}");
        }
        assert!(refunded <= captured, "{point}: more given back than taken");
    }

    /// Checks that a purchase left the ticket unchanged, with the bag added only if the purchase
    /// succeeded.
    pub(crate) fn check_ticket(&self, booking: &Value, point: &str) {
        let FollowUp::Bags(_, answer) = self.flow.follow_up else {
            return;
        };
        let bought = answer == 200;
        let (services, payments) = (&booking["services"], &booking["payments"]);
        assert_eq!(
            services.as_array().unwrap().last().unwrap()["status"],
            if bought { "CONFIRMED" } else { "FAILED" },
            "{point}"
        );
        let price = if bought { 60.0 } else { 0.0 };
        assert_eq!(booking["services_amount"]["amount"], price, "{point}");
        assert_eq!(payments[0]["status"], "CAPTURED", "{point}");
        for absent in ["failure", "cancellation"] {
            assert!(booking.get(absent).is_none(), "{point}: {absent}");
        }
    }
}
