//! The operation that prices hotels.

use crate::extract::{Body, Context, KeyedBody, Validate, Validated, Violations};
use crate::hotel::stay::{OccupancyRequest, StayRequest, stay_fields};
use crate::identifier::{HotelIdParam, SupplierHotelIdParam, SupplierIdParam, check_distinct};
use crate::meta::SupplierMeta;
use crate::response::{ApiResponse, ApiResult, List};
use axum::extract::State;
use host_application::offers::hotel::{HotelSelection, OfferQuery, PricedHotel};
use host_application::offers::service::OfferService;
use host_domain::hotel::Stay;
use host_domain::time::Timestamp;
use host_resources::hotel::offer::{self, HotelOffersResource};
use host_resources::value::{CountryCode, CurrencyCode, IsoDate};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Maximum number of hotels times `max_offers_per_hotel`.
const OFFERS_MAX: usize = 250;
/// Default number of offers for each hotel: ten hotels stay within [`OFFERS_MAX`].
const OFFERS_PER_HOTEL: u32 = 25;

/// Hotels to price for a stay.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OffersRequest)]
pub(crate) struct HotelOffersRequest {
    /// Gateway ids of hotels of one supplier. Set either this or `supplier_hotel_ids`.
    #[schema(min_items = 1, max_items = 10)]
    hotel_ids: Option<Vec<HotelIdParam>>,
    /// Ids of hotels at the supplier that `supplier` names.
    #[schema(min_items = 1, max_items = 10)]
    supplier_hotel_ids: Option<Vec<SupplierHotelIdParam>>,
    /// First night: from today, in the time zone of the hotel, to 700 days ahead.
    check_in: IsoDate,
    /// Day of departure, 1 to 60 nights later.
    #[schema(example = "2026-11-23")]
    check_out: IsoDate,
    /// Occupancy of each room. Every offer contains all rooms, in this order.
    #[schema(min_items = 1, max_items = 9)]
    occupancy: Vec<OccupancyRequest>,
    guest_nationality: CountryCode,
    /// Country of residence of the guests, if it differs from their nationality.
    guest_residence: Option<CountryCode>,
    /// Currency to request and return prices in. Prices are not converted.
    currency: CurrencyCode,
    /// Maximum number of offers for each hotel. Multiplied by the number of hotels it must not
    /// exceed 250.
    #[serde(default = "offers_per_hotel")]
    #[schema(minimum = 1, maximum = 250, default = 25)]
    max_offers_per_hotel: u32,
    /// Supplier to call; required with `supplier_hotel_ids`.
    supplier: Option<SupplierIdParam>,
    /// Whether to return also offers with `package_only`. Set it only if the room is sold together
    /// with another travel service.
    #[serde(default)]
    #[schema(default = false)]
    include_package_rates: bool,
}

const fn offers_per_hotel() -> u32 {
    OFFERS_PER_HOTEL
}

impl Validate for HotelOffersRequest {
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        let either = "give either hotel_ids or supplier_hotel_ids";
        let hotels = match (&self.hotel_ids, &self.supplier_hotel_ids) {
            (Some(ids), None) => ids.len(),
            (None, Some(ids)) => {
                if self.supplier.is_none() {
                    let detail = "supplier_hotel_ids need a supplier";
                    found.push("/supplier", "required", detail);
                }
                ids.len()
            }
            (Some(_), Some(_)) => {
                found.push("/supplier_hotel_ids", "exclusive", either);
                0
            }
            (None, None) => {
                found.push("/hotel_ids", "required", either);
                0
            }
        };
        check_distinct(self.hotel_ids.as_deref(), "/hotel_ids", found);
        let supplier_hotel_ids = self.supplier_hotel_ids.as_deref();
        check_distinct(supplier_hotel_ids, "/supplier_hotel_ids", found);
        let per_hotel = usize::try_from(self.max_offers_per_hotel).unwrap_or(usize::MAX);
        // The schema sets the same limit for a single hotel.
        let factors = ["/hotel_ids", "/supplier_hotel_ids", "/max_offers_per_hotel"];
        if found.are_valid(&factors) && hotels > 1 && hotels.saturating_mul(per_hotel) > OFFERS_MAX
        {
            let detail = format!("hotels times max_offers_per_hotel must not exceed {OFFERS_MAX}");
            found.push("/max_offers_per_hotel", "too_large", detail);
        }
        self.stay_fields().validate(now, found);
    }
}

stay_fields!(HotelOffersRequest);

impl HotelOffersRequest {
    fn into_query(self) -> OfferQuery {
        let stay = self.stay_fields().to_stay();
        let hotels = match self.supplier_hotel_ids {
            Some(ids) => HotelSelection::BySupplierId(ids.into_iter().map(|id| id.0).collect()),
            None => {
                let ids = self.hotel_ids.unwrap_or_default().into_iter();
                HotelSelection::ByHotelId(ids.map(|id| id.0).collect())
            }
        };
        OfferQuery {
            hotels,
            selector: self.supplier.map(|supplier| supplier.0),
            stay,
            max_offers_per_hotel: u16::try_from(self.max_offers_per_hotel).unwrap_or(u16::MAX),
            include_package_rates: self.include_package_rates,
        }
    }
}

/// Price hotels
///
/// Returns offers of up to 10 hotels for one stay and the same rooms: one row for each hotel, in
/// the order of the request. A hotel without offers has an empty list. All hotels must belong to
/// one supplier; otherwise the response is 400 and names the supplier of each hotel. If several
/// suppliers have the hotels, `supplier` selects one; without it the gateway selects one.
/// `meta.supplier` names the supplier that responded. To book an offer, prebook its
/// `offer_reference` before `expires_at`. The offers are not stored, so an idempotency key has no
/// effect.
#[utoipa::path(post, path = "/v1/hotel/offers", tag = "Hotels",
    responses((status = 200, description = "The offers.")),
    extensions(("x-error-codes" = json!(["hotel_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn price_hotels(
    State(offers): State<Arc<OfferService>>,
    Context(context): Context,
    Validated((_key, Body(request))): Validated<KeyedBody<HotelOffersRequest>>,
) -> ApiResult<List<HotelOffersResource>, SupplierMeta> {
    let query = request.into_query();
    let (supplier, hotels) = offers.price_hotels(&context, &query).await?;
    let rows = hotels.into_iter();
    let rows = rows.map(|hotel| to_response(hotel, &query.stay)).collect();
    Ok(ApiResponse::ok(List(rows)).meta(SupplierMeta::new(supplier)))
}

fn to_response(hotel: PricedHotel, stay: &Stay) -> HotelOffersResource {
    let offers = hotel.offers.into_iter();
    let offers =
        offers.map(|priced| offer::offer(&priced.offer, stay, priced.reference, priced.expires_at));
    offer::hotel_offers(&hotel.hotel_id, &hotel.supplier_hotel_id, offers.collect())
}
