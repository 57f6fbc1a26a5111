// The adapter of Lodge, the sandbox's hotel supplier: rates, prebook and book. `sandbox/README.md` describes its API.
import { toMinor, toText } from '../money.mjs';
import { parseTimestamp } from '../time.mjs';
import { Problem } from '../problem.mjs';
import { Lost, NotSent } from '../client.mjs';
import { plain } from './text.mjs';

const BOARDS = { RO: 'room_only', BB: 'bed_and_breakfast' };
/** Codes which state that a call had no effect. */
const DEFINITE = {
  prebook: new Set(['UNAUTHORIZED', 'INVALID_REQUEST', 'RATE_UNKNOWN', 'RATE_EXPIRED', 'SOLD_OUT']),
  book: new Set(['UNAUTHORIZED', 'INVALID_REQUEST', 'PREBOOK_UNKNOWN', 'PREBOOK_EXPIRED', 'PREBOOK_USED', 'PRICE_MISMATCH', 'INVALID_GUESTS', 'BOOKING_REFUSED']),
};

/** A definite refusal of the supplier. */
export class Refused extends Error {
  outcome = 'refused';

  constructor(code) {
    super(`Lodge answered ${code}`);
    this.code = code;
  }
}

export function lodge(supplier, send) {
  const root = `${supplier.settings.base_url.replace(/\/+$/, '')}/lodge/v1`;
  const post = (path, body) => send('POST', root + path, { body: JSON.stringify(body) });

  async function change(kind, path, body) {
    const answer = await post(path, body);
    if (answer.status >= 200 && answer.status < 300) return JSON.parse(answer.text);
    const code = codeOf(answer);
    if (DEFINITE[kind].has(code)) throw new Refused(code);
    throw new Lost(`Lodge answered ${answer.status}`);
  }

  return {
    async price({ supplierHotelIds, stay, maxOffersPerHotel, includePackageRates }) {
      let answer;
      try {
        answer = await post('/rates', { ...stayOf(stay), hotels: supplierHotelIds, max_rates: maxOffersPerHotel, packages: includePackageRates || undefined });
      } catch (error) {
        throw new Problem(error instanceof NotSent ? 'supplier_unavailable' : 'supplier_timeout', { supplier: supplier.id });
      }
      if (answer.status !== 200) throw new Problem('supplier_error', { supplier: supplier.id });
      const rates = JSON.parse(answer.text);
      if (rates.currency !== stay.currency) throw new Problem('supplier_error', { supplier: supplier.id });
      return {
        currency: rates.currency,
        hotels: rates.hotels.map((found) => ({
          hotel: hotel(found.hotel),
          offers: found.rates.slice(0, maxOffersPerHotel).map((rate) => ({
            supplier_offer: rate.rate_id,
            total: toMinor(rate.total, stay.currency),
            ...bound({ ...rate, hotel: found.hotel }, stay.currency),
            package_only: rate.package ?? false,
          })),
        })),
      };
    },

    async prebook({ clientReference, supplierOffer }) {
      const answer = await change('prebook', '/prebooks', { rate_id: supplierOffer, client_ref: clientReference });
      return {
        supplier_prebook: answer.prebook_id,
        currency: answer.currency,
        total: toMinor(answer.total, answer.currency),
        hotel: hotel(answer.hotel),
        ...bound(answer, answer.currency),
      };
    },

    async book({ clientReference, supplierPrebook, total, contact, rooms }) {
      const answer = await change('book', '/bookings', {
        prebook_id: supplierPrebook,
        client_ref: clientReference,
        expected_total: toText(total.minor, total.currency),
        holder: { first: contact.first_name, last: contact.last_name, email: contact.email, phone: contact.phone },
        rooms: rooms.map((guests) => ({
          guests: guests.map((guest) => ({
            first: guest.first_name, last: guest.last_name, kind: guest.guest_type, age: guest.age ?? undefined, lead: guest.is_lead,
          })),
        })),
      });
      if (answer.client_ref !== clientReference || answer.currency !== total.currency) throw new Lost('the answer is about something else');
      return {
        state: answer.state,
        supplier_reference: answer.id,
        total: toMinor(answer.total, answer.currency),
        hotel_confirmation_code: answer.confirmation_no || null,
        remarks: answer.remarks ? plain(answer.remarks) || null : null,
        rooms: answer.rooms.map((room) => ({
          position: room.no - 1,
          supplier_reference: answer.rooms_separable ? room.ref : null,
          hotel_confirmation_code: room.confirmation_no || null,
        })),
        policy: typeof answer.terms === 'object' ? policy(answer.terms, answer.currency) : null,
      };
    },
  };
}

