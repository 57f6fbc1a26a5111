// `POST /v1/hotel/offers`: the choice of the supplier, the gateway's ids of hotels, and the references for prebooks.
import * as render from './render.mjs';
import { counted } from './metrics.mjs';
import { newId } from './random.mjs';
import { Problem, invalid } from './problem.mjs';
import { dayAt, parseDay } from './time.mjs';

const OFFERS_MAX = 250;
const NIGHTS_MAX = 60;
const DAYS_AHEAD_MAX = 700;
const REFERENCE_CHARS_MAX = 65_536;
export const PURPOSE = 'hotel_offer';

/** Checks the rules that the schema cannot express, and reports all violations at once. */
function check(body, now) {
  const errors = [];
  const note = (pointer, code, detail) => errors.push({ pointer, code, detail });
  const { hotel_ids: ours, supplier_hotel_ids: theirs } = body;
  if (theirs && ours) note('/supplier_hotel_ids', 'exclusive', 'give either hotel_ids or supplier_hotel_ids');
  else if (!theirs && !ours) note('/hotel_ids', 'required', 'give either hotel_ids or supplier_hotel_ids');
  else if (theirs && !body.supplier) note('/supplier', 'required', 'supplier_hotel_ids need a supplier');
  for (const [pointer, ids] of [['/hotel_ids', ours], ['/supplier_hotel_ids', theirs]]) {
    const seen = new Set();
    (ids ?? []).forEach((id, index) => {
      if (seen.has(id)) note(`${pointer}/${index}`, 'duplicate', 'stands in the list before');
      seen.add(id);
    });
  }
  const hotels = (theirs ?? ours ?? []).length;
  if (hotels > 1 && hotels * body.max_offers_per_hotel > OFFERS_MAX) {
    note('/max_offers_per_hotel', 'too_large', `hotels times max_offers_per_hotel must not exceed ${OFFERS_MAX}`);
  }
  const nights = parseDay(body.check_out) - parseDay(body.check_in);
  if (body.check_in < dayAt(null, now)) note('/check_in', 'in_the_past', 'must not be over');
  if (parseDay(body.check_in) - Math.floor(now / 86_400_000) > DAYS_AHEAD_MAX) {
    note('/check_in', 'too_far_ahead', `must be at most ${DAYS_AHEAD_MAX} days ahead`);
  }
  if (nights < 1) note('/check_out', 'not_after_check_in', 'must be after check_in');
  else if (nights > NIGHTS_MAX) note('/check_out', 'too_long', `must be at most ${NIGHTS_MAX} nights after check_in`);
  if (errors.length > 0) throw invalid(errors);
}

export async function priceHotels(app, caller, body) {
  const { mode } = caller.owner;
  check(body, Date.now());
  if (body.hotel_ids) throw new Problem('supplier_operation_unsupported');
  const supplier = app.suppliers.get(body.supplier);
  if (!supplier || !supplier.modes.includes(mode) || !supplier.adapter.price) throw new Problem('supplier_operation_unsupported', { supplier: body.supplier });
  const stay = {
    check_in: body.check_in,
    check_out: body.check_out,
    occupancies: body.occupancy.map(({ adults, children = [] }) => ({ adults, children })),
    guest_nationality: body.guest_nationality,
    guest_residence: body.guest_residence ?? null,
    currency: body.currency,
  };
  const ids = body.supplier_hotel_ids;
  const known = await app.store.supplierHotels(mode, supplier.id, ids);
  const asked = Date.now();
  for (const { time_zone: zone } of known.values()) {
    if (zone && stay.check_in < dayAt(zone, asked)) throw invalid([{ pointer: '/check_in', code: 'in_the_past', detail: 'must not be over' }]);
  }
  const answer = await counted(app.recorder, caller, supplier.id, 'hotel_pricing', 'price', () => supplier.adapter.price({
    supplierHotelIds: ids, stay, maxOffersPerHotel: body.max_offers_per_hotel, includePackageRates: body.include_package_rates,
  }));
  const told = new Map(answer.hotels.map((found) => [found.hotel.supplier_hotel_id, found]));
  const hotelIds = await hotelIdsOf(app, mode, supplier.id, ids, known, told);
  const now = Date.now();
  const latest = now + app.offerTtlMs;
  const place = [caller.owner.organization, mode];
  const data = ids.map((id) => {
    const found = told.get(id);
    const hotelId = hotelIds.get(id);
    const offers = [];
    for (const offer of found ? found.offers : []) {
      const expiresAt = Math.min(offer.expires_at ?? latest, latest);
      if (expiresAt <= now) continue;
      const reference = app.sealer.sealText(PURPOSE, place, terms(supplier.id, hotelId, found.hotel, offer, stay, expiresAt, body.include_package_rates));
      if (reference.length > REFERENCE_CHARS_MAX) continue;
      offers.push(render.offer(offer, stay, reference, expiresAt));
    }
    return { hotel_id: hotelId, supplier_hotel_id: id, offers };
  });
  return { supplier: supplier.id, data };
}

/** Returns the contents of an offer reference. They have all that a prebook needs, because offers are not stored. */
function terms(supplier, hotelId, hotel, offer, stay, expiresAt, includePackageRates) {
  return JSON.stringify({
    supplier,
    hotel_id: hotelId,
    hotel,
    supplier_offer: offer.supplier_offer,
    stay,
    total: { minor: offer.total, currency: stay.currency },
    rooms: offer.rooms.map((room) => ({
      name: room.name, board: room.board, board_name: room.board_name, total: { minor: room.total, currency: stay.currency },
    })),
    expires_at: expiresAt,
    include_package_rates: includePackageRates,
  });
}

/** Returns the gateway's id of every hotel. Stores hotels that are new, and those of which the supplier states something new. */
async function hotelIdsOf(app, mode, supplier, ids, known, told) {
  const isKnown = (id) => {
    const [row, hotel] = [known.get(id), told.get(id)?.hotel];
    return row && (!hotel || (row.name === hotel.name && (!hotel.location || row.location === JSON.stringify(hotel.location))
      && (!hotel.time_zone || row.time_zone === hotel.time_zone)));
  };
  const missing = ids.filter((id) => !isKnown(id)).sort();
  const stored = missing.length === 0 ? [] : await app.store.commit((work) => work.add('mapHotels', [mode, supplier, JSON.stringify(missing.map((id) => {
    const hotel = told.get(id)?.hotel;
    const location = hotel?.location ? JSON.stringify(hotel.location) : null;
    return { id, hotel: newId('htl_'), name: hotel?.name ?? null, location, zone: hotel?.time_zone ?? null };
  })), Date.now()]));
  const found = new Map([...known, ...stored.map((row) => [row.supplier_hotel_id, row])]);
  return new Map(ids.map((id) => [id, found.get(id).hotel_id]));
}
