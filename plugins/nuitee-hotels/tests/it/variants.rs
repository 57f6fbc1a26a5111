//! Every variant of Nuitee's responses. The tables say what Nuitee documents; `variants` computes from
//! the changed response which answers it allows.

use nuitee_hotels::NuiteeHotels;
use serde_json::{Value, json};
use stopover_sdk::hotel_booking::BookingLookup;
use stopover_sdk::hotel_cancellation::Quote;
use stopover_sdk::hotel_places::PlaceQuery;
use stopover_sdk::hotel_search::{Area, Filters, SearchRequest, Sort};
use stopover_sdk::testing::{MockGateway, with_values};
use stopover_sdk::types::hotel::{CancellationPolicy, SupplierBooking};
use stopover_sdk::types::{BookingStatus, Location};
use stopover_sdk::{
    HotelContent, HotelPlaces, HotelPriceCalendar, HotelSearch, HotelWeather, ReadError,
};
use variants::AnswerKind::{Absent, Done, Failed, Limited, Refused, Unknown};
use variants::Requirement::{AnyValue, List, NoOtherReference, OrdinaryValue, SameValue, Terms};
use variants::StepRole::{Change, FollowUp, Read};
use variants::{Absence, Answer, ErrorRow, ObjectSummary, Operation, Requirement, Step};

use crate::ask;

#[test]
fn every_variant_has_an_allowed_answer() {
    let operations = [reads(), bookings(), cancellations(), content()];
    let operations: Vec<Operation> = operations.into_iter().flatten().collect();
    variants::check("nuitee-hotels", &operations, MockGateway::new);
}

/// Statuses with which an error may come: Nuitee documents that its code counts, not the status. A
/// redirect is not Nuitee's, another 2xx than 200 may be of a request that is still processed, and with a
/// status of 500 or more nothing is known.
const ANY: &[u16] = &[
    200, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 422, 425, 429, 451,
];
/// Those that do not contradict an error.
const ERRORS: &[u16] = &[
    400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 422, 425, 429, 451,
];

const fn row(
    codes: &'static [&'static str],
    statuses: &'static [u16],
    possible_statuses: &'static [u16],
    kind: variants::AnswerKind,
) -> ErrorRow {
    ErrorRow {
        codes,
        words: "",
        statuses,
        possible_statuses,
        kind,
    }
}

const fn described(code: &'static [&'static str], words: &'static str) -> ErrorRow {
    ErrorRow {
        words,
        ..row(code, &[400], ANY, Refused)
    }
}

/// The documented refusals of a prebook and a booking.
const REFUSALS: &[ErrorRow] = &[
    row(&["2001"], &[200], ANY, Refused),
    row(&["4000", "4002", "4003", "4010"], &[400], ANY, Refused),
    row(&["2010", "2013"], &[400], ANY, Refused),
    row(&["4040"], &[408], ANY, Refused),
    row(&["401"], &[401], ANY, Refused),
    row(&["40301", "40302"], &[403], ANY, Refused),
    row(&["429", "4290", "4291"], &[429], ANY, Limited),
    described(&["2014"], "payment not completed"),
    described(
        &["2014"],
        "prebookId is not associated with the transaction",
    ),
    described(&["5000"], "payment failed"),
];

/// Creates an error of a prebook or a booking, which leaves a cancellation open with every status.
const fn of_sale(codes: &'static [&'static str], words: &'static str) -> ErrorRow {
    ErrorRow {
        words,
        ..row(codes, &[400], &[], Unknown)
    }
}

/// The errors of a cancellation. A success status contradicts a refusal there: Nuitee may have cancelled.
const CANCELLATION_ERRORS: &[ErrorRow] = &[
    row(&["4000", "4002", "4003"], &[400], ERRORS, Refused),
    row(&["401"], &[401], ERRORS, Refused),
    row(&["40301", "40302"], &[403], ERRORS, Refused),
    row(&["429", "4290", "4291"], &[429], ANY, Limited),
    of_sale(&["2001", "2010", "2013", "4010", "4040"], ""),
    of_sale(&["2014"], "payment not completed"),
    of_sale(
        &["2014"],
        "prebookId is not associated with the transaction",
    ),
    of_sale(&["5000"], "refund payment failed"),
];

