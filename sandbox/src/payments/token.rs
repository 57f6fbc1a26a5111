//! Reading card tokens.

use axum::Json;
use serde_json::{Value, json};

use crate::{
    payments::{
        card_scenario::CardScenario,
        refusal::{PaymentError, TillwayResult},
    },
    request::Call,
};

pub(super) async fn read_token(call: Call) -> TillwayResult<Json<Value>> {
    let source = CardScenario::from_token(&call.id).ok_or(PaymentError::NoSuchToken)?;
    Ok(Json(json!({ "token": call.id, "card": source.card() })))
}
