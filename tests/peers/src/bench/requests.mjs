// The requests that both gateways receive.
import { randomUUID } from 'node:crypto';
import { scene } from './servers.mjs';
import { HOTELS, OFFERS_PER_HOTEL, hotelId } from '../mock/rates.mjs';

export const daysAhead = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const stay = (more) => ({
  check_in: daysAhead(30), check_out: daysAhead(32), occupancy: [{ adults: 2, children: [] }], guest_nationality: 'DE', currency: 'EUR', ...more,
});

/** Returns the request for a full page of offers. */
export const fullPage = (supplier) => stay({
  supplier, supplier_hotel_ids: Array.from({ length: HOTELS }, (_, number) => hotelId(number)), max_offers_per_hotel: OFFERS_PER_HOTEL,
});

export const oddPage = (ids, currency) => stay({
  supplier: 'NUITEE', supplier_hotel_ids: ids, currency, occupancy: [{ adults: 2, children: [] }, { adults: 1, children: [7] }],
});

export const sandboxPage = (hotel) => stay({ supplier: 'SANDBOX_HOTELS', supplier_hotel_ids: [hotel] });

export const prebookBody = (offerReference) => {
  const guest = (first_name, last_name, is_lead) => ({ first_name, last_name, type: 'ADULT', is_lead });
  return {
    offer_reference: offerReference,
    reference_id: 'trip-4711',
    contact: { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.org', phone: '+442079460000' },
    rooms: [{ guests: [guest('Ada', 'Lovelace', true), guest('Charles', 'Babbage', false)] }],
  };
};

/** Sends one request, for checks and preparations. */
export async function call(server, method, path, body, headers = {}) {
  const answer = await fetch(server.url + path, {
    method, body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'x-api-key': scene.key, accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  });
  const text = await answer.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    json = null;
  }
  return { status: answer.status, headers: answer.headers, text, json };
}

export async function expect(status, server, method, path, body, headers) {
  const answer = await call(server, method, path, body, headers);
  if (answer.status !== status) throw new Error(`${server.name}: ${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 500)}`);
  return answer;
}

/** Returns a whole HTTP/1.1 request as text, for the load generator. */
export function wire(server, method, path, body, headers = {}) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = { host: server.url.slice(7), accept: 'application/json', 'x-api-key': scene.key, ...headers };
  if (body !== undefined) Object.assign(all, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${method} ${path} HTTP/1.1\r\n${head}\r\n${text}`;
}

/** Returns an offer and a card that can be booked repeatedly. */
export async function bookable(server, hotel = 'OK', token = 'tok_visa') {
  const offers = await expect(200, server, 'POST', '/v1/hotel/offers', sandboxPage(hotel));
  const card = await expect(201, server, 'POST', '/v1/payment-instruments', { type: 'CARD', token });
  return { offers, card, reference: offers.json.data[0].offers[0].offer_reference, instrument: card.json.data.id };
}

export async function bookOnce(server) {
  const key = randomUUID();
  const { offers, card, reference, instrument } = await bookable(server);
  const prebooked = await expect(201, server, 'POST', '/v1/hotel/prebook', prebookBody(reference), { 'x-idempotency-key': `pre-${key}` });
  const { id } = prebooked.json.data;
  const booked = await expect(200, server, 'POST', `/v1/hotel/bookings/${id}/book`, { payment_instrument_id: instrument }, { 'x-idempotency-key': `book-${key}` });
  const read = await expect(200, server, 'GET', `/v1/hotel/bookings/${id}`);
  return { id, reference, instrument, offers, card, prebooked, booked, read };
}
