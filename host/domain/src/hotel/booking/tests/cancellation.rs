//! Fees and refunds of cancellations: their source, their time, and the order of the rooms.

use super::fixture::*;
use super::*;
use crate::hotel::quote::{HotelCancellationQuote, UnusablePreview};
use crate::hotel::supplier_api::HotelSupplierQuote;
use crate::hotel::types::{CancellationPolicy, Penalty, RefundType};

/// End of free cancellation in the sample policy.
const FREE_UNTIL: Timestamp = Timestamp(2_000_000);

/// A policy whose fee always applies. Without a fee, the price is not refundable.
fn policy(fee: Option<Money>) -> CancellationPolicy {
    let from = Timestamp(0);
    let penalties = fee.into_iter().map(|amount| Penalty::new(from, amount));
    CancellationPolicy {
        refundable: fee.is_some(),
        free_until: None,
        penalties: penalties.collect(),
        restrictions: vec![],
        refund_type: None,
    }
}

/// Returns fee and refund of each cancellation.
fn amounts(booking: &HotelBooking) -> Vec<(Option<Money>, Option<Money>)> {
    let cancellations = booking.details.cancellations.iter();
    cancellations.map(|c| (c.fee, c.refund_amount)).collect()
}

fn decided(fee: i64, refund: i64) -> (Option<Money>, Option<Money>) {
    (Some(euros(fee)), Some(euros(refund)))
}

const UNDECIDED: (Option<Money>, Option<Money>) = (None, None);

#[test]
fn stated_amounts_are_the_sum_of_all_cancellations_so_far() {
    for refunds in [[None, None], [Some(8_000), Some(15_000)]] {
        let [first, both] = refunds.map(|refund| refund.map(euros));
        let done = stating(reported_canceled(&[1]), euros(2_000), first);
        let one = after(room_cancellation_sent(Hotel::captured(), 1, &[1]), [done]);
        assert_eq!(amounts(&one), [decided(2_000, 8_000)]);
        let all = Hotel::reported(SupplierBookingStatus::Canceled);
        let done = stating(all, euros(5_000), both);
        let two = after(room_cancellation_sent(one, 2, &[2]), [done]);
        let expected = [decided(2_000, 8_000), decided(3_000, 7_000)];
        assert_eq!(amounts(&two), expected, "{refunds:?}");
    }
}

#[test]
fn refund_is_undecided_if_stated_amounts_disagree_with_amount_paid() {
    for (fee, refund) in [
        (euros(2_500), Some(euros(17_499))),
        (euros(2_500), Some(euros(17_501))),
        (euros(0), Some(euros(0))),
        (euros(2_500), Some(dollars(17_500))),
        (dollars(2_500), Some(dollars(17_500))),
        (dollars(2_500), None),
        (euros(20_001), None),
        (euros(20_001), Some(euros(0))),
    ] {
        let all = Hotel::reported(SupplierBookingStatus::Canceled);
        let canceled = after(Hotel::cancel_sent(), [stating(all, fee, refund)]);
        let what = format!("{fee} {refund:?}");
        assert_eq!(canceled.status(), BookingStatus::Canceled, "{what}");
        assert_eq!(amounts(&canceled), [UNDECIDED], "{what}");
        assert!(canceled.payments[0].refunds.is_empty(), "{what}");
        assert_eq!(canceled.next_step(NOW), NextStep::Idle, "{what}");
        let reference = &canceled.details.cancellations[0].supplier_reference;
        assert_eq!(reference.as_deref(), Some("C1"));
    }
}

#[test]
fn refund_is_undecided_if_policy_is_in_another_currency() {
    let mut booking = Hotel::cancel_sent();
    booking.details.policy = Some(policy(Some(dollars(5_000))));
    let canceled = after(booking, [Hotel::cancel_done()]);
    assert_eq!(amounts(&canceled), [UNDECIDED]);
}

