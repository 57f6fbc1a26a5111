use stopover_sdk::http::Response;
use stopover_sdk::lenient::{Essential, NonEmptyText};
use stopover_sdk::{ChangeError, lenient_struct};

lenient_struct! {
    struct Booking {
        id: Essential<NonEmptyText> = "bookingId",
        status: Essential<NonEmptyText>,
    }
}

pub(crate) fn booking_id(response: &Response) -> Result<String, ChangeError> {
    let booking: Booking = response.json()?;
    match booking.status.required("status")?.as_str() {
        "CONFIRMED" => Ok(booking.id.required("bookingId")?.as_str().to_owned()),
        _ => Err(ChangeError::Unknown(
            "the booking has another status".to_owned(),
        )),
    }
}