/// Statuses that do not contradict a missing object.
const ABSENT: &[u16] = &[200, 400, 404, 410];

/// Errors of a read that say that there is no such object.
const ABSENCES: &[ErrorRow] = &[
    row(&["204"], &[200], ANY, Absent),
    row(&["4004"], &[404], ABSENT, Absent),
];

const NO_RATES: &[ErrorRow] = &[row(&["2001", "204"], &[200], ANY, Absent)];

fn error(code: &str, words: &str) -> Value {
    let number: Result<u32, _> = code.parse();
    let code = number.map_or_else(|_| json!(code), |number| json!(number));
    json!({"error": {"code": code, "message": "a message", "description": words}})
}

fn step(
    role: variants::StepRole,
    fixture: &str,
    requirements: &'static [(&'static str, Requirement)],
) -> Step {
    Step {
        requirements,
        error_document: error,
        codes: &["/error/code", "/value/error/code"],
        ..Step::new(role, &ask::fixture(fixture))
    }
}

/// Creates a step that reads a list under `data`.
fn list(fixture: &str, lists: &'static [&'static str]) -> Step {
    Step {
        lists,
        absence: Some(Absence::of_list("/data")),
        errors: ABSENCES,
        statuses: &[(204, &[Absent])],
        ..step(Read, fixture, &[("/data", List)])
    }
}

fn operation(name: &'static str, steps: Vec<Step>, call: fn(&MockGateway) -> Answer) -> Operation {
    Operation { name, steps, call }
}

fn reads() -> Vec<Operation> {
    let rates = Step {
        errors: NO_RATES,
        ..list("rates.json", &["/data", "/data/*/roomTypes", "/hotels"])
    };
    // Without the hotels there is neither a name nor a location.
    let area = Step {
        errors: NO_RATES,
        requirements: &[("/data", List), ("/hotels", List)],
        ..list("area.json", &["/data", "/data/*/roomTypes", "/hotels"])
    };
    // Hotels whose rates have no location are left out if this read does not have it.
    let located = Step {
        kinds_if_undecided: &[Done, Failed],
        lists: &["/data"],
        ..step(FollowUp, "hotels.json", &[("/data", List)])
    };
    vec![
        operation("price", vec![rates], |gateway| {
            let response = ask::price(gateway).map(|response| response.hotels);
            let found = response.map(|hotels| (!hotels.is_empty()).then_some(hotels));
            Answer::of_read(found, |hotels| {
                let offers = hotels.iter().flat_map(|hotel| &hotel.offers);
                let mut rooms = offers.clone().flat_map(|offer| &offer.rooms);
                let has_penalties = rooms.all(|room| states_penalties(&room.policy));
                ObjectSummary::new("")
                    .with_items(offers)
                    .valid_if(has_penalties)
            })
        }),
        operation("search", vec![area, located], |gateway| {
            let found = gateway.run(|| NuiteeHotels::search(search_request()));
            Answer::of_list(found.map(|response| response.hotels))
        }),
    ]
}

/// Returns whether a policy is free only as long as its penalties say so. Nuitee states a penalty for each
/// refundable rate, so that a policy without penalties replaces one that cannot be read.
fn states_penalties(policy: &CancellationPolicy) -> bool {
    !policy.refundable || !policy.penalties.is_empty()
}

fn search_request() -> SearchRequest {
    let mut stay = ask::stay();
    stay.occupancies.truncate(1);
    SearchRequest {
        area: Area {
            center: at(),
            radius_m: 20_000,
            supplier_place_id: None,
        },
        stay,
        filters: Filters::default(),
        sort: Sort::Distance,
        limit: 20,
    }
}

