"""Hooks of the API fuzzer. They seed resources so that sequences get beyond the first
response, add a check of validation errors, and record the operations that never succeeded.
No hook permits a response that the API document forbids."""

import atexit
import copy
import hashlib
import hmac
import json
import os
import re
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import schemathesis
from hypothesis import strategies

# Operations that never succeeded, one per line.
UNREACHED = Path("unreached.txt")
METHODS = ("get", "put", "post", "delete", "patch")
# Operations that begin a sequence. Random dates in a random place find no hotel.
FIRST_OPERATIONS = ("find_places", "search_hotels", "price_hotels", "add_payment_instrument")
# Rules that a schema cannot express: JSON pointer and code of their violation.
RULES = {
    "/check_in in_the_past",
    "/check_in too_far_ahead",
    "/check_out not_after_check_in",
    "/check_out too_long",
    # Subscriptions: duplicate event types, and more subscriptions than permitted.
    " too_many_subscriptions",
    "/event_types/* duplicate",
    # Amounts with more decimals than the currency or the API permits.
    "/currency required",
    "/filters/max_total invalid",
    "/filters/max_total not_allowed",
    "/filters/max_total too_small",
    "/filters/airlines/* duplicate",
    "/filters/excluded_airlines/* duplicate",
    "/filters/departure_before contradiction",
    "/filters/excluded_airlines/* contradiction",
    "/journeys/*/date before_previous",
    "/journeys/*/date in_the_past",
    "/journeys/*/date too_far_ahead",
    "/journeys/*/destination same_as_origin",
    "/passengers other_than_offered",
    "/passengers too_many",
    "/passengers/*/date_of_birth in_the_future",
    "/passengers/*/date_of_birth other_than_type",
    "/passengers/*/date_of_birth too_long_ago",
    "/passengers/*/document required",
    "/passengers/*/document/expires_on in_the_past",
    "/passengers/*/loyalty_accounts/* duplicate",
    "/passengers/infants too_large",
    "/services/*/id duplicate",
    "/services/*/id not_for_sale",
    "/services/*/quantity too_large",
    "/hotel_ids required",
    "/hotel_ids/* duplicate",
    "/hotel_ids/* several_suppliers",
    "/location exclusive",
    "/max_offers_per_hotel too_large",
    "/payment_instrument_id not_allowed",
    "/payment_instrument_id required",
    "/payment_amount/amount invalid",
    "/payment_amount/amount not_allowed",
    "/payment_amount/amount too_small",
    "/place_id required",
    "/room_ids/* duplicate",
    "/room_ids/* unknown_room",
    "/rooms other_than_offered",
    "/rooms/*/guests one_adult_lead_required",
    "/rooms/*/guests other_than_offered",
    "/rooms/*/guests/*/age not_allowed",
    "/supplier required",
    "/supplier_hotel_ids exclusive",
    "/supplier_hotel_ids/* duplicate",
    "/to before_from",
    "/to too_long",
    "/token card_number",
    "/user_id other_user",
    "/trigger/amount invalid",
    "/trigger/amount not_allowed",
    "/trigger/amount too_small",
    "/auto_book/rooms other_than_offered",
    "/auto_book/rooms/*/guests one_adult_lead_required",
    "/auto_book/rooms/*/guests other_than_offered",
    "/auto_book/rooms/*/guests/*/age not_allowed",
    # Supplier events, which the adapter parses.
    " unreadable",
}

# Suppliers with webhooks and an event of each, which concerns no existing booking.
SUPPLIER_EVENTS = {
    "receive_supplier_events": ("SIGNING", {"id": "evt_0000", "type": "ping.triggered"}),
    "receive_secret_supplier_events": ("UNSIGNED", {"event_name": "booking.book"}),
}
# User who owns the seeded resources. The fuzzer finds and uses up resources of other
# users, because lists return their ids.
SEED_USER = "keeper"

unreached = set()
# Resources that `seed` creates: path parameters by path prefix, in general, of resources
# that may be cancelled or deleted, and of those that may be paused; and functions that
# make a request body, by operation.
seeded = {}
disposable = {}
pausable = {}
bodies = {}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    operations = {
        path[method]["operationId"]: path[method]
        for path in raw_schema["paths"].values()
        for method in METHODS
        if method in path
    }
    card = seed(raw_schema["servers"][0]["url"], operations)
    unreached.update(operations)
    for operation in operations.values():
        restrict_users(operation)
        for response in operation["responses"].values():
            for link in response.get("links", {}).values():
                complete_link(link, card)
    write_unreached()


