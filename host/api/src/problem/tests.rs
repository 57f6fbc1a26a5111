use super::*;
use host_application::booking::execution::NotSentCause;
use host_application::booking::prebook::PrebookError;
use host_application::booking::service_purchase::ServicePurchaseError;
use host_domain::id::BookingId;
use host_domain::payment::PaymentError;
use host_domain::supplier::{FailureReason, Refusal};

fn supplier() -> SupplierId {
    SupplierId::parse("SUPPLIER_A").unwrap()
}

fn retryable(error: &ApiError) -> bool {
    error.to_problem("", "req_1").retryable
}

/// The status and the code stay the same; only whether a repeat may succeed differs.
#[test]
fn supplier_error_that_requires_correction_is_not_retryable() {
    let text = || "why".to_owned();
    let account = Refusal {
        reason: RefusalReason::Account,
        supplier_code: None,
        message: text(),
    };
    for (error, code, expected) in [
        (
            ReadError::TimedOut(text()),
            ErrorCode::SupplierTimeout,
            true,
        ),
        (
            ReadError::Unavailable(text()),
            ErrorCode::SupplierUnavailable,
            true,
        ),
        (ReadError::Failed(text()), ErrorCode::SupplierError, true),
        (ReadError::Overloaded, ErrorCode::Overloaded, true),
        (
            ReadError::RateLimited {
                retry_after_s: None,
            },
            ErrorCode::SupplierRateLimited,
            true,
        ),
        // A panic or an exceeded limit of the adapter.
        (
            ReadError::AdapterFailed(text()),
            ErrorCode::SupplierError,
            false,
        ),
        // A currency that was not requested.
        (
            ReadError::InvalidResponse(text()),
            ErrorCode::SupplierError,
            false,
        ),
        // Rejected credentials (401) or a missing grant.
        (
            ReadError::Misconfigured(text()),
            ErrorCode::SupplierError,
            false,
        ),
        (
            ReadError::Rejected(account),
            ErrorCode::SupplierRejected,
            false,
        ),
        (
            ReadError::Unsupported,
            ErrorCode::SupplierOperationUnsupported,
            false,
        ),
    ] {
        let api_error = ApiError::from_supplier_read(&supplier(), &error, ErrorCode::HotelNotFound);
        assert_eq!(
            (api_error.code(), retryable(&api_error)),
            (code, expected),
            "{error}"
        );
        assert_eq!(api_error.cause(), Some(error.to_string().as_str()));
    }
}

/// A call that had no effect may be repeated after the time that the supplier states, or not at all.
#[test]
fn unsent_call_states_when_it_may_be_repeated() {
    let limited = |retry_after_s| NotSentCause::RateLimited { retry_after_s };
    for (cause, code, retry_after_s, is_retryable) in [
        (
            limited(Some(3_600)),
            ErrorCode::SupplierRateLimited,
            Some(3_600),
            true,
        ),
        (limited(None), ErrorCode::SupplierRateLimited, Some(1), true),
        (
            NotSentCause::Temporary,
            ErrorCode::SupplierUnavailable,
            Some(1),
            true,
        ),
        (
            NotSentCause::RequiresCorrection,
            ErrorCode::SupplierUnavailable,
            Some(1),
            false,
        ),
    ] {
        let (supplier_id, called) = (supplier(), supplier());
        let purchase = ServicePurchaseError::NotSent {
            supplier: called,
            cause,
        };
        for error in [ApiError::not_sent(&supplier_id, cause), purchase.into()] {
            let actual = (error.code(), retryable(&error));
            assert_eq!(actual, (code, is_retryable), "{cause:?}");
            assert_eq!(error.retry_after_s(), retry_after_s, "{cause:?}");
        }
    }
}

#[test]
fn failed_prebook_has_its_cause_and_whether_a_repeat_may_succeed() {
    let reason = |requires_correction| FailureReason {
        message: "no DNS record".to_owned(),
        requires_correction,
    };
    for requires_correction in [true, false] {
        let not_sent = PrebookError::NotSent {
            overloaded: false,
            reason: reason(requires_correction),
        };
        let no_response = PrebookError::NoResponse {
            timed_out: false,
            reason: reason(requires_correction),
        };
        for (error, code) in [
            (not_sent, ErrorCode::SupplierUnavailable),
            (no_response, ErrorCode::SupplierError),
        ] {
            let api_error = ApiError::from_prebook(&supplier(), error);
            assert_eq!(
                (api_error.code(), retryable(&api_error)),
                (code, !requires_correction)
            );
            assert!(api_error.cause().unwrap().ends_with(": no DNS record"));
        }
    }
    let booking = BookingId::from_bits(1);
    let unresolved = PrebookError::Unresolved {
        booking: booking.clone(),
        timed_out: true,
        reason: reason(false),
    };
    let unconfirmed = PrebookError::Unconfirmed {
        booking: booking.clone(),
    };
    for (error, code) in [
        (unresolved, ErrorCode::SupplierTimeout),
        (unconfirmed, ErrorCode::ResultUnknown),
    ] {
        let api_error = ApiError::from_prebook(&supplier(), error);
        let api_error = api_error.with_next_step(ChangeOperation::Prebook);
        assert_eq!((api_error.code(), retryable(&api_error)), (code, true));
        let problem = api_error.to_problem("", "req_1");
        assert_eq!(problem.booking_id, Some(booking.to_string()));
        assert!(
            problem.detail.contains(booking.as_str()),
            "{}",
            problem.detail
        );
    }
    let declined = PrebookError::PaymentNotCreated {
        processor: SupplierId::parse("PROCESSOR").unwrap(),
        error: PaymentError::Refused("no".to_owned()),
    };
    let problem = ApiError::from_prebook(&supplier(), declined).to_problem("", "req_1");
    assert_eq!(
        (problem.supplier.as_deref(), problem.retryable),
        (Some("PROCESSOR"), false)
    );
    let message = "no funds".to_owned();
    let account = ApiError::from_prebook(&supplier(), PrebookError::SupplierAccount { message });
    assert!(!retryable(&account));
}
