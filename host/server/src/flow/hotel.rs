//! Walks the steps of a hotel booking until nothing is due. The caller's own
//! call and the worker that resumes after a crash both come here.

use crate::app::App;
use crate::flow::judge;
use crate::flow::step::{Attempt, FlowError, HOTEL_BOOKING_JOB, Walker, request_digest};
use futures::FutureExt;
use host_domain::hotel::booking::{Booking, CancellationStatus, Event};
use host_domain::hotel::step::{Next, Step};
use host_domain::hotel::supply::{BookRequest, CancelRequest, FindRequest, Found, RoomReference};
use host_domain::id::RefundId;
use host_domain::supplier::{ChangeError, ReadError};
use host_domain::time::Timestamp;
use host_storage::{CommitError, Write};

/// The most steps of one walk. A booking takes four; the bound only keeps a
/// mistake in the rules from spinning.
const STEPS_MAX: usize = 32;

impl App {
    /// Walks until nothing is due, then gives the work back: due later, or done.
    pub(crate) async fn drive_hotel(
        &self,
        booking: Booking,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        let id = booking.id.clone();
        self.holding(&id, walker, self.walk_hotel(booking, walker).boxed())
            .await
    }

    async fn walk_hotel(
        &self,
        mut booking: Booking,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        for _ in 0..STEPS_MAX {
            let next = match booking.next(self.clock.now()) {
                Next::Now(step) => {
                    booking = self.take_hotel_step(booking, step, walker).boxed().await?;
                    continue;
                }
                Next::At(at) => Some(at),
                Next::Nothing => None,
            };
            // Somebody may have given the booking more to do since it was read.
            let current = self
                .store
                .load_hotel_booking(&booking.id)
                .await?
                .ok_or_else(|| FlowError::Gone(booking.id.clone()))?;
            if current.version != booking.version {
                booking = current;
                continue;
            }
            self.give_back(&booking, next, walker).await?;
            return Ok(booking);
        }
        tracing::error!(booking = %booking.id, status = booking.status().as_str(), "a booking takes steps without end");
        self.give_back(&booking, Some(self.clock.now().plus_s(60)), walker)
            .await?;
        Ok(booking)
    }

