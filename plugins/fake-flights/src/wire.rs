//! Objects that both suppliers write alike. Where they name a member differently, one of the names is
//! an alias. `M` is money in the supplier's form.

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Conditions<M> {
    pub(crate) refund: Condition<M>,
    pub(crate) change: Condition<M>,
}

#[derive(Deserialize)]
pub(crate) struct Condition<M> {
    pub(crate) allowed: Option<bool>,
    #[serde(alias = "fee")]
    pub(crate) penalty: Option<M>,
}

#[derive(Deserialize)]
pub(crate) struct Carrier {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) logo: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Cancellation<M> {
    pub(crate) r#ref: String,
    pub(crate) fee: M,
    pub(crate) refund: M,
}

#[derive(Deserialize)]
pub(crate) struct Airport {
    /// `None` at Jetbridge, which has no ids of its own.
    pub(crate) id: Option<String>,
    #[serde(alias = "code")]
    pub(crate) iata: String,
    pub(crate) icao: String,
    pub(crate) name: String,
    pub(crate) city: String,
    #[serde(alias = "region")]
    pub(crate) state: String,
    pub(crate) country: String,
    pub(crate) lat: f64,
    #[serde(alias = "lng")]
    pub(crate) lon: f64,
    #[serde(alias = "tz")]
    pub(crate) zone: String,
}

#[derive(Deserialize)]
pub(crate) struct Airline {
    /// `None` at Jetbridge, which has no ids of its own.
    pub(crate) id: Option<String>,
    #[serde(alias = "code")]
    pub(crate) iata: String,
    pub(crate) icao: String,
    pub(crate) name: String,
    pub(crate) country: String,
    pub(crate) alliance: Option<String>,
    pub(crate) logo: Option<String>,
    pub(crate) active: bool,
}
