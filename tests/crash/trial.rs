//! One booking, seen by a caller who does not give up.

use crate::flow::{Flow, Then};
use reqwest::Method;
use serde_json::{Value, json};
use tests::{Client, Ledger, Reply, Server, eventually};

/// A booking on its way, and what the caller sends about it: always the same.
pub(crate) struct Trial<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) booking: String,
    payment: Value,
    /// What buys bags.
    bags: Option<Value>,
}

/// What the caller saw and got, asking once.
pub(crate) struct Seen {
    pub(crate) booking: Value,
    /// To what was asked for because the booking was not at its end.
    pub(crate) reply: Option<Reply>,
}

impl<'a> Trial<'a> {
    /// As far as to a booking that can be completed.
    pub(crate) async fn begin(server: &Server, flow: &'a Flow) -> Self {
        let client = server.client();
        Self {
            flow,
            booking: flow.way.ready(server).await,
            payment: flow.way.payment(&client, flow.card).await,
            bags: None,
        }
    }

    /// The ticket is there and paid; bags are chosen.
    pub(crate) async fn choose_bags(&mut self, server: &Server, card: &str) {
        let client = server.client();
        let booked = client.book_flight(&self.booking, &self.payment).await;
        let _confirmed = booked.expect(200);
        eventually("the ticket to be paid", async || {
            (server.ledger().await.count(&self.booking, "capture") == 1).then_some(())
        })
        .await;
        self.bags = Some(client.bag_request(&self.booking, card).await);
    }

    /// Looks, and asks for what has not happened. None: the process is gone.
    pub(crate) async fn ask(&self, client: &Client) -> Option<Seen> {
        let path = self.flow.way.path(&self.booking);
        let found = client.try_send(Method::GET, &path, None).await.ok()?;
        let booking = found.expect(200).data().clone();
        let (verb, body) = match (booking["status"].as_str().unwrap(), self.flow.then) {
            ("READY_FOR_COMPLETE", _) => ("book", self.payment.clone()),
            ("CONFIRMED", Then::Cancel) => ("cancel", json!({})),
            ("CONFIRMED", Then::Bags(..)) => ("services", self.bags.clone().unwrap()),
            _ => {
                let reply = None;
                return Some(Seen { booking, reply });
            }
        };
        // Bags need a key; whatever has one is asked for under the same one again.
        let client = match verb {
            "services" => client.header("x-idempotency-key", "crash-1"),
            _ => client.clone(),
        };
        let body = Some(body.to_string().into_bytes());
        let path = format!("{path}/{verb}");
        let reply = Some(client.try_send(Method::POST, &path, body).await.ok()?);
        Some(Seen { booking, reply })
    }

    /// Whether everything is as it must end.
    pub(crate) fn is_over(&self, seen: &Seen, ledger: &Ledger) -> bool {
        let answered = match (self.flow.then, &seen.reply) {
            (Then::Bags(_, answer), Some(reply)) => reply.status == answer,
            (Then::Bags(..), None) => false,
            (Then::Nothing | Then::Cancel, _) => true,
        };
        answered && seen.booking["status"] == self.flow.end && self.is_in(ledger)
    }

    /// Whether the ledger holds what it must in the end.
    pub(crate) fn is_in(&self, ledger: &Ledger) -> bool {
        let mut wanted = self.flow.ledger.iter();
        wanted.all(|(kind, count)| ledger.count(&self.booking, kind) == *count)
    }

    /// What was held was taken or released, what was taken is what the booking
    /// costs, and no more was given back.
    pub(crate) fn check_money(&self, booking: &Value, ledger: &Ledger, point: &str) {
        let count = |kind| ledger.count(&self.booking, kind);
        let sum = |kind| ledger.sum(&self.booking, kind);
        assert_eq!(
            count("authorization"),
            count("capture") + count("void"),
            "{point}: a hold is left"
        );
        if count("capture") > 0 {
            let total = self.flow.way.total(booking);
            assert!(
                (sum("capture") - total).abs() < 0.001,
                "{point}: {} taken of {total}",
                sum("capture")
            );
        }
        assert!(
            sum("refund") <= sum("capture"),
            "{point}: more given back than taken"
        );
    }

    /// A purchase leaves the ticket as it was; the bag is on it, or it is not.
    pub(crate) fn check_ticket(&self, booking: &Value, point: &str) {
        let Then::Bags(_, answer) = self.flow.then else {
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
