//! Weather of a stay, from the supplier of the booking.

use crate::context::RequestContext;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::read_call_context;
use host_domain::hotel::content::WeatherDay;
use host_domain::hotel::{HotelBooking, Location};
use host_domain::id::BookingId;
use host_domain::supplier::{Capability, ReadError};
use host_runtime::CallContext;
use host_storage::Store;
use std::sync::Arc;

pub struct WeatherService {
    pub(crate) store: Store,
    pub(crate) suppliers: Arc<SupplierDirectory>,
}

impl WeatherService {
    /// Returns the forecast days of a stay, including check-out. Returns no days if the hotel's
    /// location is unknown.
    pub async fn stay_weather(
        &self,
        context: &RequestContext,
        id: &BookingId,
    ) -> Result<(HotelBooking, Vec<WeatherDay>), QueryError> {
        let booking: Option<HotelBooking> = self.store.booking(&context.owner, id).await?;
        let booking = booking.ok_or(QueryError::BookingNotFound)?;
        let supplier = self.suppliers.loaded(&booking.supplier);
        let supplier = supplier.filter(|one| one.supports(Capability::HotelWeather));
        let supplier =
            supplier.ok_or_else(|| QueryError::Unsupported(Some(booking.supplier.clone())))?;
        let Some(location) = self.location_of(&booking).await? else {
            return Ok((booking, Vec::new()));
        };
        let call_context = CallContext {
            booking: Some(id.to_string()),
            ..read_call_context(context)
        };
        let (from, to) = (
            booking.details.stay.check_in,
            booking.details.stay.check_out,
        );
        let days = supplier.forecast_weather(&call_context, location, from, to);
        match days.await {
            Ok(days) => Ok((booking, days)),
            // The supplier has no forecast for this location or these days.
            Err(ReadError::NotFound(_)) => Ok((booking, Vec::new())),
            Err(error) => Err(QueryError::Supplier {
                supplier: booking.supplier,
                error,
            }),
        }
    }

    /// Returns the location of a booking's hotel, which may have become known later.
    async fn location_of(&self, booking: &HotelBooking) -> Result<Option<Location>, QueryError> {
        if booking.details.hotel.location.is_some() {
            return Ok(booking.details.hotel.location);
        }
        let mode = booking.owner.tenant.mode;
        let ids = std::slice::from_ref(&booking.details.hotel_id);
        let mut mappings = self.store.hotel_mappings(mode, ids).await?.into_iter();
        Ok(mappings.find_map(|mapping| mapping.profile.location))
    }
}