fn at() -> Location {
    Location {
        latitude: 43.735,
        longitude: 15.889,
    }
}

/// What a booking's response must state: an id and a status, and a price, without which the gateway has
/// no booking. The reference may be missing, because the id was asked for or is new.
const BOOKING: &[(&str, Requirement)] = &[
    ("/data/bookingId", SameValue),
    ("/data/clientReference", NoOtherReference),
    ("/data/status", SameValue),
    ("/data/price", OrdinaryValue),
    ("/data/currency", OrdinaryValue),
];
/// The same for a new booking, whose id is not known before.
const NEW_BOOKING: &[(&str, Requirement)] = &[
    ("/data/bookingId", AnyValue),
    ("/data/clientReference", NoOtherReference),
    ("/data/status", SameValue),
    ("/data/price", OrdinaryValue),
    ("/data/currency", OrdinaryValue),
    // The gateway requires the rooms that were requested.
    ("/data/bookedRooms/0/occupancy_number", OrdinaryValue),
    ("/data/bookedRooms/1/occupancy_number", OrdinaryValue),
];
/// What is read after a cancellation counts only if it is about the same booking.
const BOOKING_READ: &[(&str, Requirement)] = &[
    ("/data/bookingId", SameValue),
    ("/data/clientReference", NoOtherReference),
    ("/data/status", OrdinaryValue),
    ("/data/price", OrdinaryValue),
    ("/data/currency", OrdinaryValue),
];
const PREBOOK: &[(&str, Requirement)] = &[
    ("/data/prebookId", AnyValue),
    ("/data/hotelId", SameValue),
    ("/data/currency", Terms),
    ("/data/price", Terms),
    ("/data/boardChanged", Terms),
    ("/data/cancellationChanged", Terms),
    ("/data/isPackageRate", OrdinaryValue),
    ("/data/addonsTotalAmount", OrdinaryValue),
    ("/data/voucherTotalAmount", OrdinaryValue),
    ("/data/roomTypes", OrdinaryValue),
];
const OTHER_BOOKING: &[(&str, &str)] = &[("BK-OWN-1", "BK-NOT-OURS"), ("bkg_own_1", "bkg_other")];

fn summary(booking: SupplierBooking) -> ObjectSummary {
    let identity = (&booking.status, &booking.supplier_reference);
    ObjectSummary::new(identity)
        .with_items(&booking.rooms)
        .about(booking.client_reference.as_deref(), "bkg_own_1")
        .valid_if(booking.policy.as_ref().is_none_or(states_penalties))
}

/// Returns the summary of a booking that was requested by its id.
fn summary_by_id(booking: SupplierBooking) -> ObjectSummary {
    let id = booking.supplier_reference.clone();
    summary(booking).about(Some(&id), "BK-OWN-1")
}

fn found(lookup: Result<BookingLookup, ReadError>) -> Answer {
    found_with(lookup, summary)
}

fn found_with(
    lookup: Result<BookingLookup, ReadError>,
    summary: fn(SupplierBooking) -> ObjectSummary,
) -> Answer {
    let found = lookup.map(|lookup| match lookup {
        BookingLookup::Found(booking) => Some(booking),
        BookingLookup::NotFound => None,
    });
    Answer::of_read(found, summary)
}

