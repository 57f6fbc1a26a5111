//! Conversion of a prebook to the bound offer, or to a refusal if the offer changed.

use serde::{Deserialize, Serialize};
use stopover_sdk::detailed_hotel_booking::DetailedPrebookResponse;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_booking::PrebookResponse;
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{Essential, LenientAmount};
use stopover_sdk::types::hotel::HotelSummary;
use stopover_sdk::types::hotel_details::PaymentType;
use stopover_sdk::types::{Checkout, MinorUnits, Money, TimestampMs};
use stopover_sdk::{ChangeError, Refusal, RefusalReason, json};

use crate::map::details::{RatedOffer, offer_details};
use crate::map::{minor, offer, other_currency};
use crate::wire::rate::{Prebook, RoomType};

/// The offer as it was priced.
pub(crate) struct PricedOffer<'a> {
    pub(crate) supplier_hotel_id: &'a str,
    pub(crate) currency: &'a str,
    pub(crate) total: MinorUnits,
    pub(crate) rooms: usize,
    /// Whether the end user pays Nuitee in the browser.
    pub(crate) uses_payment_sdk: bool,
    /// Time of the prebook.
    pub(crate) now_ms: TimestampMs,
}

/// The adapter's reference of a prebook: the data needed to book.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PrebookReference {
    pub(crate) prebook_id: String,
    /// Id of the transaction that is paid in the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) transaction_id: Option<String>,
    /// The prebooked price. Prebooks that were stored without it have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<(MinorUnits, String)>,
}

impl PrebookReference {
    pub(crate) fn total(&self) -> Option<Money> {
        let (total, currency) = self.total.as_ref()?;
        Some(Money::new(*total, currency))
    }
}

