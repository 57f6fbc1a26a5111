//! Request bodies that contain event types. They only differ between products in the allowed types,
//! so each product has its own published schema.

use crate::extract::{Body, BodySchema, RequestPart, RequestReader, Validate, Violations};
use crate::openapi::describe::OperationInputs;
use crate::webhook::PathProduct;
use host_domain::event::{EventType, Product};
use host_domain::time::Timestamp;
use host_domain::webhook::subscription::WILDCARD_EVENT_TYPE;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::marker::PhantomData;
use utoipa::openapi::schema::{ArrayItems, Ref, Schema, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

const EVENT_TYPES: &str = "event_types";

/// A JSON body `T` whose [`EVENT_TYPES`] belong to the product in the path.
pub(crate) struct ProductBody<T>(pub(crate) Product, pub(crate) T);

impl<T: ToSchema + DeserializeOwned + Validate + Send + 'static> RequestPart for ProductBody<T> {
    fn body_schema(incoming: &RequestReader<'_>) -> BodySchema {
        match PathProduct::of(incoming)?.0 {
            Product::Hotel => Body::<ProductTyped<Hotels, T>>::body_schema(incoming),
            Product::Flight => Body::<ProductTyped<Flights, T>>::body_schema(incoming),
            // This product has no such route.
            Product::Watch => None,
        }
    }

    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        let PathProduct(product) = PathProduct::of(incoming)?;
        let request = match product {
            Product::Hotel => Body::<ProductTyped<Hotels, T>>::extract(incoming)?.0.0,
            Product::Flight => Body::<ProductTyped<Flights, T>>::extract(incoming)?.0.0,
            // This product has no such route.
            Product::Watch => return None,
        };
        Some(Self(product, request))
    }

    fn describe(inputs: &mut OperationInputs) {
        inputs.product_body::<ProductTyped<Hotels, T>>(Product::Hotel);
        inputs.product_body::<ProductTyped<Flights, T>>(Product::Flight);
    }
}

/// A product with webhook subscriptions, as a type parameter.
trait SubscribableProduct: Send + 'static {
    const PRODUCT: Product;
    const NAME: &'static str;
}

struct Hotels;
struct Flights;

impl SubscribableProduct for Hotels {
    const PRODUCT: Product = Product::Hotel;
    const NAME: &'static str = "Hotel";
}

impl SubscribableProduct for Flights {
    const PRODUCT: Product = Product::Flight;
    const NAME: &'static str = "Flight";
}

/// `T` with the event types of product `P`.
struct ProductTyped<P, T>(T, PhantomData<P>);

impl<'de, P, T: Deserialize<'de>> Deserialize<'de> for ProductTyped<P, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|request| Self(request, PhantomData))
    }
}

impl<P, T: Validate> Validate for ProductTyped<P, T> {
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        self.0.validate(now, found);
    }
}

impl<P: SubscribableProduct, T: ToSchema> PartialSchema for ProductTyped<P, T> {
    fn schema() -> RefOr<Schema> {
        let mut schema = T::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema
            && let Some(RefOr::T(Schema::Array(list))) = object.properties.get_mut(EVENT_TYPES)
        {
            let names = Ref::from_schema_name(event_type_schema_name::<P>());
            list.items = ArrayItems::RefOrSchema(Box::new(names.into()));
        }
        schema
    }
}

impl<P: SubscribableProduct, T: ToSchema> ToSchema for ProductTyped<P, T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{}{}", P::NAME, T::name()))
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
        let types = EventType::for_product(P::PRODUCT).map(EventType::as_str);
        let names = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "An event type, or `*` for all types, including those added later.",
            ))
            .enum_values(Some([WILDCARD_EVENT_TYPE].into_iter().chain(types)))
            .build();
        schemas.push((event_type_schema_name::<P>(), names.into()));
    }
}

fn event_type_schema_name<P: SubscribableProduct>() -> String {
    format!("{}EventType", P::NAME)
}
