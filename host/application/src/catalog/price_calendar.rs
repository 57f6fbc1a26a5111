//! Price calendars. They are costly for suppliers, so requests to each supplier are rate-limited.

use crate::application::Application;
use crate::context::RequestContext;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::RouteRequest;
use host_domain::hotel::content::HotelPriceCalendar;
use host_domain::id::HotelId;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Date;

/// A query for the average price of a night.
#[derive(Debug)]
pub struct CalendarQuery {
    /// The hotels, which one supplier must have.
    pub hotels: Vec<HotelId>,
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
    /// The supplier that the caller named.
    pub selector: Option<SupplierId>,
}

impl Application {
    /// Returns the prices of the hotels that have any, in the order of the request.
    pub async fn price_calendar(
        &self,
        context: &RequestContext,
        query: CalendarQuery,
    ) -> Result<(SupplierId, Vec<(HotelId, HotelPriceCalendar)>), QueryError> {
        let mode = context.owner.tenant.mode;
        let question = RouteRequest {
            context,
            operation: Capability::HotelPriceCalendar,
            selector: query.selector.as_ref(),
            eligible_suppliers: None,
        };
        self.route(question)?;
        let owned = self
            .find_hotel_mappings(mode, &query.hotels, query.selector.as_ref())
            .await?;
        let question = RouteRequest {
            eligible_suppliers: Some(&owned.common_suppliers),
            ..question
        };
        let answer = self.query_with_failover(question, |supplier, call_context| {
            let id = supplier.info().id.clone();
            let ids = owned.supplier_ids(&id);
            async move {
                self.query_state.price_calendar_limiter.acquire(mode, &id)?;
                supplier
                    .read_hotel_price_calendar(&call_context, ids, query.from, query.to)
                    .await
            }
        });
        let (supplier, mut prices) = answer.await?;
        prices.retain(|hotel| !hotel.prices.is_empty());
        let rows = owned.at_supplier(&supplier).filter_map(|hotel| {
            let at = prices
                .iter()
                .position(|prices| prices.supplier_hotel_id == hotel.supplier_hotel_id)?;
            Some((hotel.hotel_id.clone(), prices.swap_remove(at)))
        });
        let rows = rows.collect();
        Ok((supplier, rows))
    }
}
