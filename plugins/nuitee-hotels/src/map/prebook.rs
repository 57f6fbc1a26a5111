//! Conversion of a prebook to the bound offer, or to a refusal if the offer changed.

use serde::{Deserialize, Serialize};
use stopover_sdk::detailed_hotel_booking::DetailedPrebookResponse;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_booking::PrebookResponse;
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{Essential, OneOrMany, Part, Single};
use stopover_sdk::money::{Decimal, MoneyError};
use stopover_sdk::types::hotel::HotelSummary;
use stopover_sdk::types::hotel_details::PaymentType;
use stopover_sdk::types::{Checkout, MinorUnits, Money, TimestampMs};
use stopover_sdk::{ChangeError, Refusal, RefusalReason, json};

use crate::map::details::{RatedOffer, add_remark, offer_details};
use crate::map::{minor, offer, other_currency};
use crate::wire::ExactFlag;
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
    let prebook_id = prebook.prebook_id.required("prebookId")?;
    let prebook_id = prebook_id.as_str().to_owned();
    let is_package_rate = is_set(&prebook.is_package_rate, "isPackageRate")?;
    let extras = Extras::of_prebook(&prebook, offered.currency)?;
    let RoomType { rates, name, .. } = only_offer(prebook.room_types)?;
    let rates = rates.optional("rates")?.unwrap_or_default().0;
    let mut rooms = offer::rooms(&rates, offered.rooms, offered.currency)
        .map_err(|error| contradiction(&error.to_string()))?;
    offer::name_rooms(&mut rooms, &name);
    let promotions = offer::promotions(&rates, offered.currency);
    let total = extras
        .hotel_total(offer::total_of(&rooms)?, rooms.len(), offered.currency)?
        .ok_or_else(|| contradiction("its rooms do not show how much of its price they are"))?;
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
    add_remark(&mut details.rooms, &prebook.terms_and_conditions);
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

/// Returns the offer of a prebook, which must be the only one.
fn only_offer<'a>(
    room_types: Single<OneOrMany<RoomType<'a>>>,
) -> Result<RoomType<'a>, ChangeError> {
    let room_types = room_types.optional("roomTypes")?.unwrap_or_default();
    let [offer] = <[RoomType<'a>; 1]>::try_from(room_types.0)
        .map_err(|_| contradiction("it does not have exactly one offer"))?;
    Ok(offer)
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
    let board = is_set(&prebook.board_changed, "boardChanged")?;
    let policy = is_set(&prebook.cancellation_changed, "cancellationChanged")?;
    for (what, is_changed) in [("board", board), ("cancellation policy", policy)] {
        if is_changed {
            let message = format!("the {what} of the offer changed");
            return Err(Refusal::new(RefusalReason::TermsChanged, message).into());
        }
    }
    Ok(())
}

/// Returns whether a flag is set. A missing one is not.
fn is_set(flag: &Essential<ExactFlag>, name: &str) -> Result<bool, DecodeError> {
    Ok(flag.optional(name)?.is_some_and(|flag| flag.0))
}

/// Amounts that Nuitee may include in the price of the rooms.
pub(crate) struct Extras {
    pub(crate) price: MinorUnits,
    pub(crate) addons: Decimal,
    pub(crate) vouchers: Decimal,
    /// Whether the response has add-ons or vouchers whose amounts may be missing.
    pub(crate) are_stated: bool,
}

impl Extras {
    fn of_prebook(prebook: &Prebook<'_>, currency: &str) -> Result<Self, ChangeError> {
        let addons = prebook.addons_total_amount.to_part();
        let vouchers = prebook.voucher_total_amount.to_part();
        let has_unreadable = [&addons, &vouchers]
            .iter()
            .any(|amount| matches!(amount, Part::Unreadable(_)));
        let has_voucher = !matches!(prebook.voucher_code.to_part(), Part::Missing);
        let has_addons = match prebook.addons_request.as_ref() {
            Single::Missing => false,
            Single::Value(addons) => addons.statement().is_some(),
            Single::Repeated => true,
        };
        Ok(Self {
            price: minor(*prebook.price.required("price")?, currency)?,
            addons: addons.decoded().unwrap_or_default(),
            vouchers: vouchers.decoded().unwrap_or_default(),
            are_stated: has_unreadable || has_voucher || has_addons,
        })
    }

    /// Returns the price of the rooms. Nuitee's `price` is that of the rooms, sometimes plus
    /// add-ons and minus vouchers. This adapter never requests these, but the account may have
    /// them. The variant that matches the sum of the rooms is used. If none does, it is `price`,
    /// or `None` if add-ons or vouchers may be part of it: it is then unknown what the rooms cost.
    pub(crate) fn hotel_total(
        &self,
        rooms_total: MinorUnits,
        rooms: usize,
        currency: &str,
    ) -> Result<Option<MinorUnits>, MoneyError> {
        let addons = minor(self.addons, currency)?;
        let vouchers = minor(self.vouchers, currency)?;
        let has_extras = self.are_stated || addons != 0 || vouchers != 0;
        let without = self.price.saturating_sub(addons).saturating_add(vouchers);
        let is_rooms = |total: &MinorUnits| {
            usize::try_from(total.abs_diff(rooms_total)).is_ok_and(|difference| difference <= rooms)
        };
        let matching = [self.price, without].into_iter().find(is_rooms);
        Ok(matching.or_else(|| (!has_extras).then_some(self.price)))
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
