//! The adapter against a stateful Stripe over real HTTP: its forms are understood, and each
//! response leads to the next call.

mod process;

use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, DeclineReason, FindRequest, Intent, IntentRequest,
    PaymentError, PaymentLookup, PaymentStatus, ProcessorPayment, RefundLookup, RefundRequest,
    VoidRequest,
};
use stopover_sdk::supplier_events::EventKind;
use stopover_sdk::testing::Outcome::{Misconfigured, NotFound, Refused, Rejected, Unknown};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::{PaymentProcessor, ReadError, SupplierEvents};
use stripe_payments::StripePayments;

use crate::script::{authorize_request, capture_request, euros, intent_request, refund_request};
use crate::webhook::delivery;
use process::LocalStripe;

/// A card that pays. The next constant is a card that can be stored but never pays.
const GOOD: &str = "pm_card_visa";
const DECLINING: &str = "pm_card_chargeCustomerFail";
/// A card that cannot be stored.
const UNKEEPABLE: &str = "pm_card_visa_chargeDeclined";

struct Booking<'a> {
    stripe: &'a LocalStripe,
    name: &'static str,
}

fn booking<'a>(stripe: &'a LocalStripe, name: &'static str) -> Booking<'a> {
    Booking { stripe, name }
}

impl Booking<'_> {
    fn reference(&self, call: &str) -> String {
        format!("{}-{call}", self.name)
    }

    fn kept(&self, token: &str) -> String {
        let describe = || StripePayments::describe_instrument(token.to_owned());
        self.stripe.run(describe).unwrap().token
    }

    fn authorize(&self, token: &str) -> Result<ProcessorPayment, PaymentError> {
        let request = AuthorizeRequest {
            client_reference: self.reference("authorize"),
            instrument: self.kept(token),
            ..authorize_request()
        };
        self.stripe.run(|| StripePayments::authorize(request))
    }

    fn authorized(&self) -> String {
        let state = self.authorize(GOOD).unwrap();
        assert_eq!(state.status, PaymentStatus::Authorized);
        assert_eq!(state.authorized, 1_000);
        state.processor_reference
    }

    fn capture(&self, payment: &str) -> Result<ProcessorPayment, PaymentError> {
        let request = CaptureRequest {
            client_reference: self.reference("capture"),
            processor_reference: payment.to_owned(),
            ..capture_request()
        };
        self.stripe.run(|| StripePayments::capture(request))
    }

    fn void(&self, payment: &str) -> Result<ProcessorPayment, PaymentError> {
        let request = VoidRequest {
            client_reference: self.reference("void"),
            processor_reference: payment.to_owned(),
        };
        self.stripe.run(|| StripePayments::void(request))
    }

    /// Finds a payment by Stripe's id or by the call that created it.
    fn find(&self, payment: Option<&str>, made_by: &str) -> Result<PaymentLookup, ReadError> {
        let request = FindRequest {
            client_reference: self.reference(made_by),
            processor_reference: payment.map(str::to_owned),
        };
        self.stripe.run(|| StripePayments::find(request))
    }

    fn found(&self, payment: Option<&str>, made_by: &str) -> ProcessorPayment {
        match self.find(payment, made_by) {
            Ok(PaymentLookup::Found(state)) => state,
            other => panic!("{other:?}"),
        }
    }
}

fn totals(state: &ProcessorPayment) -> (PaymentStatus, i64, i64, i64) {
    (
        state.status,
        state.authorized,
        state.captured,
        state.refunded,
    )
}

#[test]
fn stored_card_is_authorized_captured_and_refunded() {
    let stripe = LocalStripe::start();
    let booking = booking(&stripe, "bkg_1");
    let payment = booking.authorized();
    let taken = booking.capture(&payment).unwrap();
    assert_eq!(totals(&taken), (PaymentStatus::Captured, 1_000, 1_000, 0));

    let refund = || {
        let request = RefundRequest {
            client_reference: booking.reference("refund"),
            processor_reference: payment.clone(),
            ..refund_request()
        };
        stripe.run(|| StripePayments::refund(request))
    };
    let find = || {
        let (payment, reference) = (payment.clone(), booking.reference("refund"));
        stripe.run(|| StripePayments::find_refund(payment, reference))
    };
    assert_eq!(find(), Ok(RefundLookup::NotFound));
    let refunded = refund().unwrap();
    assert_eq!(refunded.amount, euros(400));
    assert_eq!(find(), Ok(RefundLookup::Found(refunded)));

    let state = booking.found(Some(&payment), "authorize");
    assert_eq!(totals(&state), (PaymentStatus::Captured, 1_000, 1_000, 400));
}

