// Verifies that a webhook was sent by Stopover. Copy the exported functions. Requires Node 18 or
// newer and no dependencies.
//
//     node verify.mjs vectors.json    runs them on the test vectors

import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const TOLERANCE_S = 300;

/// Returns whether `svc-signature` matches the body, given as the exact bytes received. Header
/// names are in lower case. One matching `v1` suffices: during a rotation there are two.
export function verify(secret, headers, body, now = Date.now() / 1000, toleranceS = TOLERANCE_S) {
  let time;
  const signatures = [];
  for (const part of (headers["svc-signature"] ?? "").split(",")) {
    const [, name, value] = /^([^=]*)=?(.*)$/s.exec(part);
    if (name === "t" && isNumber(value) && time === undefined) time = value;
    else if (name === "v1") signatures.push(value);
    else return false;
  }
  if (time === undefined || !isRecent(time, now, toleranceS)) return false;
  const expected = createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex");
  return isAny(expected, signatures);
}

/// Returns whether the three headers of Standard Webhooks match the body.
export function verifyStandard(secret, headers, body, now = Date.now() / 1000, toleranceS = TOLERANCE_S) {
  const id = headers["webhook-id"] ?? "";
  const time = headers["webhook-timestamp"] ?? "";
  if (id === "" || !isNumber(time) || !isRecent(time, now, toleranceS)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest("base64");
  const parts = (headers["webhook-signature"] ?? "").split(" ");
  const known = parts.filter((part) => part.startsWith("v1,"));
  return isAny(expected, known.map((part) => part.slice("v1,".length)));
}

function isNumber(text) {
  return /^[0-9]+$/.test(text);
}

function isRecent(time, now, toleranceS) {
  return Math.abs(now - Number(time)) <= toleranceS;
}

// Compares each signature in constant time, and always all of them.
function isAny(expected, signatures) {
  const wanted = Buffer.from(expected);
  const fits = signatures.map((one) => {
    const given = Buffer.from(one);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
  return fits.includes(true);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const vectors = JSON.parse(readFileSync(process.argv[2], "utf8"));
  for (const vector of vectors) {
    const check = { svc: verify, standard: verifyStandard }[vector.scheme];
    const found = check(vector.secret, vector.headers, Buffer.from(vector.body), vector.now);
    if (found !== vector.genuine) process.exitCode = 1;
    console.log(`${vector.name}: ${found ? "genuine" : "refused"}`);
  }
}