function codeOf(answer) {
  try {
    return JSON.parse(answer.text).error.code;
  } catch {
    return '';
  }
}

const stayOf = (stay) => ({
  arrive: stay.check_in,
  depart: stay.check_out,
  rooms: stay.occupancies.map(({ adults, children }) => ({ adults, child_ages: children })),
  nationality: stay.guest_nationality,
  residence: stay.guest_residence ?? undefined,
  currency: stay.currency,
});

const hotel = (of) => ({
  supplier_hotel_id: of.id, name: of.name, address: of.address, location: { latitude: of.lat, longitude: of.lng }, time_zone: of.zone,
});

const bound = (of, currency) => ({
  payment_types: isDetailed(of) ? ['PREPAID'] : [],
  rooms: of.rooms.map((room) => ({
    name: room.name,
    board: BOARDS[room.board] ?? 'other',
    board_name: room.board_text,
    total: toMinor(room.total, currency),
    due_at_property: room.due_at_hotel
      ? { minor: toMinor(room.due_at_hotel.amount, room.due_at_hotel.currency), currency: room.due_at_hotel.currency }
      : null,
    ...roomDetails(of, room),
    policy: statedPolicy(of, room.terms, currency),
  })),
  policy: statedPolicy(of, of.terms, currency),
  promotions: of.promotions.map((promotion) => ({
    name: promotion.name, description: promotion.text || null, amount: { minor: toMinor(promotion.off, currency), currency }, room_positions: promotion.rooms,
  })),
  loyalty: of.rewards
    ? { program: of.rewards.program, membership_number: of.rewards.member_no, points_estimate: of.rewards.points }
    : null,
  expires_at: parseTimestamp(of.expires_at),
});

const priceOf = (of) => (of ? { minor: toMinor(of.amount, of.currency), currency: of.currency } : null);

/** Reads the details of a room. Lodge states them only for its hotel with all features. */
function roomDetails(of, { about }) {
  if (!isDetailed(of) || !about) return {};
  return {
    details: {
      remarks: about.note,
      perks: about.extras.map(({ name, worth }) => ({ name, value: priceOf(worth) })),
      taxes: about.taxes.map(({ name, price, paid }) => ({
        description: name, amount: priceOf(price), payable_at: paid === 'in_total' ? 'booking' : 'check_in',
      })),
      max_occupancy: about.sleeps,
    },
  };
}

const isDetailed = (of) => of.rooms.every((room) => room.about);

/** Reads a policy with its details. */
function statedPolicy(of, terms, currency) {
  const plainPolicy = policy(terms, currency);
  if (!isDetailed(of)) return plainPolicy;
  const penalties = plainPolicy.penalties.map((penalty) => {
    const { percent } = terms.charges.find((charge) => parseTimestamp(charge.from) === penalty.from);
    const stated = percent === undefined || percent === null ? {} : { basis_points: Math.round(Number(percent) * 100) };
    return { ...penalty, ...stated, time_zone: of.hotel.zone };
  });
  return { ...plainPolicy, penalties, refund_type: terms.refundable ? 'full' : 'none' };
}

const optional = (text) => (text ? parseTimestamp(text) : null);

const policy = (terms, currency) => ({
  refundable: terms.refundable,
  free_until: optional(terms.free_until),
  penalties: terms.charges.map((charge) => ({ from: parseTimestamp(charge.from), amount: { minor: toMinor(charge.amount, currency), currency } }))
    .sort((left, right) => left.from - right.from),
  restrictions: terms.restrictions.map((one) => ({
    code: one.code, description: one.text, active_from: optional(one.from), active_until: optional(one.until),
  })),
});