#[test]
fn undecided_refund_is_decided_once_and_up_to_price_of_rooms() {
    for refused in [euros(20_001), euros(-1), dollars(1)] {
        let decision = refund_undecided().apply(refund_decided(1, refused), NOW);
        assert!(decision.is_err(), "{refused}");
    }
    let unknown = refund_undecided().apply(refund_decided(2, euros(1)), NOW);
    assert!(unknown.is_err());
    for (minor, refunds) in [(20_000, 1), (1, 1), (0, 0)] {
        let decision = refund_decided(1, euros(minor));
        let booking = after(refund_undecided(), [decision.clone()]);
        assert_eq!(amounts(&booking), [decided(20_000 - minor, minor)]);
        assert_eq!(booking.payments[0].refunds.len(), refunds);
        assert!(booking.apply(decision, NOW).is_err());
    }
}

/// While the share of an earlier cancellation is undecided, a sum does not tell the later one.
#[test]
fn each_undecided_refund_of_a_booking_is_decided_for_its_own_rooms() {
    let wrong = stating(reported_canceled(&[1]), euros(2_000), Some(euros(7_000)));
    let one = after(room_cancellation_sent(Hotel::captured(), 1, &[1]), [wrong]);
    assert_eq!(one.status(), BookingStatus::PartiallyCanceled);
    let sent = room_cancellation_sent(one, 2, &[2]);
    // A decision does not disturb a cancellation that is in progress.
    let early = after(sent.clone(), [refund_decided(1, euros(7_500))]);
    assert_eq!(early.status(), BookingStatus::CancelInProgress);
    assert_eq!(amounts(&early)[0], decided(2_500, 7_500));

    let all = || Hotel::reported(SupplierBookingStatus::Canceled);
    let stated = || stating(all(), euros(2_500), Some(euros(17_500)));
    let both = after(sent, [stated()]);
    assert_eq!(amounts(&both), [UNDECIDED, UNDECIDED]);
    assert!(
        both.clone()
            .apply(refund_decided(2, euros(10_001)), NOW)
            .is_err()
    );
    let both = after(both, [refund_decided(2, euros(10_000))]);
    assert_eq!(amounts(&both), [UNDECIDED, decided(0, 10_000)]);
    let both = after(both, [refund_decided(1, euros(7_500))]);
    assert_eq!(amounts(&both), [decided(2_500, 7_500), decided(0, 10_000)]);

    let settled = after(early, [stated()]);
    assert_eq!(
        amounts(&settled),
        [decided(2_500, 7_500), decided(0, 10_000)]
    );
}

#[test]
fn policy_fee_is_that_of_the_time_of_the_request() {
    let late = FREE_UNTIL.plus_s(3_600);
    let unresolved = [
        vec![],
        vec![
            BookingEvent::CancelNotSent { retry_at: late },
            BookingEvent::CancelSent { next_at: late },
        ],
        vec![BookingEvent::CancelAccepted { next_at: late }],
    ];
    for (asked_at, fee) in [(FREE_UNTIL.plus_ms(-1), 0), (FREE_UNTIL, 20_000)] {
        for events in &unresolved {
            let [start, sent] = Hotel::cancellation_sent();
            let started = Hotel::captured().apply(start, asked_at).unwrap().booking;
            let events = [sent].into_iter().chain(events.iter().cloned());
            let canceled = events
                .chain([Hotel::cancel_done()])
                .fold(started, |booking, event| {
                    booking.apply(event, late).unwrap().booking
                });
            let expected = [decided(fee, 20_000 - fee)];
            assert_eq!(amounts(&canceled), expected, "asked at {asked_at}");
            assert_eq!(canceled.details.cancellations[0].completed_at, Some(late));
        }
        let policy = Hotel::captured().details.policy;
        let quote = HotelSupplierQuote::Policy(policy);
        let quote = HotelCancellationQuote::new(&Hotel::captured(), quote, asked_at).unwrap();
        assert_eq!(quote.amounts, Some((euros(fee), euros(20_000 - fee))));
    }
}

