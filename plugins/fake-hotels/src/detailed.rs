//! Pricing and booking with details, in version 1.1 of the interface. Lodge states details of its
//! feature-rich hotel only.

use std::collections::HashMap;

use stopover_sdk::detailed_hotel_booking::{
    DetailedBooking, DetailedBookingLookup, DetailedPrebookResponse,
};
use stopover_sdk::detailed_hotel_pricing::{
    DetailedHotelOffers, DetailedOffer, DetailedPriceRequest, DetailedPriceResponse,
};
use stopover_sdk::hotel_booking::{BookRequest, BookingLookup, FindRequest, PrebookRequest};
use stopover_sdk::types::Money;
use stopover_sdk::types::hotel::SupplierBooking;
use stopover_sdk::types::hotel_details::{
    OfferDetails, PaymentPoint, PaymentType, PenaltyDetails, Perk, PolicyDetails, RefundType,
    RoomDetails, Tax,
};
use stopover_sdk::{
    ChangeError, DetailedHotelBooking, DetailedHotelPricing, HotelBooking, ReadError,
};

use crate::map::{amount, instant};
use crate::{FakeHotels, wire};

impl DetailedHotelPricing for FakeHotels {
    fn price(detailed: DetailedPriceRequest) -> Result<DetailedPriceResponse, ReadError> {
        let mut details = HashMap::new();
        let includes_packages = detailed.include_package_rates;
        let response = crate::price(detailed.request, includes_packages, |rates| {
            details = details_by_rate(rates);
        })?;
        let hotels = response.hotels.into_iter().map(|found| {
            let offers = found.offers.into_iter().map(|offer| DetailedOffer {
                details: details.remove(&offer.supplier_offer).unwrap_or_default(),
                offer,
            });
            DetailedHotelOffers {
                offers: offers.collect(),
                hotel: found.hotel,
            }
        });
        Ok(DetailedPriceResponse {
            hotels: hotels.collect(),
            currency: response.currency,
        })
    }
}

impl DetailedHotelBooking for FakeHotels {
    fn prebook(request: PrebookRequest) -> Result<DetailedPrebookResponse, ChangeError> {
        let mut details = OfferDetails::default();
        let prebook = crate::prebook(request, |prebook| {
            details = offer_details(&prebook.rooms, &prebook.terms, &prebook.hotel.zone);
        })?;
        Ok(DetailedPrebookResponse { prebook, details })
    }

    fn book(request: BookRequest) -> Result<DetailedBooking, ChangeError> {
        <Self as HotelBooking>::book(request).map(without_details)
    }

    fn find(request: FindRequest) -> Result<DetailedBookingLookup, ReadError> {
        let found = <Self as HotelBooking>::find(request)?;
        Ok(match found {
            BookingLookup::Found(booking) => DetailedBookingLookup::Found(without_details(booking)),
            BookingLookup::NotFound => DetailedBookingLookup::NotFound,
        })
    }
}

fn without_details(booking: SupplierBooking) -> DetailedBooking {
    DetailedBooking {
        booking,
        policy: PolicyDetails::default(),
    }
}

fn details_by_rate(rates: &wire::Rates) -> HashMap<String, OfferDetails> {
    let hotels = rates.hotels.iter().flat_map(|hotels| hotels.iter());
    let rates = hotels.flat_map(|found| {
        let zone = &found.hotel.zone;
        let rates = found.rates.iter().flat_map(|rates| rates.iter());
        rates.map(move |rate| {
            let details = OfferDetails {
                package_only: rate.package,
                ..offer_details(&rate.rooms, &rate.terms, zone)
            };
            (rate.rate_id.clone(), details)
        })
    });
    rates.collect()
}

fn offer_details(rooms: &[wire::Room], terms: &wire::Terms, zone: &str) -> OfferDetails {
    let rooms: Option<Vec<_>> = rooms.iter().map(|room| room_details(room, zone)).collect();
    let Some(rooms) = rooms else {
        return OfferDetails::default();
    };
    OfferDetails {
        rooms,
        policy: policy_details(terms, zone),
        payment_types: vec![PaymentType::Prepaid],
        package_only: false,
    }
}

/// Converts what Lodge says about a room. Returns `None` if it says nothing.
fn room_details(room: &wire::Room, zone: &str) -> Option<RoomDetails> {
    let about = room.about.as_ref()?;
    let money = |price: &wire::Price| {
        let amount = amount(price.amount, &price.currency).ok()?;
        Some(Money::new(amount, &price.currency))
    };
    let perks = about.extras.iter().map(|extra| Perk {
        name: extra.name.clone(),
        value: extra.worth.as_ref().and_then(money),
    });
    let taxes = about.taxes.iter().filter_map(|tax| {
        Some(Tax {
            description: tax.name.clone(),
            amount: money(&tax.price)?,
            payable_at: match tax.paid {
                wire::TaxPayment::InTotal => PaymentPoint::Booking,
                wire::TaxPayment::OnArrival => PaymentPoint::CheckIn,
            },
        })
    });
    Some(RoomDetails {
        remarks: Some(about.note.clone()),
        perks: perks.collect(),
        taxes: taxes.collect(),
        max_occupancy: Some(about.sleeps),
        policy: policy_details(&room.terms, zone),
    })
}

fn policy_details(terms: &wire::Terms, zone: &str) -> PolicyDetails {
    let penalties = terms.charges.iter().filter_map(|charge| {
        Some(PenaltyDetails {
            start: instant(&charge.from).ok()?,
            basis_points: charge
                .percent
                .and_then(|share| share.to_basis_points().ok()),
            time_zone: Some(zone.to_owned()),
        })
    });
    PolicyDetails {
        refund_type: Some(match terms.refundable {
            true => RefundType::Full,
            false => RefundType::None,
        }),
        penalties: penalties.collect(),
    }
}
