//! Conversion of hotel details and reviews.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_content::{HotelDetails, HouseRule, Image, Review, Reviews, RoomContent};
use stopover_sdk::html;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{LenientList, LenientNumber, Part};
use stopover_sdk::types::hotel::HotelSummary;

use crate::map;
use crate::wire;
use crate::wire::Reference;
use crate::wire::content::{Hotel, Photo};

/// Converts a hotel. Parts that cannot be read are left out.
///
/// # Errors
/// The hotel has no name, or it is another one.
pub(crate) fn details(
    id: &str,
    hotel: Hotel,
    dropped: &mut DroppedItems,
) -> Result<HotelDetails, DecodeError> {
    let other = hotel.id.optional("id")?;
    let is_same = other.is_none_or(|other| other.as_str() == id);
    ensure(is_same, "the response is about another hotel")?;
    let name = hotel.name.required("name")?.as_str();
    let times = format_args!("/data/checkinCheckoutTimes");
    let times = dropped.readable_part(times, hotel.checkin_checkout_times);
    let times = times.unwrap_or_default();
    let check_in = times.checkin_start.as_deref().or(times.checkin.as_deref());
    let point = dropped.readable_part(format_args!("/data/location"), hotel.location);
    let location = point.map(|point| map::place(&point));
    let location = location.and_then(|place| dropped.keep(format_args!("/data/location"), place));
    let facilities = items("hotelFacilities", hotel.hotel_facilities, dropped);
    let policies = items("policies", hotel.policies, dropped);
    let policies: Vec<_> = policies.map(|(_, policy)| policy).collect();
    let images = items("hotelImages", hotel.hotel_images, dropped);
    let images = images_of(images.collect(), dropped);
    let rooms = items("rooms", hotel.rooms, dropped);
    let rooms = rooms.map(|(at, one)| room(one, &format!("/data/rooms/{at}"), dropped));
    let rooms = rooms.collect();
    Ok(HotelDetails {
        name: html::plain(name),
        description: plain(&hotel.hotel_description),
        star_rating: hotel.star_rating.0.filter(|stars| *stars > 0.0),
        // Without reviews the rating is 0, which is not a rating by guests.
        guest_rating: hotel.rating.0.filter(|rating| *rating > 0.0),
        review_count: count(hotel.review_count),
        address_line: plain(&hotel.address),
        city: plain(&hotel.city),
        region: plain(&hotel.state),
        postal_code: plain(&hotel.zip),
        country: hotel.country.as_deref().and_then(country),
        location,
        time_zone: None,
        check_in_from: check_in.and_then(clock),
        check_out_until: times.checkout.as_deref().and_then(clock),
        phone: plain(&hotel.phone),
        email: plain(&hotel.email),
        amenities: map::unique_texts(facilities.map(|(_, name)| html::plain(&name))),
        images,
        policies: house_rules(&policies, &hotel.hotel_important_information),
        rooms,
    })
}

/// Returns the readable items of a list of the hotel.
fn items<T>(
    name: &str,
    list: Part<LenientList<T>>,
    dropped: &mut DroppedItems,
) -> impl Iterator<Item = (usize, T)> + use<T> {
    let pointer = format_args!("/data/{name}");
    let list = dropped.readable_part(pointer, list).unwrap_or_default();
    dropped.readable(pointer, list)
}

fn plain(text: &Reference) -> Option<String> {
    html::optional(text.as_deref())
}

/// Returns the hotel's summary for a booking.
///
/// # Errors
/// The hotel has no name.
pub(crate) fn summary(id: &str, hotel: Hotel) -> Result<HotelSummary, DecodeError> {
    let name = hotel.name.required("name")?.as_str();
    let parts = [&hotel.address, &hotel.city, &hotel.zip];
    let parts = parts.into_iter().filter_map(plain);
    let country = hotel.country.as_deref().and_then(country);
    let address: Vec<String> = parts.chain(country).collect();
    Ok(HotelSummary {
        address: address.join(", ").replace('\n', ", "),
        location: hotel
            .location
            .decoded()
            .and_then(|point| map::place(&point).ok()),
        ..HotelSummary::new(id, html::plain(name))
    })
}

/// Returns at most `limit` reviews, newest first. Nuitee gives no average of all reviews here.
pub(crate) fn reviews(
    mut reviews: Vec<wire::content::Review>,
    total: LenientNumber,
    limit: usize,
) -> Reviews {
    reviews.sort_by(|left, right| date(right).cmp(&date(left)));
    let read = u32::try_from(reviews.len()).unwrap_or(u32::MAX);
    reviews.truncate(limit);
    Reviews {
        average: None,
        count: count(total).unwrap_or(0).max(read),
        items: reviews.into_iter().map(review).collect(),
    }
}

fn date(review: &wire::content::Review) -> Option<&str> {
    review.date.as_ref().value().map(String::as_str)
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

fn room(room: wire::content::Room, pointer: &str, dropped: &mut DroppedItems) -> RoomContent {
    let pointer = format!("{pointer}/photos");
    let photos = dropped.readable_part(format_args!("{pointer}"), room.photos);
    let photos = dropped.readable(format_args!("{pointer}"), photos.unwrap_or_default());
    let images = photos.filter_map(|(at, photo)| {
        let Photo {
            url,
            url_hd,
            image_description,
        } = photo;
        let image = image(url_hd, url, &image_description);
        dropped.keep(format_args!("{pointer}/{at}"), image)
    });
    RoomContent {
        images: images.collect(),
        name: plain(&room.room_name).unwrap_or_default(),
        description: plain(&room.description),
        max_occupancy: count(room.max_occupancy)
            .and_then(|guests| u8::try_from(guests).ok())
            .filter(|guests| *guests > 0),
    }
}

/// Returns the main image first, then the others in the hotel's order.
fn images_of(
    mut images: Vec<(usize, wire::content::Image)>,
    dropped: &mut DroppedItems,
) -> Vec<Image> {
    images.sort_by(|(_, left), (_, right)| {
        let order = |image: &wire::content::Image| image.order.0.unwrap_or(f64::MAX);
        right
            .default_image
            .is_set()
            .cmp(&left.default_image.is_set())
            .then(order(left).total_cmp(&order(right)))
    });
    let images = images.into_iter().filter_map(|(at, written)| {
        let image = image(written.url_hd, written.url, &written.caption);
        dropped.keep(format_args!("/data/hotelImages/{at}"), image)
    });
    images.collect()
}

/// Returns an image with the first of its URLs.
fn image(first: Reference, second: Reference, caption: &Reference) -> Result<Image, DecodeError> {
    let mut urls = [first.0, second.0].into_iter().flatten();
    let url = urls.find(|url| is_url(url));
    Ok(Image {
        url: url.ok_or_else(|| DecodeError::missing("an image has no URL"))?,
        caption: plain(caption),
        width: None,
        height: None,
    })
}

fn house_rules(policies: &[wire::content::Policy], important: &Reference) -> Vec<HouseRule> {
    let important = plain(important).map(|text| HouseRule {
        name: "Important information".to_owned(),
        text,
    });
    let named = policies.iter().filter_map(|policy| {
        Some(HouseRule {
            name: plain(&policy.name)?,
            text: plain(&policy.description)?,
        })
    });
    named.chain(important).collect()
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