/// The client asked for one room. The supplier cancelled all, and states the sum of all.
#[test]
fn rooms_canceled_beyond_the_request_are_canceled_and_refunded() {
    let all = || Hotel::reported(SupplierBookingStatus::Canceled);
    let mut charged = Hotel::captured();
    charged.details.policy = Some(policy(Some(euros(8_000))));
    for room in &mut charged.details.rooms {
        room.policy = Some(policy(Some(euros(4_000))));
    }
    for (done, fee) in [
        (stating(all(), euros(3_000), Some(euros(17_000))), 3_000),
        // The policy applies only to the room that the client gave up.
        (Hotel::cancel_succeeded(all()), 4_000),
    ] {
        let sent = room_cancellation_sent(charged.clone(), 1, &[1]);
        let canceled = after(sent, [done]);
        assert_eq!(canceled.status(), BookingStatus::Canceled);
        assert_eq!(amounts(&canceled), [decided(fee, 20_000 - fee)]);
        let room_ids = &canceled.details.cancellations[0].room_ids;
        assert_eq!(room_ids.len(), 2);
    }
}

/// The supplier cancelled these rooms before the confirmation was read.
#[test]
fn rooms_of_new_booking_cost_what_the_supplier_states() {
    let amounts_of = |fee, refund| Some((euros(fee), Some(euros(refund))));
    let (first, both) = (&[1][..], &[1, 2][..]);
    for (numbers, stated, expected, payment) in [
        (first, None, decided(0, 10_000), "capturing_pending"),
        (
            first,
            amounts_of(2_500, 7_500),
            decided(2_500, 7_500),
            "capturing_pending",
        ),
        (
            first,
            amounts_of(2_500, 7_000),
            UNDECIDED,
            "capturing_pending",
        ),
        (both, None, decided(0, 20_000), "voiding_pending"),
        (
            both,
            amounts_of(2_500, 17_500),
            decided(2_500, 17_500),
            "capturing_pending",
        ),
    ] {
        let reported = reported_canceled(numbers);
        let reported = match stated {
            Some((fee, refund)) => with_amounts(reported, fee, refund),
            None => reported,
        };
        let booking = after(Hotel::booking_sent(), [book_confirmed(reported)]);
        let what = format!("{numbers:?} {stated:?}");
        assert_eq!(amounts(&booking), [expected], "{what}");
        assert_eq!(booking.payments[0].state.name(), payment, "{what}");
        let are_all_canceled = numbers.len() == booking.details.rooms.len();
        let status = match are_all_canceled {
            true => BookingStatus::Canceled,
            false => BookingStatus::PartiallyCanceled,
        };
        assert_eq!(booking.status(), status, "{what}");
        assert_eq!(booking.canceled_at.is_some(), are_all_canceled, "{what}");
    }
}

#[test]
fn preview_that_disagrees_with_price_of_booked_rooms_is_unusable() {
    let booking = one_room_canceled();
    for (fee, refund, expected) in [
        (euros(2_500), None, Some((2_500, 7_500))),
        (euros(2_500), Some(euros(7_500)), Some((2_500, 7_500))),
        (euros(2_500), Some(euros(17_500)), None),
        (euros(10_001), None, None),
        (dollars(2_500), None, None),
        (euros(2_500), Some(dollars(7_500)), None),
    ] {
        let preview = HotelSupplierQuote::Preview {
            fee,
            refund,
            free_until: None,
        };
        let quote = HotelCancellationQuote::new(&booking, preview, NOW);
        let amounts = quote.map(|quote| quote.amounts.unwrap());
        let price = euros(10_000);
        let expected = expected.map(|(fee, refund)| (euros(fee), euros(refund)));
        assert_eq!(amounts, expected.ok_or(UnusablePreview { price }), "{fee}");
    }
}

#[test]
fn quote_of_unusable_policy_has_no_amounts_and_changes_nothing() {
    for unusable in [Some(policy(Some(dollars(5_000)))), None] {
        let quote = HotelSupplierQuote::Policy(unusable);
        let quote = HotelCancellationQuote::new(&Hotel::captured(), quote, NOW).unwrap();
        assert_eq!((quote.amounts, quote.changed_policy), (None, None));
    }
}

