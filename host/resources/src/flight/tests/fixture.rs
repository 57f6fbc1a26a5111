//! A flight booking in which every optional field is set.

use crate::tests::{NOW, payment, prebooked};
use host_domain::booking::BookingState;
use host_domain::flight::booking::{
    BookedChange, BookedJourney, BookedPassenger, BookedService, FlightBookedState, FlightBooking,
    FlightBookingDetails, FlightCancellation, RefundBreakdown, RefundedBy, ServiceStatus,
};
use host_domain::flight::passenger::{PassengerContact, Travellers};
use host_domain::flight::{
    AirlineChange, BagAllowance, Baggage, BaggageType, Cabin, ChangeType, Direction, FareCondition,
    FareConditions, Gender, Journey, LocatorSystem, LoyaltyAccount, PassengerType, PaymentTerms,
    RecordLocator, Seat, SeatPosition, Segment, SegmentDetails, SegmentPassenger,
    SegmentPassengerDetails, ServiceDetails, ServiceType, TechnicalStop, TicketDetails,
    TicketDocument, TicketDocumentType, TicketPaymentStatus,
};
use host_domain::id::{AirlineChangeId, JourneyId, PassengerId, PaymentId, SegmentId, ServiceId};
use host_domain::money::{Currency, Money};
use host_domain::payment::Payment;

fn pounds(minor: i64) -> Money {
    Money::new(minor, Currency::parse("GBP").unwrap())
}

fn segment() -> Segment {
    let seat = |passenger| SegmentPassenger {
        passenger,
        cabin: Cabin::PremiumEconomy,
        cabin_name: Some("World Traveller Plus".to_owned()),
        checked_bags: Some(1),
        carry_on_bags: None,
        details: SegmentPassengerDetails {
            fare_basis_code: Some("Y20LGTN2".to_owned()),
            seat: Some(exit_row_seat()),
            baggage: vec![checked_bag()],
        },
    };
    Segment {
        supplier_segment_id: "seg_secret".to_owned(),
        origin: "LHR".to_owned(),
        destination: "JFK".to_owned(),
        departure_time: "2026-12-01T10:25".to_owned(),
        arrival_time: "2026-12-01T13:35".to_owned(),
        origin_time_zone: Some("Europe/London".to_owned()),
        destination_time_zone: None,
        marketing_flight: "BA117".to_owned(),
        marketing_carrier: "British Airways".to_owned(),
        marketing_carrier_code: "BA".to_owned(),
        marketing_carrier_logo_url: None,
        operating_carrier: None,
        operating_carrier_logo_url: None,
        duration_minutes: Some(490),
        cabin: Cabin::PremiumEconomy,
        passengers: vec![seat(0), seat(1)],
        details: SegmentDetails {
            origin_terminal: Some("5".to_owned()),
            destination_terminal: Some("B".to_owned()),
            operating_carrier_code: Some("AA".to_owned()),
            operating_flight: Some("AA6132".to_owned()),
            aircraft: Some("Airbus A380".to_owned()),
            aircraft_code: Some("380".to_owned()),
            technical_stops: vec![TechnicalStop {
                airport: "KEF".to_owned(),
                arrival_time: Some("2026-12-01T11:30".to_owned()),
                departure_time: None,
            }],
        },
    }
}

fn exit_row_seat() -> Seat {
    Seat {
        designator: "14B".to_owned(),
        name: Some("Exit row seat".to_owned()),
        position: Some(SeatPosition::Middle),
        disclosures: vec!["Do not seat children in exit row seats".to_owned()],
    }
}

const fn checked_bag() -> BagAllowance {
    BagAllowance {
        baggage_type: BaggageType::Checked,
        pieces: Some(1),
        max_weight_kg: Some(23),
        max_length_cm: Some(90),
        max_width_cm: None,
        max_height_cm: None,
    }
}

/// Every detail, with a passenger who is not part of the booking.
fn ticket() -> TicketDetails {
    TicketDetails {
        fee: Some(pounds(1_200)),
        payment_terms: Some(PaymentTerms {
            instant_payment_required: false,
            payment_required_by: Some(NOW),
            price_guaranteed_until: None,
        }),
        payment_status: Some(TicketPaymentStatus {
            awaiting_payment: true,
            payment_required_by: Some(NOW),
            price_guaranteed_until: Some(NOW),
        }),
        record_locators: vec![RecordLocator {
            locator: "OQTYXX".to_owned(),
            system: LocatorSystem::DistributionSystem,
            carrier_code: Some("1G".to_owned()),
            carrier: Some("Galileo".to_owned()),
        }],
        documents: vec![TicketDocument {
            document_type: TicketDocumentType::ElectronicTicket,
            number: "1252106312810".to_owned(),
            passengers: vec![0, 1],
        }],
        services: vec![ServiceDetails {
            supplier_service_id: "ser_secret".to_owned(),
            name: Some("Extra bag".to_owned()),
            seat: None,
            bag: Some(checked_bag()),
        }],
        attachable_services: Vec::new(),
    }
}

