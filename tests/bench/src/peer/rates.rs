//! Rates in the format of Nuitee's API, with the size of a full page of offers: 10 hotels with 25
//! offers each, every offer with taxes and a policy.

use serde_json::{Value, json};

pub(crate) const HOTELS: usize = 10;
pub(crate) const OFFERS_PER_HOTEL: usize = 25;

pub(crate) fn hotel_id(number: usize) -> String {
    format!("lpb{number:04}")
}

pub(super) fn document() -> String {
    let data: Vec<Value> = (0..HOTELS).map(hotel).collect();
    let hotels: Vec<Value> = (0..HOTELS).map(profile).collect();
    json!({ "data": data, "guestLevel": 0, "sandbox": true, "hotels": hotels }).to_string()
}

fn profile(hotel: usize) -> Value {
    json!({
        "id": hotel_id(hotel),
        "name": format!("Measured House Number {hotel}"),
        "main_photo": format!("https://images.example/hotels/{hotel}/front.jpg"),
        "address": format!("{hotel} Long Quay, Port Example"),
        "latitude": 43.735 + 0.01,
        "longitude": 15.889,
        "rating": 8.1,
        "stars": 4,
    })
}

fn hotel(hotel: usize) -> Value {
    let offers: Vec<Value> = (0..OFFERS_PER_HOTEL)
        .map(|offer| room_type(hotel, offer))
        .collect();
    json!({ "hotelId": hotel_id(hotel), "roomTypes": offers })
}

/// Returns one offer, which Nuitee calls a room type.
fn room_type(hotel: usize, offer: usize) -> Value {
    let cents = 18_000 + 977 * offer;
    let price = |cents: usize| json!(f64::from(u32::try_from(cents).unwrap_or_default()) / 100.0);
    let refundable = offer.is_multiple_of(2);
    let steps: Vec<Value> = if refundable {
        vec![
            json!({"cancelTime": "2027-05-20 10:00:00", "amount": price(cents / 2), "currency": "EUR", "type": "amount", "timezone": "GMT"}),
            json!({"cancelTime": "2027-05-27 10:00:00", "amount": price(cents), "currency": "EUR", "type": "amount", "timezone": "GMT"}),
        ]
    } else {
        Vec::new()
    };
    json!({
        "roomTypeId": format!("RT-{hotel}-{offer}"),
        "offerId": format!("OF{hotel:02}{offer:03}KZXGC3TFOIQHIZLYOQQG6ZRAMEQGY33OM4QG6ZTGMVZCA2LEEB2GQYLUEBUXGIDON52CA4TFMFSCAYTZEBUHK3LBNZZQ"),
        "supplier": "nuitee",
        "supplierId": 2,
        "rates": [{
            "rateId": format!("RATE-{hotel}-{offer}"),
            "occupancyNumber": 1,
            "name": format!("Double Room with Balcony and Sea View {offer}"),
            "maxOccupancy": 2,
            "adultCount": 2,
            "childCount": 0,
            "boardType": if refundable { "BB" } else { "RO" },
            "boardName": if refundable { "Bed and Breakfast" } else { "Room Only" },
            "remarks": "",
            "commission": [{"amount": price(cents / 20), "currency": "EUR"}],
            "retailRate": {
                "total": [{"amount": price(cents), "currency": "EUR"}],
                "suggestedSellingPrice": [{"amount": price(cents + 500), "currency": "EUR", "source": "providerDirect"}],
                "initialPrice": null,
                "taxesAndFees": [
                    {"included": true, "description": "VAT", "amount": price(cents / 10), "currency": "EUR"},
                    {"included": false, "description": "City tax", "amount": 3.5, "currency": "EUR"},
                ],
            },
            "cancellationPolicies": {
                "cancelPolicyInfos": steps,
                "hotelRemarks": [],
                "refundableTag": if refundable { "RFN" } else { "NRFN" },
            },
            "perks": [],
        }],
        "offerRetailRate": {"amount": price(cents), "currency": "EUR"},
        "suggestedSellingPrice": {"amount": price(cents + 500), "currency": "EUR", "source": "providerDirect"},
        "priceType": "commission",
        "rateType": "standard",
    })
}
