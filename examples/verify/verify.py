"""Verifies that a webhook was sent by Stopover. Copy the two functions. Standard library only.

    python3 verify.py vectors.json    runs them on the test vectors
"""

import base64
import hashlib
import hmac
import json
import sys
import time

TOLERANCE_S = 300


def verify(secret, headers, body, now=None, tolerance_s=TOLERANCE_S):
    """Returns whether `svc-signature` matches the body, given as the exact bytes received. Header
    names are in lower case. One matching `v1` suffices: during a rotation there are two."""
    time_s, signatures = None, []
    for part in headers.get("svc-signature", "").split(","):
        name, _, value = part.partition("=")
        if name == "t" and value.isascii() and value.isdigit() and time_s is None:
            time_s = value
        elif name == "v1":
            signatures.append(value.encode())
        else:
            return False
    if time_s is None or not _is_recent(time_s, now, tolerance_s):
        return False
    expected = hmac.new(secret.encode(), time_s.encode() + b"." + body, hashlib.sha256)
    return _is_any(expected.hexdigest().encode(), signatures)


def verify_standard(secret, headers, body, now=None, tolerance_s=TOLERANCE_S):
    """Returns whether the three headers of Standard Webhooks match the body."""
    event_id, time_s = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (event_id and time_s.isascii() and time_s.isdigit()):
        return False
    if not _is_recent(time_s, now, tolerance_s):
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event_id}.{time_s}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    parts = [part.partition(",") for part in headers.get("webhook-signature", "").split(" ")]
    return _is_any(expected, [value.encode() for name, _, value in parts if name == "v1"])


def _is_recent(time_s, now, tolerance_s):
    now = time.time() if now is None else now
    return abs(now - int(time_s)) <= tolerance_s


def _is_any(expected, signatures):
    # Compares each signature in constant time, and always all of them.
    return any([hmac.compare_digest(expected, one) for one in signatures])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        vectors = json.load(file)
    wrong = 0
    for vector in vectors:
        check = {"svc": verify, "standard": verify_standard}[vector["scheme"]]
        found = check(vector["secret"], vector["headers"], vector["body"].encode(), vector["now"])
        wrong += found != vector["genuine"]
        print(f"{vector['name']}: {'genuine' if found else 'refused'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
