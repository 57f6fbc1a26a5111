//! Prices, payments and cancellation terms of a booking.

use crate::pages::bookings::fact::Fact;
use crate::text::{State, TimeText, money};
use host_domain::booking::{Booking, BookingKind};
use host_domain::flight::FlightBooking;
use host_domain::flight::itinerary::FareCondition;
use host_domain::hotel::HotelBooking;
use host_domain::hotel::booking::{CancellationStatus, HotelCancellation};
use host_domain::hotel::types::Penalty;
use host_domain::money::Money;
use host_domain::payment::{Card, CardBrand, Payment, PaymentMethod, PaymentStatus};
use host_domain::time::Timestamp;

/// Price and payments of a booking.
#[derive(Default)]
pub(super) struct MoneyText {
    pub(super) price: Vec<Fact>,
    pub(super) payments: Vec<PaymentText>,
    pub(super) cancellations: Vec<CancellationText>,
}

pub(super) struct PaymentText {
    pub(super) id: String,
    pub(super) state: State,
    pub(super) amount: String,
    /// Card and processor.
    pub(super) detail: String,
    /// Amount refunded so far, empty for none.
    pub(super) refunded: String,
}

pub(super) struct CancellationText {
    pub(super) id: String,
    pub(super) state: State,
    /// Empty while it is undecided.
    pub(super) fee: String,
    pub(super) refund: String,
}

/// Cancellation terms of a booking, with their fees.
#[derive(Default)]
pub(super) struct PolicyText {
    /// Terms in words.
    pub(super) terms: Vec<Fact>,
    pub(super) fees: Vec<FeeText>,
}

/// The fee from a time on.
pub(super) struct FeeText {
    pub(super) from: TimeText,
    pub(super) amount: String,
    /// Whether this fee applies now.
    pub(super) is_current: bool,
}

impl MoneyText {
    /// Returns the payments, which both kinds of bookings have.
    pub(super) fn new<K: BookingKind>(booking: &Booking<K>) -> Self {
        Self {
            payments: booking.payments.iter().map(payment).collect(),
            ..Self::default()
        }
    }

    pub(super) fn add_hotel(&mut self, booking: &HotelBooking) {
        let details = &booking.details;
        self.price = vec![
            Fact::text("Total", money(details.total)),
            Fact::text("Paid at the hotel", optional(booking.due_at_property())),
        ];
        let cancellations = details.cancellations.iter();
        self.cancellations = cancellations.map(hotel_cancellation).collect();
    }

    pub(super) fn add_flight(&mut self, booking: &FlightBooking) {
        let details = &booking.details;
        let services = Some(booking.services_amount()).filter(|amount| !amount.is_zero());
        self.price = vec![
            Fact::text("Offered", money(details.offered_total)),
            Fact::text("Ticket", optional(details.ticket_total)),
            Fact::text("Fare", optional(details.fare)),
            Fact::text("Taxes", optional(details.fare_tax)),
            Fact::text("Services", optional(services)),
            Fact::text("Total", optional(booking.total())),
        ];
        let refund = details.cancellation.as_ref();
        let refund = refund.map(|cancellation| cancellation.refund.as_ref());
        self.cancellations = refund
            .map(|refund| CancellationText {
                id: String::new(),
                state: State {
                    tone: "",
                    label: "Canceled",
                },
                fee: optional(refund.map(|refund| refund.fee)),
                refund: optional(refund.map(|refund| refund.refund_amount)),
            })
            .into_iter()
            .collect();
    }
}

fn optional(amount: Option<Money>) -> String {
    amount.map_or_else(String::new, money)
}

