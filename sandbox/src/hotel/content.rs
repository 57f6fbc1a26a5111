//! Descriptions, images and guest reviews of hotels.

use axum::{
    Json,
    extract::Path,
    response::{IntoResponse, Response},
};
use http::header;
use jiff::{ToSpan, civil::Date};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    clock::{date_in, zone},
    hotel::{
        catalog::{self, Hotel},
        refusal::{LodgeError, LodgeResult},
        scenario::Scenario,
        wire::hotel_wire,
    },
    request::Call,
    state::{SandboxRecords, SandboxState},
};

/// Setting that is present after the failing content was restored.
const HEALED: &str = "content_healed";
const REVIEW_AGE_DAYS: i32 = 17;

pub(crate) fn restore_content(records: &mut SandboxRecords) {
    records.set(HEALED, 1);
}

pub(super) async fn read_hotel(call: Call) -> LodgeResult {
    let hotel = catalog::find(&call.id).ok_or(LodgeError::NotFound("hotel"))?;
    call.app.sleep_or_stop(hotel.scenario.delay()).await;
    Ok(Json(details(&call.app, &hotel)).into_response())
}

fn details(app: &SandboxState, hotel: &Hotel) -> Value {
    let images: Vec<Value> = (1..=images(hotel))
        .map(|number| image(app, hotel, number, caption(number)))
        .collect();
    json!({
        "hotel": hotel_wire(hotel),
        "description": format!(
            "<p><b>{}</b> stands in the middle of {}.</p><p>Quiet rooms, good coffee &amp; a garden.</p>",
            hotel.name, catalog::CITY
        ),
        "stars": hotel.stars,
        "rating": hotel.rating,
        "review_count": review_count(hotel),
        "postal": {
            "line1": hotel.street,
            "city": catalog::CITY,
            "region": catalog::REGION,
            "postcode": hotel.postcode(),
            "country": catalog::COUNTRY,
        },
        "check_in_from": "14:00",
        "check_out_until": "11:00",
        "phone": "+441727555010",
        "email": format!("desk.{}@lodge.example", hotel.id.to_lowercase().replace('_', "-")),
        "amenities": ["Free WiFi", "Lift", "Garden", "24-hour reception", "Luggage storage"],
        "images": images,
        "policies": [
            { "name": "Pets", "text": "Dogs are welcome for a small charge." },
            { "name": "Children", "text": "Children of all ages stay free of charge." },
        ],
        "rooms": [
            room(app, hotel, "Single room", 1),
            room(app, hotel, "Double room", 2),
            room(app, hotel, "Family room", 4),
        ],
    })
}

fn room(app: &SandboxState, hotel: &Hotel, name: &str, sleeps: u8) -> Value {
    json!({
        "name": name,
        "text": "Desk, kettle, blackout curtains.",
        "sleeps": sleeps,
        "images": [image(app, hotel, 2, name)],
    })
}

fn image(app: &SandboxState, hotel: &Hotel, number: usize, caption: &str) -> Value {
    json!({
        "url": photo_url(app, &hotel.id, number),
        "caption": caption,
        "width": PHOTO_WIDTH,
        "height": PHOTO_HEIGHT,
    })
}

fn images(hotel: &Hotel) -> usize {
    match hotel.scenario {
        Scenario::Rich => 30,
        _ => 3,
    }
}

fn review_count(hotel: &Hotel) -> usize {
    match hotel.scenario {
        Scenario::Rich => 30,
        _ => 5,
    }
}

const AUTHORS: [&str; 6] = [
    "Amelia Hart",
    "Jonas Weber",
    "Chloé Martin",
    "Tom Okafor",
    "Priya Nair",
    "Sofia Rossi",
];

/// Score, title, pros, cons, text, language and type of traveller of each review.
const OPINIONS: &str = include_str!("reviews.txt");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewQuery {
    limit: Option<usize>,
}

pub(super) async fn read_reviews(call: Call) -> LodgeResult {
    let ReviewQuery { limit } = call.query()?;
    let hotel = catalog::find(&call.id).ok_or(LodgeError::NotFound("hotel"))?;
    call.app.sleep_or_stop(hotel.scenario.delay()).await;
    let (healed, now) = call
        .transact(|records| (records.setting(HEALED).is_some(), records.now()))
        .await?;
    if hotel.scenario == Scenario::ContentUnavailable && !healed {
        return Err(LodgeError::Failure);
    }
    let today = date_in(now, &zone(catalog::ZONE));
    let reviews: Vec<Value> = (1_i32..)
        .zip(OPINIONS.lines().cycle())
        .zip(AUTHORS.iter().cycle())
        .take(review_count(&hotel))
        .take(limit.unwrap_or(usize::MAX))
        .filter_map(|((number, opinion), author)| review(author, opinion, today, number))
        .collect();
    let answer = json!({
        "average": hotel.rating,
        "count": review_count(&hotel),
        "reviews": reviews,
    });
    Ok(Json(answer).into_response())
}

fn review(author: &str, opinion: &str, today: Date, number: i32) -> Option<Value> {
    let mut fields = opinion.split('|');
    let mut next = || fields.next();
    let score: f64 = next()?.parse().ok()?;
    let age = (number * REVIEW_AGE_DAYS).days();
    Some(json!({
        "author": author,
        "score": score,
        "title": next()?,
        "pros": next()?,
        "cons": next().filter(|cons| !cons.is_empty()),
        "text": next()?,
        "language": next()?,
        "traveller": next()?,
        "stayed": today.checked_sub(age).unwrap_or(today),
    }))
}

const PHOTO_WIDTH: u32 = 1_200;
const PHOTO_HEIGHT: u32 = 800;

pub(super) fn photo_url(app: &SandboxState, hotel: &str, number: usize) -> String {
    format!("{}/lodge/photos/{hotel}/{number}.svg", app.base_url())
}

fn caption(number: usize) -> &'static str {
    match number % 3 {
        1 => "The front",
        2 => "A room",
        _ => "The breakfast room",
    }
}

/// Returns a drawn image, so that every image URL of the content works.
pub(super) async fn read_photo(
    Path((hotel, number)): Path<(String, String)>,
) -> Result<Response, LodgeError> {
    let hotel = catalog::find(&hotel).ok_or(LodgeError::NotFound("hotel"))?;
    let number = (number.strip_suffix(".svg"))
        .and_then(|number| number.parse::<usize>().ok())
        .filter(|number| (1..=images(&hotel)).contains(number))
        .ok_or(LodgeError::NotFound("photo"))?;
    let hue = number * 37 % 360;
    let (name, caption) = (hotel.name, caption(number));
    let svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{PHOTO_WIDTH}" height="{PHOTO_HEIGHT}" viewBox="0 0 1200 800"><rect width="1200" height="800" fill="hsl({hue} 45% 80%)"/><rect x="350" y="250" width="500" height="450" fill="hsl({hue} 40% 45%)"/><path d="M310 250 600 90l290 160z" fill="hsl({hue} 40% 30%)"/><text x="600" y="765" font-family="sans-serif" font-size="42" text-anchor="middle" fill="#222">{name}: {caption} ({number})</text></svg>"##
    );
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg).into_response())
}