fn bookings() -> Vec<Operation> {
    let prebook = || Step {
        errors: REFUSALS,
        other_object: &[("lpown1", "lpother")],
        ..step(Change, "prebook.json", PREBOOK)
    };
    let with_extras = Step {
        document: variants::Node::from(prebook_with_extras()),
        ..prebook()
    };
    // A prebook without the hotel's description has its id as its name.
    let described = || Step {
        errors: &[],
        ..step(FollowUp, "hotel.json", &[])
    };
    let booking = Step {
        errors: REFUSALS,
        other_object: OTHER_BOOKING,
        ..step(Change, "booking.json", NEW_BOOKING)
    };
    // Without this booking, the list is read, which has no response here.
    let by_id = Step {
        other_object: OTHER_BOOKING,
        statuses: &[(204, &[Failed])],
        ..step(Read, "booking.json", BOOKING)
    };
    vec![
        operation("prebook", vec![prebook(), described()], prebooked),
        operation(
            "prebook with extras",
            vec![with_extras, described()],
            prebooked,
        ),
        operation("book", vec![booking], |gateway| {
            Answer::of_change(ask::book(gateway), |booking| {
                let positions = booking.rooms.iter().map(|room| room.position);
                // The gateway does not require the rooms of a cancelled booking.
                let is_canceled = booking.status == BookingStatus::Canceled;
                let has_rooms = positions.eq([0, 1]);
                summary(booking).valid_if(has_rooms || is_canceled)
            })
        }),
        operation("find by id", vec![by_id], |gateway| {
            found_with(ask::find(gateway, Some("BK-OWN-1")), summary_by_id)
        }),
        operation("find by reference", vec![listed(&[2, 0])], |gateway| {
            found(ask::find(gateway, None))
        }),
        operation("find among canceled", vec![listed(&[2, 1])], |gateway| {
            found(ask::find(gateway, None))
        }),
    ]
}

/// Returns a prebook whose price includes add-ons and a voucher.
fn prebook_with_extras() -> Value {
    let document = serde_json::from_str(&ask::fixture("prebook.json")).unwrap();
    let addon = json!({"addon": "uber", "value": 70, "currency": "EUR"});
    let extras = [
        ("/data/price", json!(510.5)),
        ("/data/addonsTotalAmount", json!(70)),
        ("/data/addonsRequest", json!([addon])),
        ("/data/voucherCode", json!("own-voucher")),
        ("/data/voucherTotalAmount", json!("20")),
    ];
    with_values(document, &extras)
}

fn prebooked(gateway: &MockGateway) -> Answer {
    Answer::of_change(ask::prebook(gateway), |prebook| {
        let mut rooms = prebook.rooms.iter();
        ObjectSummary::new(&prebook.supplier_prebook)
            .with_items([prebook.total])
            .valid_if(rooms.all(|room| states_penalties(&room.policy)))
    })
}

/// Creates a step that lists two bookings of the fixture, of which the first is the requested one.
fn listed(kept: &[usize]) -> Step {
    const REQUIREMENTS: &[(&str, Requirement)] = &[
        ("/data/0/bookingId", AnyValue),
        ("/data/0/clientReference", AnyValue),
        ("/data/0/status", SameValue),
        ("/data/0/price", OrdinaryValue),
        ("/data/0/currency", OrdinaryValue),
        // The other booking may have the same reference; then it must be known to be cancelled.
        ("/data/1/clientReference", OrdinaryValue),
        ("/data/1/status", OrdinaryValue),
    ];
    let mut document: Value = serde_json::from_str(&ask::fixture("bookings.json")).unwrap();
    let kept = kept.iter().map(|index| document["data"][index].clone());
    document["data"] = kept.collect();
    Step {
        document: variants::Node::from(document),
        requirements: REQUIREMENTS,
        absence: Some(Absence {
            kind: Absent,
            list: "/data",
            reference: Some(("/clientReference", "bkg_own_1")),
            is_filtered: true,
            may_lack_reference: false,
        }),
        // Nuitee documents a list only.
        errors: &[],
        statuses: &[(204, &[Failed])],
        ..list("bookings.json", &["/data"])
    }
}