#[test]
fn authorization_is_found_by_client_reference_and_voided() {
    let stripe = LocalStripe::start();
    let one = booking(&stripe, "bkg_1");
    let other = booking(&stripe, "bkg_2");
    let payment = one.authorized();
    let _another = other.authorized();
    let found = one.found(None, "authorize");
    assert_eq!(found.processor_reference, payment);
    assert_eq!(totals(&found), (PaymentStatus::Authorized, 1_000, 0, 0));

    let released = one.void(&payment).unwrap();
    assert_eq!(released.status, PaymentStatus::Voided);
    assert_eq!(one.found(None, "authorize").status, PaymentStatus::Voided);
    let kept = other.found(None, "authorize");
    assert_eq!(kept.status, PaymentStatus::Authorized);
    let again = one.void(&payment);
    assert_eq!(outcome(&again), Unknown, "{again:?}");
}

#[test]
fn declined_card_authorizes_nothing() {
    let stripe = LocalStripe::start();
    let booking = booking(&stripe, "bkg_1");
    let reason = DeclineReason::Other("card_declined".to_owned());
    let ending = booking.authorize(DECLINING);
    assert_eq!(ending, Err(PaymentError::Declined(reason)));
    let state = booking.found(None, "authorize");
    assert_eq!(totals(&state), (PaymentStatus::Declined, 0, 0, 0));

    for (token, expected) in [
        (UNKEEPABLE, Rejected("payment declined")),
        ("pm_nobodys", NotFound),
    ] {
        let response = stripe.run(|| StripePayments::describe_instrument(token.to_owned()));
        assert_eq!(outcome(&response), expected, "{response:?}");
    }
}

#[test]
fn browser_completes_intent() {
    let stripe = LocalStripe::start();
    let booking = booking(&stripe, "bkg_1");
    let request = IntentRequest {
        client_reference: booking.reference("intent"),
        amount: euros(1_000),
        ..intent_request()
    };
    let intent = stripe.run(|| StripePayments::create_intent(request));
    let Intent {
        processor_reference: payment,
        token,
    } = intent.unwrap();
    let prefix = format!("{payment}_secret_");
    assert!(token.starts_with(&prefix), "{token}");
    let waits = booking.found(None, "intent");
    assert_eq!(totals(&waits), (PaymentStatus::RequiresAction, 0, 0, 0));

    // These requests do what the browser's library does.
    let path = format!("/v1/payment_intents/{payment}");
    stripe.post(&path, "payment_method=pm_card_visa");
    stripe.post(&format!("{path}/confirm"), "");
    let paid = booking.found(Some(&payment), "intent");
    assert_eq!(totals(&paid), (PaymentStatus::Authorized, 1_000, 0, 0));
    let taken = booking.capture(&payment).unwrap();
    assert_eq!(taken.status, PaymentStatus::Captured);
}

#[test]
fn invalid_api_key_is_refused() {
    let stripe = LocalStripe::start().with_key("nonsense");
    let booking = booking(&stripe, "bkg_1");
    let response = booking.find(None, "authorize");
    assert_eq!(outcome(&response), Misconfigured, "{response:?}");
    let ending = booking.capture("pi_1");
    assert_eq!(outcome(&ending), Refused(""), "{ending:?}");
}

#[test]
fn delivery_signed_by_stripe_is_authentic() {
    let stripe = LocalStripe::start();
    let secret = "whsec_made0up";
    let deliveries = stripe.deliver("payment_intent.succeeded", secret);
    let booking = booking(&stripe, "bkg_1");
    let payment = booking.authorized();
    let _taken = booking.capture(&payment).unwrap();

    let (header, body) = deliveries.next();
    let (_, time) = header.split_once("t=").unwrap();
    let time: i64 = time.split(',').next().unwrap().parse().unwrap();
    let headers = [("Stripe-Signature", header.as_str())];
    let delivery = delivery(&headers, body, time * 1_000);
    let verify = |secret: &str| {
        let gateway = MockGateway::new().secret("webhook", secret);
        gateway.run(|| StripePayments::verify(delivery.clone()))
    };
    let events = verify(secret).unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].kind, EventKind::PaymentChanged);
    assert_eq!(events[0].supplier_reference, Some(payment));
    let reference = booking.reference("authorize");
    assert_eq!(events[0].client_reference, Some(reference));
    assert!(verify("whsec_other").is_err());
}
