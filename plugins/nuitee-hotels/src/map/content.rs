//! Conversion of hotel details and reviews.

use stopover_sdk::hotel_content::{HotelDetails, HouseRule, Image, Review, Reviews, RoomContent};
use stopover_sdk::html;
use stopover_sdk::lenient::LenientNumber;
use stopover_sdk::types::Location;
use stopover_sdk::types::hotel::HotelSummary;

use crate::map::location;
use crate::wire;
use crate::wire::content::{Hotel, Photo};

pub(crate) fn details(hotel: Hotel) -> HotelDetails {
    let review_count = count(hotel.review_count);
    let times = hotel.checkin_checkout_times.as_ref();
    let check_in =
        times.and_then(|times| times.checkin_start.as_deref().or(times.checkin.as_deref()));
    HotelDetails {
        name: html::plain(&hotel.name),
        description: html::optional(hotel.hotel_description.as_deref()),
        star_rating: hotel.star_rating.0.filter(|stars| *stars > 0.0),
        // Without reviews the rating is 0, which is not a rating by guests.
        guest_rating: hotel.rating.0.filter(|rating| *rating > 0.0),
        review_count,
        address_line: html::optional(hotel.address.as_deref()),
        city: html::optional(hotel.city.as_deref()),
        region: html::optional(hotel.state.as_deref()),
        postal_code: html::optional(hotel.zip.as_deref()),
        country: hotel.country.as_deref().and_then(country),
        location: point(&hotel),
        time_zone: None,
        check_in_from: check_in.and_then(clock),
        check_out_until: times
            .and_then(|times| times.checkout.as_deref())
            .and_then(clock),
        phone: html::optional(hotel.phone.as_deref()),
        email: html::optional(hotel.email.as_deref()),
        amenities: unique(
            hotel
                .hotel_facilities
                .0
                .iter()
                .map(|name| html::plain(name)),
        ),
        images: images(hotel.hotel_images.0),
        policies: policies(
            &hotel.policies.0,
            hotel.hotel_important_information.as_deref(),
        ),
        rooms: hotel.rooms.0.into_iter().map(room).collect(),
    }
}

/// Returns the hotel's summary for a booking.
pub(crate) fn summary(hotel: &Hotel) -> HotelSummary {
    let parts = [&hotel.address, &hotel.city, &hotel.zip];
    let parts = parts
        .into_iter()
        .filter_map(|part| html::optional(part.as_deref()));
    let country = hotel.country.as_deref().and_then(country);
    let address: Vec<String> = parts.chain(country).collect();
    HotelSummary {
        address: address.join(", ").replace('\n', ", "),
        location: point(hotel),
        ..HotelSummary::new(&hotel.id, html::plain(&hotel.name))
    }
}

/// Returns at most `limit` reviews, newest first. Nuitee gives no average of all reviews here.
pub(crate) fn reviews(
    mut reviews: Vec<wire::content::Review>,
    total: LenientNumber,
    limit: usize,
) -> Reviews {
    reviews.sort_by(|left, right| right.date.cmp(&left.date));
    let read = u32::try_from(reviews.len()).unwrap_or(u32::MAX);
    reviews.truncate(limit);
    Reviews {
        average: None,
        count: count(total).unwrap_or(0).max(read),
        items: reviews.into_iter().map(review).collect(),
    }
}

fn review(review: wire::content::Review) -> Review {
    let traveller_type = html::optional(review.traveller_type.as_deref());
    Review {
        rating: review
            .average_score
            .0
            .filter(|score| (0.0..=10.0).contains(score)),
        title: html::optional(review.headline.as_deref()),
        pros: html::optional(review.pros.as_deref()),
        cons: html::optional(review.cons.as_deref()),
        text: None,
        language: html::optional(review.language.as_deref()),
        traveller_type: traveller_type
            .map(|kind| kind.trim_start_matches("review category ").to_owned()),
        // Nuitee's date is when the review was written, not when the stay took place.
        stayed_on: None,
    }
}

