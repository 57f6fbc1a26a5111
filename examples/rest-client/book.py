"""Books a hotel, from search to cancellation, and never twice. Standard library only.

    BASE=http://127.0.0.1:8080 KEY=sk_test_… python3 book.py trip-1 Testville --cancel

Prints the booking. Run again with the same reference, it continues where it stopped.
"""

import argparse
import datetime
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

# Longer than the gateway takes to report an unknown outcome.
TIMEOUT_S = 90
REPEAT_AFTER_S = (0.2, 1, 3, 10)
READ_AFTER_S = (1, 1, 2, 3, 5, 8, 15, 30, 60)

BOOKINGS = "/v1/hotel/bookings"
# After these codes the booking shows the outcome. All others need a decision by the caller.
READ_BACK = {"result_unknown", "no_answer", "booking_state_conflict", "supplier_rejected"}
OVER = {"FAILED", "EXPIRED"}

ADA = {"first_name": "Ada", "last_name": "Lovelace"}
CONTACT = {**ADA, "email": "ada@example.org", "phone": "+442079460000"}
GUESTS = [
    {**ADA, "type": "ADULT", "is_lead": True},
    {"first_name": "Charles", "last_name": "Babbage", "type": "ADULT", "is_lead": False},
]


class Problem(Exception):
    """An error response. `code` is its stable part."""

    def __init__(self, status, body):
        super().__init__(json.dumps(body, ensure_ascii=False))
        self.code = body.get("code", f"http_{status}")
        self.retryable = body.get("retryable", status in (502, 503, 504))


class Gateway:
    """A client of the API with one key."""

    def __init__(self, base, api_key):
        self.base, self.api_key = base, api_key

    def read(self, path):
        return self._repeat("GET", path)

    def ask(self, path, body):
        """Sends a POST that changes nothing."""
        return self._repeat("POST", path, body)

    def change(self, path, body, key):
        """Sends a POST that is executed once, however often it is sent with this key."""
        return self._repeat("POST", path, body, key)

    def _repeat(self, *call):
        """Repeats a request that got no response, or whose response allows it to be sent again."""
        for wait_s in (*REPEAT_AFTER_S, None):
            try:
                return self._send(*call)
            except urllib.error.HTTPError as error:
                problem = Problem(error.code, _json(error))
                wait_s = wait_s and float(error.headers.get("retry-after", wait_s))
                if not problem.retryable:
                    raise problem from None
            except (OSError, http.client.HTTPException) as error:
                problem = Problem(0, {"code": "no_answer", "detail": str(error)})
            if wait_s is None:
                raise problem
            time.sleep(wait_s)

    def _send(self, method, path, body=None, key=None):
        headers = {"x-api-key": self.api_key, "content-type": "application/json"}
        if key is not None:
            headers["x-idempotency-key"] = key
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return json.load(answer)["data"]


def _json(error):
    try:
        return json.load(error)
    except ValueError:  # the response of a proxy in between
        return {}


def find(gateway, reference):
    """Returns the booking that an earlier run started with this reference, if any."""
    query = urllib.parse.urlencode({"reference_id": reference})
    found = gateway.read(f"{BOOKINGS}?{query}")
    return next((booking for booking in found if booking["status"] not in OVER), None)


def choose(gateway, place, hotel):
    """Returns the cheapest refundable offer of the named hotel, or of the nearest one."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    stay = {
        "check_in": str(today + datetime.timedelta(days=30)),
        "check_out": str(today + datetime.timedelta(days=32)),
        "occupancy": [{"adults": len(GUESTS), "children": []}],
        "guest_nationality": "GB",
        "currency": "EUR",
    }
    place = gateway.ask("/v1/hotel/places", {"query": place})[0]
    found = gateway.ask("/v1/hotel/search", {**stay, "place_id": place["id"], "limit": 100})
    chosen = next(one for one in found if hotel in (None, one["name"]))
    priced = gateway.ask("/v1/hotel/offers", {**stay, "hotel_ids": [chosen["hotel_id"]]})
    offers = [offer for offer in priced[0]["offers"] if offer["refundable"]]
    return min(offers, key=lambda offer: offer["total"]["amount"])


def prebook(gateway, reference, offer):
    body = {
        "offer_reference": offer["offer_reference"],
        "reference_id": reference,
        "contact": CONTACT,
        "rooms": [{"guests": GUESTS}],
    }
    return gateway.change("/v1/hotel/prebook", body, str(uuid.uuid4()))


def book(gateway, booking, cards):
    """Pays with the first card that is accepted. A decline charges nothing and leaves the
    booking unchanged. After an unknown outcome there is no other attempt."""
    path = f"{BOOKINGS}/{booking['id']}"
    for token in cards:
        key = f"{booking['id']}-{token}"
        card = gateway.change("/v1/payment-instruments", {"type": "CARD", "token": token}, key)
        try:
            return gateway.change(f"{path}/book", {"payment_instrument_id": card["id"]}, key)
        except Problem as problem:
            if problem.code in READ_BACK:
                break
            if problem.code != "payment_failed":
                raise
    return gateway.read(path)


def cancel(gateway, booking):
    path = f"{BOOKINGS}/{booking['id']}"
    try:
        return gateway.change(f"{path}/cancel", {}, f"{booking['id']}-cancel")
    except Problem as problem:
        if problem.code not in READ_BACK:
            raise
    return gateway.read(path)


def wait_for_outcome(gateway, booking):
    """Waits until the outcome of the booking is known, and returns it. Only reads the booking."""
    for wait_s in READ_AFTER_S:
        if not booking["status"].endswith("_IN_PROGRESS"):
            break
        time.sleep(wait_s)
        booking = gateway.read(f"{BOOKINGS}/{booking['id']}")
    return booking


def run(gateway, options):
    booking = find(gateway, options.reference)
    if booking is None:
        offer = choose(gateway, options.place, options.hotel)
        booking = prebook(gateway, options.reference, offer)
    booking = wait_for_outcome(gateway, booking)
    if booking["status"] == "READY_FOR_COMPLETE":
        booking = wait_for_outcome(gateway, book(gateway, booking, options.cards))
    if options.cancel and booking["status"] == "CONFIRMED":
        booking = wait_for_outcome(gateway, cancel(gateway, booking))
    return booking


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reference", help="the caller's reference for this booking")
    parser.add_argument("place")
    parser.add_argument("--hotel", help="name of the hotel; default: the nearest")
    parser.add_argument("--cards", nargs="+", default=["tok_visa"], help="card tokens, tried in order")
    parser.add_argument("--cancel", action="store_true")
    options = parser.parse_args()
    gateway = Gateway(os.environ["BASE"], os.environ["KEY"])
    try:
        booking = run(gateway, options)
    except Problem as problem:
        sys.exit(str(problem))
    print(json.dumps(booking, ensure_ascii=False))
    expected = "CANCELED" if options.cancel else "CONFIRMED"
    sys.exit(0 if booking["status"] == expected else 1)


if __name__ == "__main__":
    main()