@schemathesis.hook
def flatmap_case(context, case):
    """Replaces half of the valid requests that begin a sequence by the documented example,
    and makes most valid requests with an id refer to a seeded resource. Always does so for
    operations that never succeeded, so that a slow machine reaches them too."""
    definition = case.operation.definition.raw
    name = definition["operationId"]
    is_good = case.meta is not None and case.meta.generation.mode.is_positive
    if is_good and (name in FIRST_OPERATIONS or name in bodies):
        return strategies.booleans().map(
            lambda use: use_example(case) if use or name in unreached else case
        )
    if is_good and case.path_parameters:
        leaves = not may_end_resource(definition, case.method)
        return strategies.integers(0, 7).map(
            lambda some: use_seeded(case) if some and leaves or name in unreached else case
        )
    return strategies.just(case)


@schemathesis.check
def valid_request_breaks_only_listed_rules(ctx, response, case):
    """Fails if a request that is valid by the schema returns a 400 that no rule explains."""
    is_good = case.meta is not None and case.meta.generation.mode.is_positive
    if not is_good or response.status_code != 400:
        return
    problem = response.json()
    assert problem["code"] == "validation_failed", problem["code"]
    for error in problem["errors"]:
        violation = re.sub(r"/\d+", "/*", error["pointer"]) + " " + error["code"]
        assert violation in RULES, f"no rule in RULES: {error['in']} {violation}"


@schemathesis.hook
def before_call(context, case, kwargs):
    """Redirects a request that would end or pause a seeded resource to a disposable one.
    Subscriptions belong to the organization, so lists return the seeded ones, too."""
    parameters = seeded_parameters(case.operation.definition.raw["operationId"], case.method)
    if parameters is seeded:
        return
    for beginning, another in parameters.items():
        if case.operation.path.startswith(beginning) and any(
            case.path_parameters.get(key) == value for key, value in seeded[beginning].items()
        ):
            case.path_parameters.update(another)


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code < 300:
        unreached.discard(case.operation.definition.raw["operationId"])


@atexit.register
def write_unreached():
    UNREACHED.write_text("".join(f"{name}\n" for name in sorted(unreached)))


def may_end_resource(definition, method):
    """Returns whether the operation may make its resource unusable for other requests."""
    is_pause = definition["operationId"].startswith("pause_")
    return is_pause or method.upper() in ("DELETE", "PATCH")


def seeded_parameters(name, method):
    """Returns the seeded parameters for an operation: disposable ones if it ends them."""
    if name.startswith("cancel_") or method.upper() == "DELETE":
        return disposable
    return pausable if name.startswith("pause_") else seeded


def use_example(case):
    definition = case.operation.definition.raw
    make = bodies.get(definition["operationId"])
    case.body = make() if make else example(definition)
    return use_seeded(case)


def use_seeded(case):
    """Makes the request refer to a seeded resource."""
    name = case.operation.definition.raw["operationId"]
    if name in SUPPLIER_EVENTS:
        return use_supplier_event(case, name)
    for beginning, parameters in seeded_parameters(name, case.method).items():
        if case.operation.path.startswith(beginning):
            case.path_parameters.update(parameters)
            case.headers["x-user-id"] = SEED_USER
            break
    return case


def use_supplier_event(case, name):
    """Makes the request an event of a supplier in xtask/schemathesis-suppliers.toml, signed
    at the time of sending."""
    secret = os.environ["SCHEMATHESIS_EVENTS_SECRET"]
    supplier, event = SUPPLIER_EVENTS[name]
    case.path_parameters["id"] = supplier
    case.body = dict(event)
    case.media_type = "application/json"
    if "token" in case.path_parameters:
        case.path_parameters["token"] = secret
    else:
        sent = str(int(time.time()))
        body = f"{sent}.{json.dumps(event)}"
        signed = hmac.new(secret.encode(), body.encode(), hashlib.sha256)
        case.headers["x-duffel-signature"] = f"t={sent},v1={signed.hexdigest()}"
    return case


def example(operation):
    return copy.deepcopy(operation["requestBody"]["content"]["application/json"]["example"])


def complete_link(link, card):
    """Makes the body of a link the whole request body. Adds the card, which no response
    returns together with a booking."""
    if link["operationId"] == "book_hotel":
        link["requestBody"] = {"payment_instrument_id": card}
    link["x-schemathesis"] = {"merge_body": False}


def restrict_users(operation):
    """Fuzzes the end user only in lists, because users do not see each other's resources.
    Fixes the organization, because every other one gets the same 403."""
    kept = []
    for parameter in operation.get("parameters", []):
        if parameter["name"] == "x-organization-id":
            parameter["schema"] = {"type": "string", "enum": ["demo"]}
        if parameter["name"] != "x-user-id" or operation["operationId"].startswith("list_"):
            kept.append(parameter)
    operation["parameters"] = kept