fn room(room: wire::content::Room) -> RoomContent {
    let image = |photo: Photo| {
        Some(Image {
            url: photo.url_hd.or(photo.url).filter(|url| is_url(url))?,
            caption: html::optional(photo.image_description.as_deref()),
            width: None,
            height: None,
        })
    };
    RoomContent {
        name: html::plain(&room.room_name),
        description: html::optional(room.description.as_deref()),
        max_occupancy: count(room.max_occupancy)
            .and_then(|guests| u8::try_from(guests).ok())
            .filter(|guests| *guests > 0),
        images: room.photos.0.into_iter().filter_map(image).collect(),
    }
}

/// Returns the main image first, then the others in the hotel's order.
fn images(mut images: Vec<wire::content::Image>) -> Vec<Image> {
    images.sort_by(|left, right| {
        let order = |image: &wire::content::Image| image.order.0.unwrap_or(f64::MAX);
        right
            .default_image
            .is_set()
            .cmp(&left.default_image.is_set())
            .then(order(left).total_cmp(&order(right)))
    });
    let image = |image: wire::content::Image| {
        Some(Image {
            url: image
                .url_hd
                .filter(|url| is_url(url))
                .or(image.url)
                .filter(|url| is_url(url))?,
            caption: html::optional(image.caption.as_deref()),
            width: None,
            height: None,
        })
    };
    images.into_iter().filter_map(image).collect()
}

fn policies(policies: &[wire::content::Policy], important: Option<&str>) -> Vec<HouseRule> {
    let important = html::optional(important).map(|text| HouseRule {
        name: "Important information".to_owned(),
        text,
    });
    let named = policies.iter().filter_map(|policy| {
        Some(HouseRule {
            name: html::optional(policy.name.as_deref())?,
            text: html::optional(policy.description.as_deref())?,
        })
    });
    named.chain(important).collect()
}

fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for name in names {
        if !name.is_empty() && !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn point(hotel: &Hotel) -> Option<Location> {
    let point = hotel.location?;
    location(
        LenientNumber(Some(point.latitude)),
        LenientNumber(Some(point.longitude)),
    )
}

fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// Converts a country code of two letters in either case.
pub(crate) fn country(code: &str) -> Option<String> {
    let code = code.trim();
    (code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .then(|| code.to_ascii_uppercase())
}

fn count(number: LenientNumber) -> Option<u32> {
    let number = number
        .0
        .filter(|number| (0.0..=f64::from(u32::MAX)).contains(number))?;
    // Counts are whole numbers; decimals are rounded.
    format!("{number:.0}").parse().ok()
}

/// Converts a time of day, such as `04:00 PM`, `4 PM`, `16:00` or `16:00:00`, to `HH:MM`.
fn clock(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_uppercase().replace('.', "");
    let (digits, half) = match text.strip_suffix("PM") {
        Some(digits) => (digits, Some(12)),
        None => match text.strip_suffix("AM") {
            Some(digits) => (digits, Some(0)),
            None => (text.as_str(), None),
        },
    };
    let mut parts = digits.trim().split(':');
    let hour: u32 = parts.next()?.parse().ok()?;
    let minute: u32 = match parts.next() {
        Some(minute) => minute.parse().ok()?,
        None => half.map(|_| 0)?,
    };
    let hour = match half {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(half) => hour % 12 + half,
        None => hour,
    };
    (hour < 24 && minute < 60).then(|| format!("{hour:02}:{minute:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_day_is_read_in_every_form() {
        let cases = [
            ("04:00 PM", Some("16:00")),
            ("12:00 AM", Some("00:00")),
            ("12:30 p.m.", Some("12:30")),
            ("3 pm", Some("15:00")),
            ("16:00", Some("16:00")),
            ("07:15:00", Some("07:15")),
            ("13:00 PM", None),
            ("24:00", None),
            ("noon", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(clock(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn country_code_has_two_letters() {
        assert_eq!(country("us").as_deref(), Some("US"));
        assert_eq!(country("USA"), None);
        assert_eq!(country(""), None);
    }
}