    /// Ends the claim on a booking's work: due again, or done.
    async fn give_back(
        &self,
        booking: &Booking,
        due_at: Option<Timestamp>,
        walker: &Walker,
    ) -> Result<(), FlowError> {
        let mut write = Write::new(self.clock.now());
        match due_at {
            Some(at) => write.release_job(
                HOTEL_BOOKING_JOB,
                booking.id.as_str(),
                &walker.lease_token,
                at,
            ),
            None => write.finish_job(HOTEL_BOOKING_JOB, booking.id.as_str(), &walker.lease_token),
        };
        match self.store.commit(write).await {
            Ok(()) => Ok(()),
            Err(CommitError::Conflict(_)) => Err(FlowError::LeaseLost(booking.id.clone())),
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }

    async fn take_hotel_step(
        &self,
        booking: Booking,
        step: Step,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        match step {
            Step::GiveUpPrebook => {
                self.move_booking(booking, step.name(), Event::PrebookGivenUp, walker)
                    .await
            }
            Step::Expire => {
                self.move_booking(booking, step.name(), Event::OfferExpired, walker)
                    .await
            }
            Step::Book => self.book(booking, walker).await,
            Step::FindBooking => self.find_booking(booking, walker).await,
            Step::Cancel => self.cancel(booking, walker).await,
            Step::FindCancellation => self.find_cancellation(booking, walker).await,
            Step::Authorize(payment) => self.authorize(booking, &payment, walker).await,
            Step::Capture(payment) => self.capture(booking, &payment, walker).await,
            Step::Void(payment) => self.void(booking, &payment, walker).await,
            Step::FindPayment(payment) => self.find_payment(booking, &payment, walker).await,
            Step::Refund(payment, refund) => self.refund(booking, &payment, &refund, walker).await,
            Step::FindRefund(payment, refund) => {
                self.find_refund(booking, &payment, &refund, walker).await
            }
        }
    }

    async fn book(&self, booking: Booking, walker: &Walker) -> Result<Booking, FlowError> {
        let target = booking.supplier.clone();
        let request = BookRequest {
            client_reference: booking.id.to_string(),
            supplier_prebook: booking.supplier_prebook.clone().unwrap_or_default(),
            supplier_hotel_id: booking.hotel.supplier_hotel_id.clone(),
            stay: booking.stay.clone(),
            total: booking.total,
            contact: booking.contact.clone(),
            rooms: guests(&booking),
        };
        let attempt = Attempt {
            step: "book",
            target: &target,
            client_reference: request.client_reference.clone(),
            request_digest: request_digest(&request),
        };
        let (booking, id) = self
            .mark(
                booking,
                Event::BookSent {
                    next_at: self.first_check(),
                },
                attempt,
                walker,
            )
            .await?;
        let answer = match self.runtime.supplier(&target) {
            Some(supplier) => {
                supplier
                    .book_hotel(&self.call_context(&booking, walker), request)
                    .await
            }
            None => Err(ChangeError::NotSent(
                "the supplier is not configured".to_owned(),
            )),
        };
        if let Ok(state) = &answer
            && state.total != booking.total
        {
            tracing::warn!(booking = %booking.id, "the supplier booked at another total than it bound");
        }
        let judgement = judge::booked(&booking, answer, self.times());
        self.record(booking, "book", Some(id), judgement, walker)
            .await
    }

    async fn find_booking(&self, booking: Booking, walker: &Walker) -> Result<Booking, FlowError> {
        let attempt = self.open_attempt(&booking, "book").await?;
        let answer = self.read_back(&booking, walker).await;
        let judgement = judge::found(
            &booking,
            answer,
            self.reads_consistent_after_ms(&booking.supplier),
            self.times(),
        );
        self.record(booking, "find_booking", attempt, judgement, walker)
            .await
    }

    async fn cancel(&self, booking: Booking, walker: &Walker) -> Result<Booking, FlowError> {
        let Some(request) = cancel_request(&booking) else {
            return Err(FlowError::Gone(booking.id));
        };
        let target = booking.supplier.clone();
        let attempt = Attempt {
            step: "cancel",
            target: &target,
            client_reference: request.client_reference.clone(),
            request_digest: request_digest(&request),
        };
        let (booking, id) = self
            .mark(
                booking,
                Event::CancelSent {
                    next_at: self.first_check(),
                },
                attempt,
                walker,
            )
            .await?;
        let answer = match self.runtime.supplier(&target) {
            Some(supplier) => {
                supplier
                    .cancel_hotel(
                        &self.call_context(&booking, walker),
                        request,
                        booking.total.currency,
                    )
                    .await
            }
            None => Err(ChangeError::NotSent(
                "the supplier is not configured".to_owned(),
            )),
        };
        let judgement = judge::canceled(&booking, answer, self.new_refund(), self.times());
        self.record(booking, "cancel", Some(id), judgement, walker)
            .await
    }

    async fn find_cancellation(
        &self,
        booking: Booking,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        let attempt = self.open_attempt(&booking, "cancel").await?;
        let answer = self.read_back(&booking, walker).await;
        let consistent = self.reads_consistent_after_ms(&booking.supplier);
        let judgement = judge::found_canceling(
            &booking,
            answer,
            self.new_refund(),
            consistent,
            self.times(),
        );
        self.record(booking, "find_cancellation", attempt, judgement, walker)
            .await
    }

    fn new_refund(&self) -> RefundId {
        RefundId::from_bits(self.ids.bits())
    }

    async fn read_back(&self, booking: &Booking, walker: &Walker) -> Result<Found, ReadError> {
        let request = FindRequest {
            client_reference: booking.id.to_string(),
            supplier_reference: booking.supplier_reference.clone(),
            supplier_prebook: booking.supplier_prebook.clone(),
        };
        match self.runtime.supplier(&booking.supplier) {
            Some(supplier) => {
                supplier
                    .find_hotel_booking(&self.call_context(booking, walker), request)
                    .await
            }
            None => Err(ReadError::Misconfigured(
                "the supplier is not configured".to_owned(),
            )),
        }
    }
}

/// Everybody's names, room by room.
pub(crate) fn guests(booking: &Booking) -> Vec<Vec<host_domain::hotel::Guest>> {
    let rooms = booking.rooms.iter();
    rooms
        .map(|room| room.guests.iter().map(|(_, guest)| guest.clone()).collect())
        .collect()
}

fn cancel_request(booking: &Booking) -> Option<CancelRequest> {
    let running = booking
        .cancellations
        .iter()
        .find(|c| c.status == CancellationStatus::InProgress)?;
    let rooms = booking
        .rooms
        .iter()
        .enumerate()
        .filter(|(_, room)| running.single_rooms && running.room_ids.contains(&room.id));
    let rooms = rooms.filter_map(|(position, room)| {
        Some(RoomReference {
            position: u8::try_from(position).ok()?,
            supplier_room_reference: room.supplier_reference.clone(),
        })
    });
    Some(CancelRequest {
        client_reference: booking.cancellation_reference(&running.id),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
        rooms: rooms.collect(),
    })
}
