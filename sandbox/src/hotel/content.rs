//! Descriptions, images and guest reviews of hotels.

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{Uri, header};
use jiff::{ToSpan, civil::Date};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    clock::{date_in, zone},
    hotel::{
        catalog::{self, Hotel},
        refusal::LodgeError,
        scenario::Scenario,
        wire::HotelWire,
    },
    request::{self, Account},
    state::{SandboxRecords, SandboxState},
};

/// Setting that is present after the failing content was restored.
const HEALED: &str = "content_healed";
const REVIEW_AGE_DAYS: i32 = 17;

/// Restores the failing content.
pub(crate) fn restore_content(world: &mut SandboxRecords) {
    world.set(HEALED, 1);
}

pub(super) async fn read_hotel(
    State(app): State<SandboxState>,
    _account: Account,
    Path(id): Path<String>,
) -> Result<Response, LodgeError> {
    let hotel = catalog::find(&id).ok_or(LodgeError::NotFound("hotel"))?;
    app.sleep_or_stop(hotel.scenario.delay()).await;
    Ok(Json(details(&app, &hotel)).into_response())
}

fn details(app: &SandboxState, hotel: &Hotel) -> Value {
    let images: Vec<Value> = (1..=images(hotel))
        .map(|number| {
            json!({
                "url": photo_url(app, &hotel.id, number),
                "caption": caption(number),
                "width": PHOTO_WIDTH,
                "height": PHOTO_HEIGHT,
            })
        })
        .collect();
    json!({
        "hotel": HotelWire::new(hotel),
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
        "images": [{
            "url": photo_url(app, &hotel.id, 2),
            "caption": name,
            "width": PHOTO_WIDTH,
            "height": PHOTO_HEIGHT,
        }],
    })
}

fn images(hotel: &Hotel) -> usize {
    if hotel.scenario == Scenario::Rich {
        30
    } else {
        3
    }
}

fn review_count(hotel: &Hotel) -> usize {
    if hotel.scenario == Scenario::Rich {
        30
    } else {
        5
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

/// Score, title, pros, cons, text, language and type of traveller.
type ReviewText = (
    f64,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const OPINIONS: [ReviewText; 5] = [
    (
        9.0,
        "Lovely stay",
        "Friendly desk, quiet room",
        "Small lift",
        "We would come back at once.",
        "en",
        "couple",
    ),
    (
        8.0,
        "Gute Lage",
        "Fünf Minuten zum Bahnhof",
        "Dünne Vorhänge",
        "Sauber und freundlich.",
        "de",
        "business",
    ),
    (
        7.0,
        "Très correct",
        "Petit déjeuner copieux",
        "Chambre un peu petite",
        "Bon rapport qualité-prix.",
        "fr",
        "family",
    ),
    (
        10.0,
        "Faultless",
        "Everything",
        "",
        "The best coffee in town.",
        "en",
        "solo",
    ),
    (
        6.0,
        "Fine for a night",
        "Good shower",
        "Noise from the square",
        "Ask for a room at the back.",
        "en",
        "friends",
    ),
];

#[derive(Serialize)]
struct Review {
    author: &'static str,
    score: f64,
    title: &'static str,
    pros: &'static str,
    cons: Option<&'static str>,
    text: &'static str,
    language: &'static str,
    traveller: &'static str,
    stayed: Date,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewQuery {
    limit: Option<usize>,
}

pub(super) async fn read_reviews(
    State(app): State<SandboxState>,
    _account: Account,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Response, LodgeError> {
    let ReviewQuery { limit } = request::query(&uri)?;
    let hotel = catalog::find(&id).ok_or(LodgeError::NotFound("hotel"))?;
    app.sleep_or_stop(hotel.scenario.delay()).await;
    let (healed, now) = app
        .transact(|world| (world.setting(HEALED).is_some(), world.now()))
        .await?;
    if hotel.scenario == Scenario::ContentUnavailable && !healed {
        return Err(LodgeError::Failure);
    }
    let today = date_in(now, &zone(catalog::ZONE));
    let reviews: Vec<Review> = (1_i32..)
        .zip(OPINIONS.iter().cycle())
        .zip(AUTHORS.iter().cycle())
        .take(review_count(&hotel))
        .take(limit.unwrap_or(usize::MAX))
        .map(|((number, opinion), author)| review(author, opinion, today, number))
        .collect();
    let answer = json!({
        "average": hotel.rating,
        "count": review_count(&hotel),
        "reviews": reviews,
    });
    Ok(Json(answer).into_response())
}

fn review(author: &'static str, opinion: &ReviewText, today: Date, number: i32) -> Review {
    let (score, title, pros, cons, text, language, traveller) = *opinion;
    let age = (number * REVIEW_AGE_DAYS).days();
    Review {
        author,
        score,
        title,
        pros,
        cons: (!cons.is_empty()).then_some(cons),
        text,
        language,
        traveller,
        stayed: today.checked_sub(age).unwrap_or(today),
    }
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
