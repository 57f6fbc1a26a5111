// Checks that both sides do the same work, before anything is measured.
import assert from 'node:assert/strict';
import { Sealer } from '../gateway/seal.mjs';
import { ODD_IDS } from '../mock/odd.mjs';
import { HOTELS, OFFERS_PER_HOTEL } from '../mock/rates.mjs';
import { sameBooking, sameEndings, sameStatistics } from './check-bookings.mjs';
import { call, daysAhead, expect, fullPage, oddPage, prebookBody } from './requests.mjs';
import { scene } from './servers.mjs';

const OFFERS = '/v1/hotel/offers';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Decrypts an offer reference. */
function opened(cipher, reference) {
  const sealer = new Sealer('k1', Buffer.from(scene.masterKey, 'base64'), cipher);
  const text = sealer.openText('hotel_offer', ['demo', 'test'], reference);
  assert.ok(text, 'an offer reference cannot be opened');
  return JSON.parse(text);
}

/** Returns offers without the values that differ between the sides, after a check of their form. */
function offersOf(server, answer, cipher) {
  const seen = new Set();
  let sealed = [];
  for (const hotel of answer.data) {
    assert.match(hotel.hotel_id, /^htl_[0-9a-f]{32}$/);
    const { hotel_id: hotelId } = hotel;
    hotel.hotel_id = 'HOTEL';
    for (const offer of hotel.offers) {
      assert.ok(!seen.has(offer.offer_reference), 'a reference is given twice');
      seen.add(offer.offer_reference);
      const terms = opened(cipher, offer.offer_reference);
      assert.equal(terms.hotel_id, hotelId);
      assert.equal(new Date(terms.expires_at).toISOString(), offer.expires_at);
      assert.match(offer.expires_at, INSTANT);
      const left = Date.parse(offer.expires_at) - Date.now();
      assert.ok(left > 1_700_000 && left <= 1_800_000, `${server.name}: an offer is good for ${left} ms`);
      sealed.push({ ...terms, hotel_id: 'HOTEL', expires_at: 0 });
      offer.offer_reference = 'REFERENCE';
      offer.expires_at = 'EXPIRES';
    }
  }
  return { answer, sealed };
}

/** Compares offers and the contents of their references, field by field and in the same order of fields. */
async function sameOffers(ours, theirs, body) {
  const read = async (server, cipher) => {
    const { json, headers } = await expect(200, server, 'POST', OFFERS, body);
    return { ...offersOf(server, json, cipher), supplier: headers.get('x-supplier') };
  };
  const [one, other] = [await read(ours, 'aes-256-gcm-siv'), await read(theirs, scene.cipher)];
  assert.deepEqual(other, one);
  assert.equal(JSON.stringify(other.answer), JSON.stringify(one.answer), 'the order of fields differs');
  return one.answer.data.reduce((count, hotel) => count + hotel.offers.length, 0);
}

/** Compares the refusals of wrong requests: status, code and pointers. */
async function sameRefusals(ours, theirs) {
  const page = fullPage('NUITEE');
  const cases = [
    ['POST', OFFERS, page, { 'x-api-key': 'sk_test_0' }],
    ['POST', OFFERS, page, { 'x-api-key': `${scene.key.slice(0, -1)}${scene.key.endsWith('x') ? 'y' : 'x'}` }],
    ['POST', OFFERS, page, { 'x-organization-id': 'other' }],
    ['POST', OFFERS, page, { 'x-user-id': 'a b' }],
    ['POST', OFFERS, page, { accept: 'text/html' }],
    ['POST', OFFERS, page, { 'content-type': 'text/plain' }],
    ['POST', OFFERS, '{"a":'],
    ['POST', OFFERS, { ...page, nonsense: 1 }],
    ['POST', OFFERS, { ...page, currency: 'QQQ' }],
    ['POST', OFFERS, { ...page, guest_nationality: 'UK' }],
    ['POST', OFFERS, { ...page, occupancy: [{ adults: 0 }, { adults: 2, children: [18] }] }],
    ['POST', OFFERS, { ...page, check_in: daysAhead(-3), check_out: daysAhead(-1) }],
    ['POST', OFFERS, { ...page, check_in: daysAhead(701), check_out: daysAhead(702) }],
    ['POST', OFFERS, { ...page, check_out: page.check_in }],
    ['POST', OFFERS, { ...page, check_out: daysAhead(91) }],
    ['POST', OFFERS, { ...page, check_in: '2026-02-30' }],
    ['POST', OFFERS, { ...page, supplier: undefined }],
    ['POST', OFFERS, { ...page, supplier: 'NOBODY' }],
    ['POST', OFFERS, { ...page, max_offers_per_hotel: 26 }],
    ['POST', OFFERS, { ...page, supplier_hotel_ids: ['lpb0000', 'lpb0000'] }],
    ['POST', `${OFFERS}?x=1`, page],
    ['GET', '/v1/hotel/bookings/bkg_00000000000000000000000000000000'],
    ['GET', '/v1/hotel/bookings/nonsense'],
    ['GET', '/v1/nothing'],
    ['POST', '/v1/hotel/prebook', prebookBody('AAAA'), { 'x-idempotency-key': 'check' }],
    ['POST', '/v1/hotel/prebook', prebookBody('AAAA')],
  ];
  for (const [method, path, body, headers] of cases) {
    const brief = async (server) => {
      const { status, json } = await call(server, method, path, body, headers);
      return { status, code: json.code, pointers: (json.errors ?? []).map((error) => `${error.in} ${error.pointer}`).sort() };
    };
    assert.deepEqual(await brief(theirs), await brief(ours), `${theirs.name}: ${method} ${path} ${JSON.stringify(headers ?? {})} ${JSON.stringify(body)?.slice(0, 200)}`);
  }
  return cases.length;
}

/** Runs all checks. Throws if the two sides differ. */
export async function check(ours, nodes, { books, prices }) {
  const found = [];
  for (const node of nodes) {
    if (prices.includes(node.name)) {
      const offers = await sameOffers(ours, node, fullPage('NUITEE'));
      assert.equal(offers, HOTELS * OFFERS_PER_HOTEL);
      // Once more, when all hotels are known.
      await sameOffers(ours, node, fullPage('NUITEE_20MS'));
      let odd = 0;
      for (const currency of ['EUR', 'JPY', 'KWD']) odd += await sameOffers(ours, node, oddPage(ODD_IDS, currency));
      const refusals = await sameRefusals(ours, node);
      found.push(`${node.name}: ${offers} offers and ${odd} odd ones are the same as ${ours.name}'s, with the contents of their references; ${refusals} wrong requests are refused alike`);
    }
    if (books.includes(node.name)) {
      const { commits, logged } = await sameBooking(ours, node);
      const endings = await sameEndings(ours, node);
      found.push(`${node.name}: prebook, book and read answer the same, leave the same rows, ${logged} of them in the log of calls, and take ${commits} commits each; ${endings} other endings, and repeats, are the same`);
    }
  }
  const booking = nodes.filter((node) => books.includes(node.name));
  if (booking.length > 0) {
    const names = await sameStatistics(ours, booking);
    found.push(`${booking.map((node) => node.name).join(', ')}: statistics of the same ${names} routes and functions of suppliers, by minute and by hour, and the same amounts booked`);
  }
  return found;
}
