//! Bags for existing orders.

use stopover_sdk::flight_services::{AvailableServices, ListRequest, PurchaseRequest};
use stopover_sdk::http::{self, Method, Response};
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{ChangeError, FlightServices, ReadError};

use crate::booking::payment;
use crate::fault::Change;
use crate::settings::Settings;
use crate::upstream::{
    AIRLINE_TIMEOUT_MS, CHANGE_TIMEOUT_MS, get, open_change, open_read, request, with_data,
};
use crate::wire::order::Order;
use crate::wire::request::{AddService, AddServices};
use crate::wire::service::Service;
use crate::{DuffelFlights, map};

impl FlightServices for DuffelFlights {
    fn list_services(asked: ListRequest) -> Result<AvailableServices, ReadError> {
        let settings = Settings::read()?;
        let path = format!(
            "/air/orders/{}",
            http::percent_encode(&asked.supplier_reference)
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
        map::order::check_is_ours(
            &order,
            Some(&asked.supplier_reference),
            &asked.client_reference,
        )?;
        let for_sale: Vec<Service> = open_read(&for_sale)?;
        let (ids, currency) = (map::order::ids(&order), order.total_currency);
        let services = for_sale
            .into_iter()
            .filter_map(|service| map::service::available(service, &ids, &currency))
            .collect();
        Ok(AvailableServices { services, currency })
    }

    fn purchase_services(asked: PurchaseRequest) -> Result<SupplierBooking, ChangeError> {
        let settings = Settings::read()?;
        let id = http::percent_encode(&asked.supplier_reference);
        let path = format!("/air/orders/{id}/services");
        let wanted = asked.services.iter();
        let data = AddServices {
            payment: payment(asked.total, &asked.currency)?,
            add_services: wanted
                .map(|service| AddService {
                    id: &service.supplier_service_id,
                    quantity: service.quantity,
                })
                .collect(),
        };
        let request = request(&settings, Method::Post, &path).timeout_ms(CHANGE_TIMEOUT_MS);
        let response = with_data(request, data)?.send()?;
        let order: Order = open_change(&response, Change::BuyServices)?;
        map::order::check_is_ours(
            &order,
            Some(&asked.supplier_reference),
            &asked.booking_client_reference,
        )?;
        Ok(map::order::state(order, None)?)
    }
}
