"""Verifies a mandate as a third party does: with its signature and the published keys.

Arguments: the URL of the key set and the signed mandate (JWS). Prints the header and the claims.
"""

import json
import sys

import jwt

address, jws = sys.argv[1:]
key = jwt.PyJWKClient(address).get_signing_key_from_jwt(jws)
claims = jwt.decode(jws, key.key, algorithms=["ES256"], options={"require": ["exp", "iat", "iss", "sub"]})
print(json.dumps({"header": jwt.get_unverified_header(jws), "claims": claims}))
