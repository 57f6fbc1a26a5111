//! Flight search. The response is one document or a stream of documents.

use stopover_sdk::flight_pricing::{PriceRequest, PriceResponse};
use stopover_sdk::http::Request;
use stopover_sdk::{FlightPricing, ReadError, clock};

use crate::fault::Fault;
use crate::map::offer::PricingContext;
use crate::settings::Settings;
use crate::upstream::{documents, open, send};
use crate::wire::rates::{Batch, Itinerary};
use crate::{NuiteeFlights, map};

impl FlightPricing for NuiteeFlights {
    fn price(request: PriceRequest) -> Result<PriceResponse, ReadError> {
        let settings = Settings::read()?;
        let currency = request.currency.as_deref();
        let currency = currency.unwrap_or(&settings.currency);
        let point_of_sale = settings.point_of_sale.as_deref();
        let (body, applied) = map::search::request(&request, currency, point_of_sale);
        let search = Request::post(settings.url("/flights/rates"))
            .header("accept", "application/json")
            .json(&body)?;
        let response = send(search)?;

        let documents = documents(&response.body);
        let mut itineraries: Vec<Itinerary<'_>> = Vec::new();
        let mut failed: Option<Fault> = None;
        for document in &documents {
            match open::<Batch<'_>>(&response, document)? {
                Ok(batches) => {
                    itineraries.extend(batches.into_iter().flat_map(|batch| batch.journeys.0));
                }
                Err(fault) if fault.is_no_availability() => {}
                Err(fault) => failed = Some(fault),
            }
        }
        match failed {
            Some(fault) if itineraries.is_empty() => return Err(fault.into_read_error()),
            // One of several providers failed.
            Some(fault) => {
                stopover_sdk::warn!("some fares are missing; cause: {}", fault.to_text())
            }
            None => {}
        }
        let context = PricingContext {
            request: &request,
            currency,
            logo_url: &settings.logo_url,
            now_ms: clock::now_ms(),
        };
        let mut left_out = 0;
        let mut why = "";
        let (offers, truncated) = map::offer::offers(&context, &itineraries, |reason| {
            left_out += 1;
            why = reason;
        });
        if left_out > 0 {
            stopover_sdk::warn!("{left_out} offers left out; last reason: {why}");
        }
        Ok(PriceResponse {
            offers,
            applied,
            truncated,
        })
    }
}
