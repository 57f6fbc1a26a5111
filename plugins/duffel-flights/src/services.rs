//! Bags for existing orders.

use serde_json::{Value, json};
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_services::{AvailableServices, ListRequest, PurchaseRequest};
use stopover_sdk::http::{self, Method, Response};
use stopover_sdk::json::ensure;
use stopover_sdk::lenient::LenientList;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{ChangeError, FlightServices, ReadError};

use crate::booking::{payment, supplier_booking};
use crate::fault::Change;
use crate::settings::Settings;
use crate::upstream::{
    AIRLINE_TIMEOUT_MS, CHANGE_TIMEOUT_MS, api_request, get, open_change, open_list, open_read,
    with_data,
};
use crate::wire::order::Order;
use crate::wire::service::Service;
use crate::{DuffelFlights, map};

impl FlightServices for DuffelFlights {
    fn list_services(request: ListRequest) -> Result<AvailableServices, ReadError> {
        let settings = Settings::read()?;
        let path = format!(
            "/air/orders/{}",
            http::percent_encode(&request.supplier_reference)
        );
        let for_sale = get(&settings, &format!("{path}/available_services"));
        let requests = [
            get(&settings, &path),
            for_sale.timeout_ms(AIRLINE_TIMEOUT_MS),
        ];
        let mut responses = http::send_many(&requests).into_iter();
        let mut next = || -> Result<Response, ReadError> {
            let none = || ReadError::Failed("the gateway returned no response".to_owned());
            Ok(responses.next().ok_or_else(none)??)
        };
        let (order, for_sale) = (next()?, next()?);
        let order: Order = open_read(&order)?;
        map::order::check_booking(
            &order,
            Some(&request.supplier_reference),
            &request.client_reference,
        )?;
        let for_sale: LenientList<Service> = open_list(&for_sale)?.data;
        let (ids, currency) = (map::order::ids(&order), order.currency().to_owned());
        let mut dropped = DroppedItems::default();
        let mut services = Vec::new();
        let mut is_any_readable = false;
        for (at, service) in dropped.readable(format_args!("/data"), for_sale) {
            let service = map::service::available_service(service, &ids, &currency);
            let Some(service) = dropped.keep(format_args!("/data/{at}"), service) else {
                continue;
            };
            is_any_readable = true;
            services.extend(service);
        }
        dropped.check_remaining(is_any_readable)?;
        Ok(AvailableServices { services, currency })
    }

    fn purchase_services(request: PurchaseRequest) -> Result<SupplierBooking, ChangeError> {
        let settings = Settings::read()?;
        let id = http::percent_encode(&request.supplier_reference);
        let path = format!("/air/orders/{id}/services");
        let wanted = request.services.iter();
        let wanted: Vec<Value> = wanted
            .map(|service| json!({ "id": service.supplier_service_id, "quantity": service.quantity }))
            .collect();
        let payment = payment(request.total, &request.currency)?;
        let data = json!({ "payment": payment, "add_services": wanted });
        let http_request =
            api_request(&settings, Method::Post, &path).timeout_ms(CHANGE_TIMEOUT_MS);
        let response = with_data(http_request, data)?.send()?;
        let order: Order = open_change(&response, Change::BuyServices)?;
        map::order::check_booking(
            &order,
            Some(&request.supplier_reference),
            &request.booking_client_reference,
        )?;
        let is_same_currency = order.currency() == request.currency;
        ensure(is_same_currency, "the order is in another currency")?;
        Ok(supplier_booking(order, None, None)?.booking)
    }
}