class EventReceiver(BaseHTTPRequestHandler):
    """Accepts every webhook event."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def start_receiver():
    server = ThreadingHTTPServer(("127.0.0.1", 0), EventReceiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def seed(api, operations):
    """Creates one resource of each kind from the documented examples. Returns a card."""

    def call(path, body=None, user=SEED_USER, key=""):
        headers = {
            "content-type": "application/json",
            "x-api-key": os.environ["SCHEMATHESIS_API_KEY"],
            "x-idempotency-key": f"seed {path} {key}",
            "x-user-id": user,
        }
        request = urllib.request.Request(
            f"{api}/v1/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers=headers,
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["data"]

    def binding(product, offer):
        body = example(operations[f"prebook_{product}"])
        return body | {"offer_reference": offer["offer_reference"]}

    def flights():
        return call("flight/offers", example(operations["price_flights"]))

    def confirmed(product, offer, key=""):
        booking = call(f"{product}/prebook", binding(product, offer), key=key)["id"]
        booked = call(f"{product}/bookings/{booking}/book", {"payment_instrument_id": card})
        assert booked["status"] == "CONFIRMED", booked["status"]
        return booking

    instrument = example(operations["add_payment_instrument"])
    card = call("payment-instruments", instrument)["id"]
    [hotel] = call("hotel/offers", example(operations["price_hotels"]))
    fares = flights()
    watch = example(operations["create_hotel_watch"])
    watch["hotel_id"] = hotel["hotel_id"]
    mandate = example(operations["issue_mandate"])
    mandate["payment_instrument"]["id"] = card
    mandate["user_id"] = SEED_USER
    calendar = example(operations["read_price_calendar"])
    calendar["hotel_ids"] = [hotel["hotel_id"]]
    [place, *_] = call("hotel/places", example(operations["find_places"]))
    offers = [("hotel", hotel["offers"]), ("flight", fares)]
    for product, [offer, other, *_] in offers:
        path = f"{product}/webhook-subscriptions"
        subscription = call(path, {"url": start_receiver(), "event_types": ["ping"]})["id"]
        delivery = call(f"{path}/{subscription}/test", {})["id"]
        seeded[f"/v1/{path}"] = {"id": subscription, "delivery_id": delivery}
        for table, key in ((disposable, "spare"), (pausable, "pausable")):
            another = call(path, {"url": start_receiver(), "event_types": ["ping"]}, key=key)
            table[f"/v1/{path}"] = {"id": another["id"]}
        seeded[f"/v1/{product}/bookings"] = {"id": confirmed(product, offer)}
        disposable[f"/v1/{product}/bookings"] = {"id": confirmed(product, other, "spare")}
    seeded["/v1/hotel/places"] = {"id": place["id"]}
    seeded["/v1/hotel/hotels"] = {"hotel_id": hotel["hotel_id"]}
    seeded["/v1/payment-instruments"] = {"id": card}
    [segment, *_] = fares[0]["journeys"][0]["segments"]
    seeded["/v1/flight/airlines"] = {"iataCode": segment["marketing_carrier_code"]}
    flight = seeded["/v1/flight/bookings"]["id"]
    [bag, *_] = call(f"flight/bookings/{flight}/services")
    bags = {
        "services": [{"id": bag["id"], "quantity": 1}],
        "payment_instrument_id": card,
    }
    bodies.update(
        buy_flight_services=lambda: copy.deepcopy(bags),
        create_hotel_watch=lambda: copy.deepcopy(watch),
        issue_mandate=lambda: copy.deepcopy(mandate),
        # The demo's airline sells each offer once.
        prebook_flight=lambda: binding("flight", flights()[0]),
        prebook_hotel=lambda: binding("hotel", hotel["offers"][0]),
        read_price_calendar=lambda: copy.deepcopy(calendar),
    )
    rooms = binding("hotel", hotel["offers"][0])
    buys = {
        "occupancy": example(operations["price_hotels"])["occupancy"],
        "auto_book": {
            "payment_instrument_id": card,
            "contact": rooms["contact"],
            "rooms": rooms["rooms"],
        },
    }
    seeded["/v1/mandate"] = {"id": call("mandate", mandate)["id"]}
    watches = "watcher/travel/hotel/watches"
    seeded[f"/v1/{watches}"] = {"watch_id": call(watches, watch | buys)["id"]}
    disposable[f"/v1/{watches}"] = {"watch_id": call(watches, watch, key="spare")["id"]}
    disposable["/v1/payment-instruments"] = {
        "id": call("payment-instruments", instrument, key="spare")["id"]
    }
    return call("payment-instruments", instrument, "org")["id"]
