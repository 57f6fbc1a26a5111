"""What the fuzzer is told beside the API document, so that it gets behind the first
answer of a journey; and which operations never succeeded. Nothing here changes what
an answer must be."""

import atexit
import copy
import json
import os
import urllib.request
from pathlib import Path

import schemathesis
from hypothesis import strategies

# Operations without one success, a line each.
UNREACHED = Path("unreached.txt")
METHODS = ("get", "put", "post", "delete", "patch")
# Where journeys begin. A stay of random dates in a random place finds no hotel.
BEGINNINGS = ("find_places", "search_hotels", "price_hotels", "add_payment_instrument")
# What reads a booking and leaves it as it is.
READS = ("read_hotel_booking", "read_stay_weather", "quote_hotel_cancellation")

unreached = set()
confirmed = {}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    operations = {
        path[method]["operationId"]: path[method]
        for path in raw_schema["paths"].values()
        for method in METHODS
        if method in path
    }
    card = book(raw_schema["servers"][0]["url"], operations)
    unreached.update(operations)
    for operation in operations.values():
        narrow(operation)
        for response in operation["responses"].values():
            for link in response.get("links", {}).values():
                complete(link, card)
    note()


@schemathesis.hook
def flatmap_case(context, case):
    """Half of the good requests that begin a journey are the documented example, and
    half of the good reads are of a booking that is there."""
    definition = case.operation.definition.raw
    name = definition["operationId"]
    is_good = case.meta is not None and case.meta.generation.mode.is_positive
    if is_good and name in BEGINNINGS:
        return strategies.booleans().map(lambda use: exemplary(case) if use else case)
    if is_good and name in READS:
        return strategies.booleans().map(lambda use: real(case) if use else case)
    return strategies.just(case)


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code < 300:
        unreached.discard(case.operation.definition.raw["operationId"])


@atexit.register
def note():
    UNREACHED.write_text("".join(f"{name}\n" for name in sorted(unreached)))


def exemplary(case):
    case.body = example(case.operation.definition.raw)
    return case


def real(case):
    case.path_parameters["id"] = confirmed["id"]
    return case


def example(operation):
    return copy.deepcopy(operation["requestBody"]["content"]["application/json"]["example"])


def complete(link, card):
    """A link's body is the whole body. No answer names both booking and card."""
    if link["operationId"] == "book_hotel":
        link["requestBody"] = {"payment_instrument_id": card}
    link["x-schemathesis"] = {"merge_body": False}


def narrow(operation):
    """What one end user made is not there for another, so journeys are one user's;
    the user is fuzzed in lists. Every organization but the key's own gets one 403."""
    kept = []
    for parameter in operation.get("parameters", []):
        if parameter["name"] == "x-organization-id":
            parameter["schema"] = {"type": "string", "enum": ["demo"]}
        if parameter["name"] != "x-user-id" or operation["operationId"].startswith("list_"):
            kept.append(parameter)
    operation["parameters"] = kept


def book(api, operations):
    """Books with the documented examples, as a reader would, and gives the card."""

    def call(path, body):
        headers = {
            "content-type": "application/json",
            "x-api-key": os.environ["SCHEMATHESIS_API_KEY"],
            "x-idempotency-key": f"seed {path}",
        }
        request = urllib.request.Request(
            f"{api}/v1/{path}", data=json.dumps(body).encode(), headers=headers
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["data"]

    card = call("payment-instruments", example(operations["add_payment_instrument"]))["id"]
    [hotel] = call("hotel/offers", example(operations["price_hotels"]))
    binding = example(operations["prebook_hotel"])
    binding["offer_reference"] = hotel["offers"][0]["offer_reference"]
    booking = call("hotel/prebook", binding)["id"]
    booked = call(f"hotel/bookings/{booking}/book", {"payment_instrument_id": card})
    assert booked["status"] == "CONFIRMED", booked["status"]
    confirmed["id"] = booking
    return card
