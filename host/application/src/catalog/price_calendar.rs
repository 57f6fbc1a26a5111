//! Price calendars. They are costly for suppliers, so requests to each supplier are rate-limited.

use crate::catalog::hotel_mapping::HotelMappingService;
use crate::context::RequestContext;
use crate::supplier::query_error::QueryError;
use crate::supplier::rate_limiter::SupplierRateLimiter;
use crate::supplier::router::{RouteRequest, SupplierRouter};
use host_domain::hotel::content::HotelPriceCalendar;
use host_domain::id::HotelId;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Date;

#[derive(Debug)]
pub struct CalendarQuery {
    /// The hotels, which one supplier must have.
    pub hotels: Vec<HotelId>,
    pub from: Date,
    pub to: Date,
    pub selector: Option<SupplierId>,
}

pub struct PriceCalendarService {
    pub(crate) router: SupplierRouter,
    pub(crate) mappings: HotelMappingService,
    pub(crate) rate_limiter: SupplierRateLimiter,
}

impl PriceCalendarService {
    /// Returns the prices of the hotels that have any, in the order of the request.
    pub async fn price_calendar(
        &self,
        context: &RequestContext,
        query: CalendarQuery,
    ) -> Result<(SupplierId, Vec<(HotelId, HotelPriceCalendar)>), QueryError> {
        let mode = context.owner.tenant.mode;
        let selector = query.selector.as_ref();
        let candidates = self.router.candidates(RouteRequest::new(
            context,
            Capability::HotelPriceCalendar,
            selector,
        ))?;
        let mappings = self
            .mappings
            .find_hotel_mappings(mode, &query.hotels, selector);
        let mappings = mappings.await?;
        let route = candidates.choose(Some(&mappings.common_suppliers))?;
        let response =
            self.router
                .query_with_failover(context, &route, |supplier, call_context| {
                    let id = supplier.info().id.clone();
                    let ids = mappings.supplier_ids(&id);
                    async move {
                        self.rate_limiter.acquire(mode, &id)?;
                        supplier
                            .read_hotel_price_calendar(&call_context, ids, query.from, query.to)
                            .await
                    }
                });
        let (supplier, mut calendars) = response.await?;
        calendars.retain(|calendar| !calendar.prices.is_empty());
        let rows = mappings.at_supplier(&supplier).filter_map(|mapping| {
            let id = &mapping.supplier_hotel_id;
            let mut known = calendars.iter();
            let position = known.position(|calendar| calendar.supplier_hotel_id == *id)?;
            Some((mapping.hotel_id.clone(), calendars.swap_remove(position)))
        });
        let rows = rows.collect();
        Ok((supplier, rows))
    }
}