#[test]
fn cancellation_costs_what_the_quote_showed() {
    let quoted = |booking: &HotelBooking, policy| {
        let quote = HotelSupplierQuote::Policy(Some(policy));
        HotelCancellationQuote::new(booking, quote, NOW).unwrap()
    };
    let known = Hotel::captured();
    let stored = known.details.policy.clone().unwrap();
    // Other details of the same terms are no change.
    let mut restated = stored.clone();
    restated.refund_type = Some(RefundType::Partial);
    for penalty in &mut restated.penalties {
        penalty.basis_points = Some(1_000);
        penalty.time_zone = Some("Europe/Rome".to_owned());
    }
    for unchanged in [stored, restated] {
        assert_eq!(quoted(&known, unchanged).changed_policy, None);
    }
    let quote = quoted(&known, policy(Some(euros(5_000))));
    assert_eq!(quote.amounts, Some((euros(5_000), euros(15_000))));
    let read = HotelEvent::PolicyRead(quote.changed_policy.unwrap());
    let read = known.apply(read.into(), NOW).unwrap();
    assert_eq!(notified(&read), ["hotel.booking.changed"]);
    let sent = after(read.booking, Hotel::cancellation_sent());
    let canceled = after(sent, [Hotel::cancel_done()]);
    assert_eq!(amounts(&canceled), [decided(5_000, 15_000)]);
}

/// A room of a generated booking.
#[derive(Debug, Clone)]
struct SampleRoom {
    price: i64,
    /// The room's own policy: none, without refund, or with a fee.
    policy: Option<Option<i64>>,
    /// Rooms are cancelled in ascending order of their rank.
    rank: u8,
    /// Whether the next room is cancelled together with this one.
    is_with_next: bool,
}

fn sample_rooms() -> impl Strategy<Value = Vec<SampleRoom>> {
    let fee = proptest::option::of(0_i64..60_000);
    let policy = proptest::option::weighted(0.8, fee);
    let room = (0_i64..50_000, policy, any::<u8>(), any::<bool>());
    let room = room.prop_map(|(price, policy, rank, is_with_next)| SampleRoom {
        price,
        policy,
        rank,
        is_with_next,
    });
    proptest::collection::vec(room, 1..7)
}

/// Returns a captured booking of these rooms.
fn sample_booking(rooms: &[SampleRoom], total: i64, fee: Option<i64>) -> HotelBooking {
    let mut booking = Hotel::captured();
    let numbered = (1..).zip(rooms).map(|(number, sample)| Room {
        total: euros(sample.price),
        policy: sample.policy.map(|fee| policy(fee.map(euros))),
        ..room(number)
    });
    booking.details.rooms = numbered.collect();
    booking.details.total = euros(total);
    booking.details.policy = Some(policy(fee.map(euros)));
    booking.payments[0].amount = euros(total);
    booking
}

/// Returns the numbers of the rooms that are cancelled together, in the order of cancellation.
fn groups(rooms: &[SampleRoom]) -> Vec<Vec<u8>> {
    let mut ranked: Vec<(&SampleRoom, u8)> = rooms.iter().zip(1..).collect();
    ranked.sort_by_key(|(sample, _)| sample.rank);
    let groups = ranked.chunk_by(|(sample, _), _| sample.is_with_next);
    let numbers = |group: &[(&SampleRoom, u8)]| -> Vec<u8> {
        group.iter().map(|(_, number)| *number).collect()
    };
    groups.map(numbers).collect()
}

/// Cancels the rooms with these numbers. The supplier states these sums, or none.
fn cancel_group(
    booking: HotelBooking,
    group: &[u8],
    stated: Option<(Money, Option<Money>)>,
) -> HotelBooking {
    let cancellation = (1..).nth(booking.details.cancellations.len()).unwrap();
    let numbers: Vec<u128> = group.iter().copied().map(u128::from).collect();
    let reported = reported_canceled(group);
    let done = match stated {
        Some((fee, refund)) => stating(reported, fee, refund),
        None => Hotel::cancel_succeeded(reported),
    };
    after(
        room_cancellation_sent(booking, cancellation, &numbers),
        [done],
    )
}