/// Returns the bound offer. Changed terms or a higher price are refused because the customer must
/// consent to them. A lower price is accepted.
pub(crate) fn prebook_response(
    offered: &PricedOffer<'_>,
    prebook: Prebook<'_>,
    hotel: HotelSummary,
) -> Result<DetailedPrebookResponse, ChangeError> {
    check_offer(offered, &prebook)?;
    let payment = offered
        .uses_payment_sdk
        .then(|| payment(&prebook))
        .transpose()?;
    let (transaction_id, checkout) = payment.unzip();
    let prebook_id = prebook
        .prebook_id
        .required("prebookId")?
        .as_str()
        .to_owned();
    let is_package_rate = prebook.is_package_rate.optional("isPackageRate")?;
    let is_package_rate = is_package_rate.is_some_and(|flag| flag.is_set());
    let extras = Extras::of_prebook(&prebook, offered.currency)?;
    let room_types = prebook
        .room_types
        .optional("roomTypes")?
        .unwrap_or_default();
    let [RoomType { rates, .. }] = <[RoomType<'_>; 1]>::try_from(room_types.0)
        .map_err(|_| contradiction("it does not have exactly one offer"))?;
    let rates = rates.optional("rates")?.unwrap_or_default().0;
    let rooms = offer::rooms(&rates, offered.rooms, offered.currency)
        .map_err(|error| contradiction(&error.to_string()))?;
    let promotions = offer::promotions(&rates, offered.currency);
    let total = extras.hotel_total(offer::total_of(&rooms)?, rooms.len(), offered.currency)?;
    if total <= 0 || rooms.iter().any(|room| room.total < 0) {
        return Err(contradiction("its price is not positive"));
    }
    if total > offered.total {
        let now = Money::new(total, offered.currency);
        let message = "the price of the offer rose";
        return Err(Refusal::new(RefusalReason::PriceChanged(now), message).into());
    }
    let bound = PrebookReference {
        prebook_id,
        transaction_id,
        total: Some((total, offered.currency.to_owned())),
    };
    let policy = offer::merged_policy(&rooms, offered.currency);
    let rated = RatedOffer {
        pointer: &"/data/roomTypes/0",
        currency: offered.currency,
        rooms: &rooms,
        policy: &policy,
        total,
        package_only: is_package_rate,
        now_ms: offered.now_ms,
    };
    let mut dropped = DroppedItems::default();
    let is_paid_at_hotel = offer::is_paid_at_hotel(&rates)?;
    let mut details = offer_details(&rated, rates, &mut dropped);
    if is_paid_at_hotel {
        // Such a room decides for the offer: its price must not be collected twice.
        details.payment_types = vec![PaymentType::PayAtProperty];
    }
    Ok(DetailedPrebookResponse {
        details,
        prebook: PrebookResponse {
            supplier_prebook: json::encode_text(&bound)?,
            currency: offered.currency.to_owned(),
            total,
            hotel,
            policy,
            rooms,
            promotions,
            loyalty: None,
            expires_at: None,
            checkout,
        },
    })
}

/// Checks that a prebook is of the offer and that its terms are the same.
fn check_offer(offered: &PricedOffer<'_>, prebook: &Prebook<'_>) -> Result<(), ChangeError> {
    if prebook.currency.required("currency")? != offered.currency {
        return Err(other_currency().into());
    }
    if prebook.hotel_id.required("hotelId")? != offered.supplier_hotel_id {
        return Err(contradiction("it is of another hotel"));
    }
    prebook.prebook_id.required("prebookId")?;
    let board = prebook.board_changed.optional("boardChanged")?;
    let policy = prebook
        .cancellation_changed
        .optional("cancellationChanged")?;
    for (what, changed) in [("board", board), ("cancellation policy", policy)] {
        if changed.is_some_and(|flag| flag.is_set()) {
            let message = format!("the {what} of the offer changed");
            return Err(Refusal::new(RefusalReason::TermsChanged, message).into());
        }
    }
    Ok(())
}

/// Amounts that Nuitee may include in the price of the rooms.
pub(crate) struct Extras {
    pub(crate) price: MinorUnits,
    pub(crate) addons: stopover_sdk::money::Decimal,
    pub(crate) vouchers: stopover_sdk::money::Decimal,
}

impl Extras {
    fn of_prebook(prebook: &Prebook<'_>, currency: &str) -> Result<Self, ChangeError> {
        let amount = |field: &Essential<LenientAmount>, name: &str| {
            let amount = field.optional(name)?;
            Ok::<_, DecodeError>(amount.and_then(|amount| amount.0).unwrap_or_default())
        };
        Ok(Self {
            price: minor(*prebook.price.required("price")?, currency)?,
            addons: amount(&prebook.addons_total_amount, "addonsTotalAmount")?,
            vouchers: amount(&prebook.voucher_total_amount, "voucherTotalAmount")?,
        })
    }

    /// Returns the price of the rooms. Nuitee's `price` is that of the rooms, sometimes plus
    /// add-ons and minus vouchers. This adapter never requests these, but the account may have
    /// them. The variant that matches the sum of the rooms is used, otherwise `price`.
    pub(crate) fn hotel_total(
        &self,
        rooms_total: MinorUnits,
        rooms: usize,
        currency: &str,
    ) -> Result<MinorUnits, stopover_sdk::money::MoneyError> {
        let addons = minor(self.addons, currency)?;
        let vouchers = minor(self.vouchers, currency)?;
        let without = self.price.saturating_sub(addons).saturating_add(vouchers);
        let is_rooms = |total: MinorUnits| {
            usize::try_from(total.abs_diff(rooms_total)).is_ok_and(|difference| difference <= rooms)
        };
        Ok(if !is_rooms(self.price) && is_rooms(without) {
            without
        } else {
            self.price
        })
    }
}

/// Returns the id of the transaction that is paid in the browser, and the token of its form.
fn payment(prebook: &Prebook<'_>) -> Result<(String, Checkout), ChangeError> {
    let secret_key = prebook.secret_key.required("secretKey");
    let transaction_id = prebook.transaction_id.required("transactionId");
    let (Ok(token), Ok(transaction_id)) = (secret_key, transaction_id) else {
        return Err(contradiction("it has no payment-form token"));
    };
    let checkout = Checkout {
        url: None,
        token: token.as_str().to_owned(),
    };
    Ok((transaction_id.as_str().to_owned(), checkout))
}

fn contradiction(what: &str) -> ChangeError {
    ChangeError::Unknown(format!("the prebook does not match the offer: {what}"))
}
