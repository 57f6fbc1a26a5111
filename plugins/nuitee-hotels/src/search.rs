//! Search: the cheapest rates of each hotel of an area, in one request.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use serde_json::{Value, json};
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_search::{SearchRequest, SearchResponse};
use stopover_sdk::http::{Request, Response};
use stopover_sdk::types::Location;
use stopover_sdk::types::hotel::Stay;
use stopover_sdk::{HotelSearch, ReadError, clock};

use crate::fault::Fault;
use crate::map::search::SearchContext;
use crate::settings::Settings;
use crate::upstream::{READ_TIMEOUT_MS, open_list, open_read_list};
use crate::wire::content::ListedHotel;
use crate::wire::rate::{Hotel, HotelRates, ListedHotelRates};
use crate::{NuiteeHotels, map};
use stopover_sdk::json::{DecodeError, without_nulls};
use stopover_sdk::lenient::LenientList;

/// Maximum number of hotels per search, which is Nuitee's default. It is requested whatever the
/// client's limit is, because Nuitee's order is none of the sort orders here.
const HOTELS_AT_MOST: u16 = 200;

/// Number of rates per hotel that a search requests. Nuitee sends the cheapest ones, and these may be
/// package rates, which are left out.
const RATES_AT_MOST: u16 = 3;

impl HotelSearch for NuiteeHotels {
    fn search(request: SearchRequest) -> Result<SearchResponse, ReadError> {
        let settings = Settings::read()?;
        let (area, filters) = (&request.area, &request.filters);
        let place_id = area.supplier_place_id.as_deref();
        let around = |value| place_id.is_none().then_some(value);
        let stars = filters.min_star_rating.map(map::search::star_ratings);
        let selection = json!({
            "placeId": place_id,
            "latitude": around(area.center.latitude),
            "longitude": around(area.center.longitude),
            "radius": place_id.is_none().then_some(area.radius_m),
            "limit": HOTELS_AT_MOST,
            "maxRatesPerHotel": RATES_AT_MOST,
            "boardType": map::search::board_codes(&filters.boards),
            "refundableRatesOnly": filters.refundable.filter(|only| *only),
            "starRating": stars.filter(|stars| !stars.is_empty()),
        });
        let mut dropped = DroppedItems::default();
        let response = send_rates(&settings, &request.stay, selection)?;
        let AvailableRates { rates, hotels } = AvailableRates::read(&response, &mut dropped)?;
        let places = places_of(&settings, &hotels, &mut dropped);
        let (places, failure) = match places {
            Ok(places) => (places, None),
            Err(error) => (HashMap::new(), Some(error)),
        };
        let context = SearchContext {
            center: &area.center,
            pricing: pricing_context(&settings, &request.stay),
            filters,
            sort: request.sort,
            limit: request.limit.into(),
            supplier_limit: HOTELS_AT_MOST.into(),
        };
        let response =
            map::search::search_response(&context, rates, &hotels, &places, &mut dropped)?;
        match failure {
            // Without the locations it is unknown whether there are hotels.
            Some(error) if response.hotels.is_empty() => Err(error),
            Some(_) | None => Ok(response),
        }
    }
}

/// Returns the parts of a request without package rates that are needed to read its offers.
pub(crate) fn pricing_context<'a>(
    settings: &'a Settings,
    stay: &'a Stay,
) -> map::offer::PricingContext<'a> {
    map::offer::PricingContext {
        rooms: stay.occupancies.len(),
        currency: &stay.currency,
        loyalty_program: settings.loyalty_program.as_deref(),
        loyalty_membership: settings.loyalty_membership.as_deref(),
        includes_package_rates: false,
        now_ms: clock::now_ms(),
    }
}

/// Adds the selected hotels to the fields that all requests for rates share.
fn rates_request(settings: &Settings, stay: &Stay, selection: Value) -> Value {
    let (program, membership) = (&settings.loyalty_program, &settings.loyalty_membership);
    let details = program.as_ref().zip(membership.as_ref());
    let occupancies = stay.occupancies.iter();
    let occupancies = occupancies
        .map(|occupancy| json!({ "adults": occupancy.adults, "children": occupancy.children }));
    let mut body = json!({
        "checkin": stay.check_in,
        "checkout": stay.check_out,
        "currency": stay.currency,
        "guestNationality": stay.guest_nationality,
        "occupancies": occupancies.collect::<Vec<Value>>(),
        "includeHotelData": true,
        "timeout": settings.rates_timeout_s,
        "loyaltyProgram": program,
        "loyaltyProgramDetails": details.map(|(program, membership)| {
            json!([{ "programId": program, "membershipId": membership }])
        }),
    });
    if let (Some(body), Value::Object(selection)) = (body.as_object_mut(), selection) {
        body.extend(selection);
    }
    without_nulls(body)
}