fn cancellations() -> Vec<Operation> {
    const CANCELLATION: &[(&str, Requirement)] = &[
        ("/data/bookingId", NoOtherReference),
        ("/data/status", SameValue),
        ("/data/cancellation_fee", OrdinaryValue),
        ("/data/refund_amount", OrdinaryValue),
        ("/data/currency", OrdinaryValue),
    ];
    let quoted = Step {
        errors: ABSENCES,
        other_object: OTHER_BOOKING,
        statuses: &[(204, &[Absent])],
        ..step(Read, "booking.json", BOOKING)
    };
    let canceled = Step {
        errors: CANCELLATION_ERRORS,
        other_object: &[("BK-OWN-1", "BK-NOT-OURS")],
        statuses: &[
            // Nuitee has no such booking.
            (204, &[Refused]),
            // Nothing was cancelled by this call; the booking that is read next is cancelled already.
            (304, &[Done]),
        ],
        ..step(Change, "cancel.json", CANCELLATION)
    };
    let mut after: Value = serde_json::from_str(&ask::fixture("booking.json")).unwrap();
    after["data"]["status"] = json!("CANCELED");
    let read = Step {
        document: variants::Node::from(after),
        other_object: OTHER_BOOKING,
        ..step(FollowUp, "booking.json", BOOKING_READ)
    };
    vec![
        operation("quote", vec![quoted], |gateway| {
            let quote = ask::quote(gateway);
            Answer::of_read(quote.map(Some), |quote| match quote {
                // An unreadable policy never counts as free cancellation.
                Quote::Policy(policy) => {
                    ObjectSummary::new("").valid_if(policy.as_ref().is_none_or(states_penalties))
                }
                Quote::Preview(preview) => ObjectSummary::new(preview),
            })
        }),
        operation("cancel", vec![canceled, read], |gateway| {
            Answer::of_change(ask::cancel(gateway), summary_by_id)
        }),
    ]
}

fn content() -> Vec<Operation> {
    const HOTEL: &[(&str, Requirement)] =
        &[("/data/id", NoOtherReference), ("/data/name", AnyValue)];
    let details = Step {
        errors: ABSENCES,
        other_object: &[("lpown1", "lpother")],
        statuses: &[(204, &[Absent])],
        ..step(Read, "hotel.json", HOTEL)
    };
    let weather = list("weather.json", &["/data", "/data/*/weatherData"]);
    // A suggestion without readable details is left out.
    let place = || Step {
        statuses: &[(204, &[Done])],
        ..step(FollowUp, "place.json", &[])
    };
    vec![
        operation(
            "places",
            vec![list("places.json", &["/data"]), place(), place()],
            |gateway| Answer::of_list(places(gateway)),
        ),
        operation("details", vec![details], |gateway| {
            let details = ask::details(gateway).map(Some);
            Answer::of_read(details, |details| ObjectSummary::new(details.name))
        }),
        operation(
            "reviews",
            vec![list("reviews.json", &["/data"])],
            |gateway| {
                let read = gateway.run(|| NuiteeHotels::read_reviews("lpown1".to_owned(), 20));
                Answer::of_list(read.map(|reviews| reviews.items))
            },
        ),
        operation("weather", vec![weather], |gateway| {
            let (start, end) = days();
            Answer::of_list(gateway.run(|| NuiteeHotels::forecast(at(), start, end)))
        }),
        operation(
            "prices",
            vec![list("prices.json", &["/data", "/data/*/prices"])],
            |gateway| {
                let (start, end) = days();
                let ids = ["lpown1", "lpown2"].map(str::to_owned).to_vec();
                let read = gateway.run(|| NuiteeHotels::read_prices(ids, start, end));
                let prices = read.map(|hotels| hotels.into_iter().flat_map(|hotel| hotel.prices));
                Answer::of_list(prices.map(Iterator::collect::<Vec<_>>))
            },
        ),
    ]
}

fn days() -> (String, String) {
    ("2027-06-01".to_owned(), "2027-06-03".to_owned())
}

fn places(gateway: &MockGateway) -> Result<Vec<stopover_sdk::hotel_places::Place>, ReadError> {
    let query = PlaceQuery {
        text: "Port Example".to_owned(),
        country: None,
        language: None,
        limit: 5,
    };
    gateway.run(|| NuiteeHotels::find_places(query))
}
