//! Flight search. The response is one document or a stream of documents.

use stopover_sdk::detailed_flight_pricing::DetailedPriceResponse;
use stopover_sdk::dropped::{DropReason, DroppedItems};
use stopover_sdk::flight_pricing::PriceRequest;
use stopover_sdk::http::Request;
use stopover_sdk::json::ensure;
use stopover_sdk::{DetailedFlightPricing, ReadError, clock};

use crate::fault::Fault;
use crate::map::offer::{FoundItinerary, PricingContext, found_itineraries};
use crate::settings::Settings;
use crate::upstream::{check_lists, documents, open, send};
use crate::wire::rates::{Batch, ListedBatch};
use crate::{NuiteeFlights, map};

impl DetailedFlightPricing for NuiteeFlights {
    fn price(request: PriceRequest) -> Result<DetailedPriceResponse, ReadError> {
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
        ensure(!documents.is_empty(), "the stream has no results")?;
        let mut dropped = DroppedItems::default();
        let mut itineraries = Vec::new();
        let mut failed: Option<Fault> = None;
        let mut is_whole = true;
        for document in &documents {
            let batches = match open::<Batch<'_>>(&response, document) {
                Ok(Ok(Some(batches))) => batches,
                Ok(Ok(None)) => continue,
                Ok(Err(fault)) => {
                    if !fault.is_no_availability() {
                        failed = Some(fault);
                    }
                    continue;
                }
                Err(error) => {
                    is_whole = false;
                    dropped.add(format_args!("/data"), DropReason::Unreadable, error);
                    continue;
                }
            };
            let dropped_before = dropped.count();
            let found = found_itineraries(batches, &mut dropped);
            let lists_nothing = found.iter().all(FoundItinerary::is_empty);
            if lists_nothing && dropped.count() == dropped_before {
                let lists = check_lists::<ListedBatch>(document);
                dropped.keep(format_args!("/data"), lists);
            }
            itineraries.extend(found);
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
        let (offers, truncated) = map::offer::offers(&context, &itineraries, &mut dropped);
        dropped.check_remaining(!offers.is_empty())?;
        Ok(DetailedPriceResponse {
            offers,
            applied,
            truncated: truncated || !is_whole,
        })
    }
}