fn payment(payment: &Payment) -> PaymentText {
    let (tone, label) = match payment.status() {
        PaymentStatus::RequiresAction => ("wait", "Waits for the payer"),
        PaymentStatus::Authorized => ("wait", "Authorized"),
        PaymentStatus::Captured => ("good", "Captured"),
        PaymentStatus::Voided => ("", "Voided"),
        PaymentStatus::PartiallyRefunded => ("", "Partially refunded"),
        PaymentStatus::Refunded => ("", "Refunded"),
        PaymentStatus::Failed => ("bad", "Failed"),
        PaymentStatus::Unknown => ("wait", "Unknown"),
    };
    let method = match &payment.method {
        PaymentMethod::Instrument { .. } => "stored card",
        PaymentMethod::Sdk => "payer's browser",
        PaymentMethod::Supplier => "supplier's checkout",
    };
    let method = payment
        .card
        .as_ref()
        .map_or_else(|| method.to_owned(), card);
    let refunded = Some(payment.refunded()).filter(|amount| !amount.is_zero());
    PaymentText {
        id: payment.id.to_string(),
        state: State { tone, label },
        amount: money(payment.amount),
        detail: format!("{method} · {}", payment.processor),
        refunded: optional(refunded),
    }
}

fn card(card: &Card) -> String {
    let brand = match card.brand {
        CardBrand::Visa => "Visa",
        CardBrand::Mastercard => "Mastercard",
        CardBrand::Amex => "American Express",
        CardBrand::Discover => "Discover",
        CardBrand::Diners => "Diners Club",
        CardBrand::Jcb => "JCB",
        CardBrand::Unionpay => "UnionPay",
        CardBrand::Unknown => "Card",
    };
    format!("{brand} ending {}", card.last4)
}

fn hotel_cancellation(cancellation: &HotelCancellation) -> CancellationText {
    let (tone, label) = match cancellation.status {
        CancellationStatus::InProgress => ("wait", "In progress"),
        CancellationStatus::Succeeded => ("good", "Succeeded"),
        CancellationStatus::Refused => ("bad", "Refused"),
        CancellationStatus::Failed => ("bad", "Failed"),
    };
    CancellationText {
        id: cancellation.id.to_string(),
        state: State { tone, label },
        fee: optional(cancellation.fee),
        refund: optional(cancellation.refund_amount),
    }
}

impl PolicyText {
    pub(super) fn of_hotel(booking: &HotelBooking, now: Timestamp) -> Self {
        let Some(policy) = &booking.details.policy else {
            return Self::default();
        };
        let refundable = if policy.refundable { "Yes" } else { "No" };
        let free_until = policy.free_until.map(|at| TimeText::new(at, now).full);
        let mut terms = vec![
            Fact::text("Refundable", refundable),
            Fact::text("Free until", free_until.unwrap_or_default()),
        ];
        let restrictions = policy.restrictions.iter();
        let active = restrictions.filter(|restriction| restriction.is_active(now));
        terms.extend(active.map(|one| Fact::text("Restriction", &one.description)));
        let started = policy
            .penalties
            .iter()
            .filter(|penalty| penalty.from <= now);
        let current = started.map(|penalty| penalty.from).max();
        let fee = |penalty: &Penalty| FeeText {
            from: TimeText::new(penalty.from, now),
            amount: money(penalty.amount),
            is_current: Some(penalty.from) == current,
        };
        Self {
            terms,
            fees: policy.penalties.iter().map(fee).collect(),
        }
    }

    pub(super) fn of_flight(booking: &FlightBooking) -> Self {
        let conditions = booking.details.fare_conditions;
        Self {
            terms: vec![
                Fact::text("Refund", condition(conditions.refund)),
                Fact::text("Change", condition(conditions.change)),
            ],
            fees: Vec::new(),
        }
    }
}

fn condition(condition: FareCondition) -> String {
    let allowed = match condition.allowed {
        Some(true) => "allowed before departure",
        Some(false) => "not allowed",
        None => "the airline does not say",
    };
    match condition.penalty {
        Some(penalty) => format!("{allowed}, penalty {}", money(penalty)),
        None => allowed.to_owned(),
    }
}