fn conditions() -> FareConditions {
    FareConditions {
        refund: FareCondition {
            allowed: Some(true),
            penalty: Some(pounds(5_000)),
        },
        change: FareCondition {
            allowed: None,
            penalty: None,
        },
    }
}

fn paid(bits: u128, minor: i64) -> Payment {
    Payment {
        id: PaymentId::from_bits(bits),
        amount: pounds(minor),
        refunds: Vec::new(),
        ..payment()
    }
}

fn passenger() -> BookedPassenger {
    BookedPassenger {
        id: PassengerId::from_bits(2),
        position: 0,
        passenger_type: PassengerType::Adult,
        title: None,
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        date_of_birth: "1990-12-10".parse().unwrap(),
        gender: Gender::Female,
        nationality: Some("GB".to_owned()),
        loyalty_accounts: vec![LoyaltyAccount {
            airline_iata_code: "ZZ".to_owned(),
            membership_number: "***10".to_owned(),
        }],
    }
}

fn journey() -> BookedJourney {
    BookedJourney {
        id: JourneyId::from_bits(3),
        segment_ids: vec![SegmentId::from_bits(4)],
        journey: Journey {
            supplier_journey_id: "sli_secret".to_owned(),
            origin: "LHR".to_owned(),
            destination: "JFK".to_owned(),
            direction: Direction::MultiCity,
            fare_brand: Some("Flex".to_owned()),
            departure_time: "2026-12-01T10:25".to_owned(),
            arrival_time: "2026-12-01T13:35".to_owned(),
            duration_minutes: None,
            stops: 0,
            segments: vec![segment()],
            fare_conditions: Some(conditions()),
        },
    }
}

fn service() -> BookedService {
    BookedService {
        id: ServiceId::from_bits(7),
        status: ServiceStatus::Confirmed,
        supplier_service_id: "ase_secret".to_owned(),
        supplier_ticket_service_id: Some("ser_secret".to_owned()),
        service_type: ServiceType::Baggage,
        passenger: 0,
        supplier_segment_ids: vec!["seg_secret".to_owned()],
        segment_ids: vec![SegmentId::from_bits(4)],
        baggage: Some(Baggage {
            baggage_type: BaggageType::Checked,
            max_weight_kg: Some(23),
        }),
        quantity: 2,
        unit_amount: pounds(6_000),
        payment: PaymentId::from_bits(6),
    }
}

/// Builds a cancelled booking of a ticket with bags, which the airline had changed.
pub(crate) fn canceled() -> FlightBooking {
    let details = FlightBookingDetails {
        exclusive_key: Some("search_secret".to_owned()),
        airline_pnr: Some("RZPNX8".to_owned()),
        contact: PassengerContact {
            email: "ada@example.com".to_owned(),
            phone: "+442079460958".to_owned(),
        },
        travellers: Travellers {
            adults: 1,
            children: Vec::new(),
            infants: 0,
        },
        passengers: vec![passenger()],
        sealed_passenger_data: Some("sealed_secret".to_owned()),
        offered_total: pounds(42_000),
        ticket_total: Some(pounds(42_000)),
        fare: Some(pounds(30_000)),
        fare_tax: None,
        fare_conditions: conditions(),
        ticket: ticket(),
        journeys: vec![journey()],
        services: vec![service()],
        purchases: Vec::new(),
        changes: vec![BookedChange {
            id: AirlineChangeId::from_bits(10),
            change: AirlineChange {
                supplier_change_id: "aic_secret".to_owned(),
                detected_at: NOW,
                change_type: ChangeType::ScheduleChange,
                action_required: true,
                removed_segments: vec![segment()],
                added_segments: Vec::new(),
                expires_at: None,
                accepted_at: None,
            },
        }],
        id_sequence: 2,
        cancellation_count: 0,
        cancellation: Some(FlightCancellation {
            refunded_by: RefundedBy::Service,
            refund: Some(RefundBreakdown {
                fee: pounds(5_000),
                refund_amount: pounds(37_000),
                refund_to: vec![PaymentId::from_bits(5)],
            }),
            supplier_reference: Some("ore_secret".to_owned()),
        }),
    };
    FlightBooking {
        state: BookingState::Booked(FlightBookedState::Canceled),
        supplier_reference: Some("ord_1".to_owned()),
        confirmed_at: Some(NOW),
        canceled_at: Some(NOW),
        payments: vec![paid(5, 42_000), paid(6, 12_000)],
        ..prebooked(details)
    }
}
