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

unreached = set()


@schemathesis.hook
def before_load_schema(context, raw_schema):
    card = stored_card(raw_schema["servers"][0]["url"])
    for path in raw_schema["paths"].values():
        for operation in (path[method] for method in METHODS if method in path):
            unreached.add(operation["operationId"])
            narrow(operation)
            for response in operation["responses"].values():
                for link in response.get("links", {}).values():
                    complete(link, card)
    note()


@schemathesis.hook
def flatmap_case(context, case):
    """Half of the good requests that begin a journey are the documented example."""
    definition = case.operation.definition.raw
    is_good = case.meta is not None and case.meta.generation.mode.is_positive
    if not is_good or definition["operationId"] not in BEGINNINGS:
        return strategies.just(case)
    example = definition["requestBody"]["content"]["application/json"]["example"]
    return strategies.booleans().map(lambda use: exemplary(case, example) if use else case)


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code < 300:
        unreached.discard(case.operation.definition.raw["operationId"])


@atexit.register
def note():
    UNREACHED.write_text("".join(f"{name}\n" for name in sorted(unreached)))


def exemplary(case, example):
    case.body = copy.deepcopy(example)
    return case


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


def stored_card(api):
    request = urllib.request.Request(
        f"{api}/v1/payment-instruments",
        data=json.dumps({"type": "CARD", "token": "tok_visa"}).encode(),
        headers={
            "content-type": "application/json",
            "x-api-key": os.environ["SCHEMATHESIS_API_KEY"],
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["data"]["id"]