/// Requests rates of the selected hotels.
pub(crate) fn send_rates(
    settings: &Settings,
    stay: &Stay,
    selection: Value,
) -> Result<Response, ReadError> {
    let response = Request::post(settings.data_url("/hotels/rates"))
        .json(&rates_request(settings, stay, selection))?
        .timeout_ms(
            settings
                .rates_timeout_s
                .saturating_add(4)
                .saturating_mul(1000),
        )
        .send()?;
    Ok(response)
}

/// The readable parts of a response with rates. They borrow texts from it.
#[derive(Default)]
pub(crate) struct AvailableRates<'a> {
    /// The hotels with rates, each with its position in the response.
    pub(crate) rates: Vec<(usize, HotelRates<'a>)>,
    /// The summaries of the hotels, by hotel id.
    pub(crate) hotels: BTreeMap<String, Hotel>,
}

impl<'a> AvailableRates<'a> {
    /// Reads a response. Both lists are empty if nothing is available.
    pub(crate) fn read(
        response: &'a Response,
        dropped: &mut DroppedItems,
    ) -> Result<Self, ReadError> {
        let body = match open_list::<HotelRates<'a>>(response)? {
            Err(fault) if fault.is_no_availability() => None,
            body => body.map_err(Fault::into_read_error)?,
        };
        let Some(body) = body else {
            return Ok(Self::default());
        };
        let rates = dropped.readable(format_args!("/data"), body.data);
        let mut rates: Vec<(usize, HotelRates<'a>)> = rates.collect();
        if rates.iter().any(|(_, hotel)| hotel.has_empty_list()) {
            leave_out_unlisted(response, &mut rates, dropped)?;
        }
        let hotels = dropped.readable_part(format_args!("/hotels"), body.hotels);
        let listed = dropped.readable(format_args!("/hotels"), hotels.unwrap_or_default());
        let mut hotels = BTreeMap::new();
        for (position, mut hotel) in listed {
            let id = mem::take(&mut hotel.id).required("id");
            if let Some(id) = dropped.keep(format_args!("/hotels/{position}"), id) {
                hotels.entry(id).or_insert(hotel);
            }
        }
        Ok(Self { rates, hotels })
    }
}

/// Leaves out the hotels that have an empty text instead of a list of offers. Only an empty list says that a
/// hotel has no offers.
///
/// # Errors
/// The response cannot be decoded again.
fn leave_out_unlisted(
    response: &Response,
    rates: &mut Vec<(usize, HotelRates<'_>)>,
    dropped: &mut DroppedItems,
) -> Result<(), DecodeError> {
    let Ok(Some(body)) = open_list::<ListedHotelRates>(response)? else {
        return Ok(());
    };
    let unlisted = body.data.unreadable().iter();
    let unlisted: HashMap<usize, &DecodeError> =
        unlisted.map(|item| (item.index, &item.error)).collect();
    rates.retain(|(position, hotel)| match unlisted.get(position) {
        Some(&error) if hotel.has_empty_list() => {
            dropped.leave_out(format_args!("/data/{position}"), error.clone());
            false
        }
        _ => true,
    });
    Ok(())
}

/// Reads the locations of the hotels whose rates came without one.
fn places_of(
    settings: &Settings,
    hotels: &BTreeMap<String, Hotel>,
    dropped: &mut DroppedItems,
) -> Result<HashMap<String, Location>, ReadError> {
    let unplaced: Vec<&str> = hotels
        .iter()
        .filter(|(_, hotel)| map::location(hotel.latitude, hotel.longitude).is_none())
        .map(|(id, _)| id.as_str())
        .collect();
    if unplaced.is_empty() {
        return Ok(HashMap::new());
    }
    let response = Request::get(settings.data_url("/data/hotels"))
        .query("hotelIds", unplaced.join(","))
        .timeout_ms(READ_TIMEOUT_MS)
        .send()?;
    let listed: LenientList<ListedHotel> = open_read_list(&response)?;
    let listed = dropped.readable(format_args!("/data"), listed);
    let placed = listed.filter_map(|(position, hotel)| {
        let location = map::location(hotel.latitude, hotel.longitude)?;
        let id = hotel.id.required("id");
        let id = dropped.keep(format_args!("/data/{position}"), id)?;
        Some((id, location))
    });
    Ok(placed.collect())
}