/// Returns the sums of fees and refunds, each of which has to be an amount.
fn sums(booking: &HotelBooking) -> Result<(i64, i64), TestCaseError> {
    let (mut fees, mut refunds) = (0, 0);
    for (fee, refund) in amounts(booking) {
        let (fee, refund) = (fee.unwrap().minor, refund.unwrap().minor);
        prop_assert!(fee >= 0 && refund >= 0, "{fee} {refund}");
        (fees, refunds) = (fees + fee, refunds + refund);
    }
    Ok((fees, refunds))
}

proptest! {
    #[test]
    fn policy_fees_add_up_in_any_order_and_grouping(
        rooms in sample_rooms(),
        drift in -5_i64..5,
        fee in proptest::option::of(0_i64..300_000),
    ) {
        let total = rooms.iter().map(|room| room.price).sum::<i64>() + drift;
        let total = total.max(0);
        let booking = sample_booking(&rooms, total, fee);
        let at_once: Vec<u8> = (1..).zip(&rooms).map(|(number, _)| number).collect();
        let at_once = cancel_group(booking.clone(), &at_once, None);
        let expected = fee.unwrap_or(total).min(total);
        prop_assert_eq!(sums(&at_once)?, (expected, total - expected));

        let mut part = booking;
        for group in groups(&rooms) {
            // The quote for the rest is what the cancellations of the rest will cost.
            let quote = HotelSupplierQuote::Policy(part.details.policy.clone());
            let quote = HotelCancellationQuote::new(&part, quote, NOW).unwrap();
            let (fee, refund) = quote.amounts.unwrap();
            let (fees, refunds) = sums(&part)?;
            prop_assert_eq!(fee.minor, expected - fees);
            prop_assert_eq!(refund.minor, total - expected - refunds);
            part = cancel_group(part, &group, None);
        }
        prop_assert_eq!(sums(&part)?, (expected, total - expected));
        prop_assert_eq!(part.status(), BookingStatus::Canceled);
    }

    #[test]
    fn stated_sums_give_each_cancellation_its_own_fee(
        rooms in sample_rooms(),
        states_refund in any::<bool>(),
    ) {
        let total = rooms.iter().map(|room| room.price).sum();
        let mut booking = sample_booking(&rooms, total, Some(1));
        let (mut fees, mut refunds, mut expected) = (0, 0, Vec::new());
        for group in groups(&rooms) {
            let prices = group.iter().map(|number| rooms[usize::from(*number) - 1].price);
            let price: i64 = prices.sum();
            // The supplier keeps a third.
            let fee = price / 3;
            (fees, refunds) = (fees + fee, refunds + price - fee);
            let refund = states_refund.then_some(euros(refunds));
            booking = cancel_group(booking, &group, Some((euros(fees), refund)));
            expected.push(decided(fee, price - fee));
        }
        prop_assert_eq!(amounts(&booking), expected);
        sums(&booking)?;
    }
}

#[test]
fn refund_is_undecided_if_a_refused_cancellation_took_effect_late() {
    let canceled = Hotel::reported(SupplierBookingStatus::Canceled);
    let refused = BookingEvent::CancelRefused(refusal());
    let kept = after(Hotel::cancel_sent(), [refused]);
    for (booking, reported, expected) in [
        (kept.clone(), canceled.clone(), UNDECIDED),
        // The supplier's own amounts decide.
        (kept, canceled_for_fee(None), decided(2_500, 17_500)),
        // Nobody requested this cancellation.
        (
            change_reported(Hotel::captured()),
            canceled,
            decided(0, 20_000),
        ),
    ] {
        let late = after(booking, [Hotel::refreshed(reported, NOW)]);
        assert_eq!(amounts(&late).last(), Some(&expected));
    }
}
