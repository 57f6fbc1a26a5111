//! Conversion of hotel content, reviews, weather and price calendars. All of it is only displayed,
//! so invalid values are left out instead of rejecting the whole response.

use super::dropped::DroppedItems;
use super::{
    ConvertResult, date, display_list, display_number, list, location, money, text, valid_items,
};
use crate::bindings::exports::stopover::supplier::{
    hotel_content as wire, hotel_price_calendar, hotel_weather,
};
use host_domain::hotel::content::{
    CONTENT_ITEMS_MAX, HotelDetails, HotelPriceCalendar, HouseRule, Image, Review, Reviews,
    RoomContent, WeatherCondition, WeatherDay,
};
use host_domain::money::{Currency, Money};
use host_domain::time::Date;

const AMENITIES_MAX: usize = 200;
const POLICIES_MAX: usize = 50;
const ROOM_KINDS_MAX: usize = 100;
const CONDITIONS_MAX: usize = 10;
/// Maximum number of days in one response, about ten years of a calendar.
const DAYS_MAX: usize = 4_000;

pub(crate) fn details(details: wire::HotelDetails) -> ConvertResult<HotelDetails> {
    Ok(HotelDetails {
        name: text::display_line(details.name),
        description: text::optional_display(details.description, text::TEXT_CHARS),
        star_rating: display_number(details.star_rating, 0.0, 5.0),
        guest_rating: display_number(details.guest_rating, 0.0, 10.0),
        review_count: details.review_count,
        address_line: text::optional_display(details.address_line, text::LINE_CHARS),
        city: text::optional_display(details.city, text::LINE_CHARS),
        region: text::optional_display(details.region, text::LINE_CHARS),
        postal_code: text::optional_display(details.postal_code, text::LINE_CHARS),
        country: text::country(details.country),
        location: details
            .location
            .and_then(|at| location("location", at).ok()),
        time_zone: text::time_zone(details.time_zone),
        check_in_from: text::clock_time(details.check_in_from),
        check_out_until: text::clock_time(details.check_out_until),
        phone: text::optional_display(details.phone, text::LINE_CHARS),
        email: text::optional_display(details.email, text::LINE_CHARS),
        amenities: display_list(details.amenities, AMENITIES_MAX, text::display_line),
        images: images(details.images),
        policies: display_list(details.policies, POLICIES_MAX, house_rule),
        rooms: display_list(details.rooms, ROOM_KINDS_MAX, room),
    })
}

fn images(images: Vec<wire::Image>) -> Vec<Image> {
    let shown = images.into_iter().filter_map(|image| {
        let url = text::url(Some(image.url))?;
        Some(Image {
            url,
            caption: text::optional_display(image.caption, text::LINE_CHARS),
            width: image.width,
            height: image.height,
        })
    });
    shown.take(CONTENT_ITEMS_MAX).collect()
}

fn house_rule(rule: wire::HouseRule) -> HouseRule {
    HouseRule {
        name: text::display_line(rule.name),
        text: text::truncate(rule.text, text::TEXT_CHARS),
    }
}

fn room(room: wire::RoomContent) -> RoomContent {
    RoomContent {
        name: text::display_line(room.name),
        description: text::optional_display(room.description, text::TEXT_CHARS),
        max_occupancy: room.max_occupancy,
        images: images(room.images),
    }
}

pub(crate) fn reviews(reviews: wire::Reviews, limit: u16) -> ConvertResult<Reviews> {
    let items_max = usize::from(limit).min(CONTENT_ITEMS_MAX);
    Ok(Reviews {
        average: display_number(reviews.average, 0.0, 10.0),
        count: reviews.count,
        items: display_list(reviews.items, items_max, review),
    })
}

fn review(review: wire::Review) -> Review {
    Review {
        rating: display_number(review.rating, 0.0, 10.0),
        title: text::optional_display(review.title, text::LINE_CHARS),
        pros: text::optional_display(review.pros, text::TEXT_CHARS),
        cons: text::optional_display(review.cons, text::TEXT_CHARS),
        text: text::optional_display(review.text, text::TEXT_CHARS),
        language: text::optional_display(review.language, 35),
        traveller_type: text::optional_display(review.traveller_type, text::LINE_CHARS),
        stayed_on: review
            .stayed_on
            .and_then(|day| date("stayed-on", &day).ok()),
    }
}

/// Converts the days within the requested range, in order and without duplicates.
pub(crate) fn forecast(
    days: Vec<hotel_weather::WeatherDay>,
    start: Date,
    end: Date,
    dropped: &mut DroppedItems,
) -> ConvertResult<Vec<WeatherDay>> {
    let mut days = valid_items("days", days, DAYS_MAX, dropped, |day| {
        Ok(WeatherDay {
            date: date("days.date", &day.date)?,
            temperature_min: display_number(day.temperature_min, -150.0, 100.0),
            temperature_max: display_number(day.temperature_max, -150.0, 100.0),
            summary: text::optional_display(day.summary, text::LINE_CHARS),
            conditions: display_list(day.conditions, CONDITIONS_MAX, condition),
            humidity_percent: display_number(day.humidity_percent, 0.0, 100.0),
            afternoon_humidity_percent: display_number(day.afternoon_humidity_percent, 0.0, 100.0),
            wind_speed_mps: display_number(day.wind_speed_mps, 0.0, 200.0),
            maximum_wind_speed_mps: display_number(day.maximum_wind_speed_mps, 0.0, 200.0),
            precipitation_probability: display_number(day.precipitation_probability, 0.0, 1.0),
            precipitation_total_mm: display_number(day.precipitation_total_mm, 0.0, 5_000.0),
        })
    })?;
    days.retain(|day| (start..=end).contains(&day.date));
    days.sort_by_key(|day| day.date);
    days.dedup_by_key(|day| day.date);
    Ok(days)
}

fn condition(condition: hotel_weather::WeatherCondition) -> WeatherCondition {
    WeatherCondition {
        description: text::display_line(condition.description),
        icon: text::optional_display(condition.icon, text::LINE_CHARS),
    }
}

pub(crate) fn prices(
    response: Vec<hotel_price_calendar::HotelPrices>,
    expected: &[String],
    start: Date,
    end: Date,
    dropped: &mut DroppedItems,
) -> ConvertResult<Vec<HotelPriceCalendar>> {
    let mut hotels = list("hotels", response, expected.len(), |hotel| {
        let mut prices = Vec::with_capacity(hotel.prices.len().min(DAYS_MAX));
        list("hotels.prices", hotel.prices, DAYS_MAX, |day| {
            prices.extend(dropped.keep(day_price(&day)));
            Ok(())
        })?;
        prices.retain(|(day, _)| (start..=end).contains(day));
        prices.sort_by_key(|(day, _)| *day);
        prices.dedup_by_key(|(day, _)| *day);
        Ok(HotelPriceCalendar {
            supplier_hotel_id: text::reference(
                "hotels.supplier-hotel-id",
                hotel.supplier_hotel_id,
            )?,
            prices,
        })
    })?;
    let has_prices = hotels.iter().any(|hotel| !hotel.prices.is_empty());
    dropped.check_remaining(has_prices)?;
    hotels.retain(|hotel| expected.contains(&hotel.supplier_hotel_id));
    Ok(hotels)
}

fn day_price(day: &hotel_price_calendar::DayPrice) -> ConvertResult<(Date, Money)> {
    let field = "hotels.prices.average-nightly";
    Ok((
        date("hotels.prices.date", &day.date)?,
        money(field, day.average_nightly, Currency::USD)?,
    ))
}
