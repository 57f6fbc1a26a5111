// The adapter of Nuitee (LiteAPI): it converts the answer of `POST /hotels/rates` to offers. Its rules are those of Stopover's
// adapter in `plugins/nuitee-hotels`, so that both keep, leave out and price the same offers.
//
// An answer is `{currency, hotels: [{hotel, offers}]}` with minor units and milliseconds.
import { toMinor, NotMoney } from '../money.mjs';
import { parseTimestamp } from '../time.mjs';
import { Problem } from '../problem.mjs';
import { Lost, NotSent } from '../client.mjs';
import { plain } from './text.mjs';

const OFFER_ID_BYTES = 4096;
const PROMOTIONS = 30;
/** Maximum number of perks, and of taxes, of one room. */
const ROOM_ITEMS = 30;
/** The time zone in which Nuitee states when a penalty begins. */
const TIME_ZONE = 'GMT';
const BOARD_NAMES = {
  room_only: 'Room only', bed_and_breakfast: 'Breakfast included', half_board: 'Half board', full_board: 'Full board',
  all_inclusive: 'All inclusive', other: 'Other board',
};
const BOARDS = { RO: 'room_only', BB: 'bed_and_breakfast', BI: 'bed_and_breakfast', HB: 'half_board', FB: 'full_board', AI: 'all_inclusive' };

/** An error for an answer that cannot be read. */
class Unreadable extends Error {}

const NON_REFUNDABLE = () => ({ refundable: false, free_until: null, penalties: [], restrictions: [], refund_type: null });

export function nuitee(supplier, send, log) {
  const { data_url: dataUrl, rates_timeout_s: timeoutS = 8, loyalty_program: program = null, loyalty_membership: membership = null } = supplier.settings;
  const url = `${dataUrl.replace(/\/+$/, '')}/hotels/rates`;

  return {
    async price({ supplierHotelIds, stay, maxOffersPerHotel, includePackageRates }) {
      const body = JSON.stringify({
        hotelIds: supplierHotelIds,
        checkin: stay.check_in,
        checkout: stay.check_out,
        currency: stay.currency,
        guestNationality: stay.guest_nationality,
        occupancies: stay.occupancies,
        maxRatesPerHotel: maxOffersPerHotel,
        includeHotelData: true,
        timeout: timeoutS,
        ...(program && { loyaltyProgram: program }),
        ...(program && membership && { loyaltyProgramDetails: [{ programId: program, membershipId: membership }] }),
      });
      try {
        const answer = await send('POST', url, { body, timeoutMs: (timeoutS + 4) * 1000 });
        const { data, hotels } = open(answer);
        const asked = { rooms: stay.occupancies.length, currency: stay.currency, program, membership, includePackageRates };
        return priceAnswer(asked, supplierHotelIds, maxOffersPerHotel, data, hotels, log);
      } catch (error) {
        if (error instanceof Unreadable || error instanceof NotMoney) throw new Problem('supplier_error', { supplier: supplier.id });
        if (error instanceof NotSent) throw new Problem('supplier_unavailable', { supplier: supplier.id });
        if (error instanceof Lost) throw new Problem('supplier_timeout', { supplier: supplier.id });
        throw error;
      }
    },
  };
}

/** Opens Nuitee's envelope. An error in it counts, whatever the status is. */
function open({ status, text }) {
  const isSuccess = status >= 200 && status < 300;
  if (status === 204 || (isSuccess && text === '')) return { data: [], hotels: [] };
  let envelope;
  try {
    envelope = JSON.parse(text);
  } catch {
    if (isSuccess) throw new Unreadable('not JSON');
    envelope = {};
  }
  const error = envelope.error ?? envelope.value?.error;
  if (!error && isSuccess) return { data: many(envelope.data), hotels: many(envelope.hotels) };
  const code = Number(error?.code ?? status);
  if (code === 204 || code === 2001) return { data: [], hotels: [] };
  throw fault(code, status);
}

function fault(code, status) {
  const kind = (value) => {
    if ([401, 403, 40301, 40302].includes(value)) return 'supplier_error';
    if ([408, 504, 4016].includes(value)) return 'supplier_timeout';
    if ([429, 4290, 4291].includes(value)) return 'rate_limited';
    if (value === 4040) return 'offer_expired';
    if ((value >= 400 && value <= 499) || [4000, 4002, 4003, 4010].includes(value)) return 'supplier_rejected';
    if (value === 503) return 'supplier_unavailable';
    return (value >= 500 && value <= 599) || (value >= 5000 && value <= 5999) ? 'supplier_error' : undefined;
  };
  return new Problem(kind(code) ?? kind(status) ?? 'supplier_error');
}

/** Reads a list. Nuitee may also send its only item, `null` or `""`. */
function many(value) {
  if (Array.isArray(value)) return value;
  if (value === null || value === undefined || value === '') return [];
  if (typeof value === 'object') return [value];
  throw new Unreadable('expected a list or an object');
}

function text(value) {
  if (value === undefined) return '';
  if (typeof value !== 'string') throw new Unreadable('expected a text');
  return value;
}

const flag = (value) => value === true || value === 1 || value === 'true' || value === '1';

function number(value) {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof read === 'number' && Number.isFinite(read) ? read : null;
}

/** Reads the position of a room, from 0. Returns null if the value is no number. */
function position(value) {
  const read = typeof value === 'string' && /^\s*\+?\d+\s*$/.test(value) ? Number(value) : value;
  return Number.isInteger(read) && read >= 0 ? read - 1 : null;
}

function board(code) {
  return BOARDS[code.replace(/\d+$/, '')] ?? 'other';
}

function location(latitude, longitude) {
  const [north, east] = [number(latitude), number(longitude)];
  if (north === null || east === null || Math.abs(north) > 90 || Math.abs(east) > 180 || (north === 0 && east === 0)) return null;
  return { latitude: north, longitude: east };
}

function summary(hotel) {
  return {
    supplier_hotel_id: hotel.id,
    name: plain(text(hotel.name)),
    address: hotel.address === null || hotel.address === undefined ? '' : plain(text(hotel.address)),
    location: location(hotel.latitude, hotel.longitude),
    time_zone: null,
  };
}

/** Returns the sum of amounts, which must all be in one currency, or null if there are none. */
function sum(amounts, currency) {
  let total = null;
  for (const { amount, currency: code } of many(amounts)) {
    if (code !== currency) throw new Unreadable('the answer is in another currency than was asked for');
    total = (total ?? 0) + toMinor(amount, currency);
  }
  return total;
}

function priceAnswer(asked, ids, offersPerHotel, rates, hotels, log) {
  const byHotel = new Map();
  for (const { hotelId, roomTypes } of rates) {
    const known = byHotel.get(hotelId);
    if (known) known.push(...many(roomTypes));
    else byHotel.set(hotelId, many(roomTypes));
  }
  let leftOut = 0;
  let why = '';
  const found = [];
  for (const id of ids) {
    const roomTypes = byHotel.get(id);
    if (!roomTypes) continue;
    const offers = [];
    for (const roomType of roomTypes) {
      const offer = readOffer(asked, roomType);
      if (offer === null) continue;
      if (typeof offer === 'string') {
        leftOut += 1;
        why = offer;
      } else if (offers.length < offersPerHotel) {
        offers.push(offer);
      }
    }
    if (offers.length > 0) {
      const known = hotels.find((hotel) => hotel.id === id);
      found.push({ hotel: known ? summary(known) : { supplier_hotel_id: id, name: id, address: '', location: null, time_zone: null }, offers });
    }
  }
  if (leftOut > 0) log.warn({ leftOut, why }, 'offers left out');
  return { currency: asked.currency, hotels: found };
}

/** Returns whether an offer may be sold only together with another travel service. */
const isPackageOnly = ({ rateType }) => typeof rateType === 'string' && rateType.toLowerCase() === 'package';

/** Returns an offer, the reason why it is left out, or null if it was not requested. */
function readOffer(asked, roomType) {
  const id = text(roomType.offerId);
  if (id === '' || Buffer.byteLength(id) > OFFER_ID_BYTES) return 'its id is missing or too long';
  if (isPackageOnly(roomType) && !asked.includePackageRates) return null;
  const needsMembership = flag(roomType.loyaltyMembershipIdRequired);
  if (needsMembership && asked.membership === null) return 'it is for members of a loyalty programme';
  const rates = many(roomType.rates);
  if (rates.some(isPaidAtHotel)) return 'a room can be paid only at the hotel';
  const rooms = readRooms(rates, asked.rooms, asked.currency);
  if (typeof rooms === 'string') return rooms;
  let ofRooms = 0;
  for (const room of rooms) ofRooms += room.total;
  const total = sum(roomType.offerRetailRate, asked.currency) ?? ofRooms;
  if (total <= 0 || rooms.some((room) => room.total < 0)) return 'its price is not positive';
  // Each amount is rounded separately, so each room may differ by one minor unit.
  if (Math.abs(total - ofRooms) > rooms.length) return 'its rooms do not add up to its price';
  if (rooms.some((room) => room.policy.penalties.some((penalty) => penalty.amount.minor > room.total))) return 'a penalty exceeds the price';
  return {
    supplier_offer: id,
    total,
    rooms,
    policy: withRefundType(mergedPolicy(rooms, asked.currency), rooms, total),
    promotions: promotions(rates, asked.currency),
    loyalty: needsMembership && asked.program
      ? { program: asked.program, membership_number: asked.membership, points_estimate: null }
      : null,
    expires_at: null,
    payment_types: paymentTypes(rates).map((code) => PAYMENT_TYPES[code] ?? code),
    package_only: isPackageOnly(roomType),
  };
}

const PREPAID = 'NUITEE_PAY';
const PAID_AT_HOTEL = 'PROPERTY_PAY';
const PAYMENT_TYPES = { [PREPAID]: 'PREPAID', [PAID_AT_HOTEL]: 'PAY_AT_PROPERTY' };

const typesOf = (rate) => many(rate.paymentTypes).map((code) => code.trim()).filter(Boolean);
const isPaidAtHotel = (rate) => typesOf(rate).includes(PAID_AT_HOTEL) && !typesOf(rate).includes(PREPAID);

/** Returns the types of payment that all rooms have. */
const paymentTypes = (rates) => rates.map(typesOf).reduce((common, types) => types.filter((code) => common.includes(code)));

/** Reads the details of a room beyond price and terms. */
function readDetails(rate, currency) {
  const occupancy = number(rate.maxOccupancy);
  const perks = many(rate.perks).map((perk) => readPerk(perk)).filter(Boolean);
  const taxes = many(rate.retailRate.taxesAndFees).map((fee) => readTax(fee, currency)).filter(Boolean);
  const remarks = [...many(rate.remarks), ...many(rate.cancellationPolicies?.hotelRemarks)].map(plain).filter(Boolean);
  return {
    max_occupancy: Number.isInteger(occupancy) && occupancy > 0 && occupancy < 256 ? occupancy : null,
    remarks: remarks.length > 0 ? [...new Set(remarks)].join('\n') : null,
    perks: perks.slice(0, ROOM_ITEMS),
    taxes: taxes.slice(0, ROOM_ITEMS),
  };
}

function readPerk({ name, amount, currency }) {
  const shown = typeof name === 'string' ? plain(name) : '';
  if (shown === '') return null;
  const minor = typeof amount === 'number' && currency ? toMinor(amount, currency) : 0;
  return { name: shown, value: minor > 0 ? { minor, currency } : null };
}

/** Reads a tax or fee. If it is not included, it is paid on arrival. */
function readTax(fee, currency) {
  const code = fee.currency === '' ? currency : fee.currency;
  const minor = toMinor(fee.amount, code);
  if (minor < 0) return null;
  const included = fee.included === undefined || fee.included === null ? null : flag(fee.included);
  const payableAt = included === null ? 'property' : included ? 'booking' : 'check_in';
  return { description: fee.description ? plain(fee.description) : '', amount: { minor, currency: code }, payable_at: payableAt };
}

const NOT_ONE_A_ROOM = 'it has not exactly one rate a room';

/** Returns one room for each requested occupancy, in the requested order, or the reason why that is not possible. */
function readRooms(rates, wanted, currency) {
  if (rates.length !== wanted) return NOT_ONE_A_ROOM;
  const rooms = new Array(wanted).fill(null);
  for (let index = 0; index < rates.length; index += 1) {
    const rate = rates[index];
    const at = position(rate.occupancyNumber) ?? index;
    if (at < 0 || at >= wanted || rooms[at] !== null) return NOT_ONE_A_ROOM;
    const room = readRoom(rate, currency);
    if (typeof room === 'string') return room;
    rooms[at] = room;
  }
  return rooms;
}

function readRoom(rate, currency) {
  const total = sum(rate.retailRate.total, currency);
  if (total === null) return 'a room has no price';
  const due = dueAtProperty(rate.retailRate, currency);
  if (due === undefined) return 'what is due at the property cannot be read';
  const kind = board(text(rate.boardType));
  return {
    name: plain(text(rate.name)),
    board: kind,
    board_name: plain(text(rate.boardName)) || BOARD_NAMES[kind],
    total,
    due_at_property: due,
    // A policy that cannot be read must not promise free cancellation.
    policy: readPolicy(rate.cancellationPolicies, total, currency) ?? NON_REFUNDABLE(),
    details: readDetails(rate, currency),
  };
}

/** Returns the amount to pay at the hotel. It is null if there is none, and undefined if it cannot be read. */
function dueAtProperty(retailRate, currency) {
  let due = null;
  for (const fee of many(retailRate.taxesAndFees)) {
    if (flag(fee.included)) continue;
    const code = fee.currency === '' ? currency : fee.currency;
    const minor = toMinor(fee.amount, code);
    due ??= { minor: 0, currency: code };
    if (due.currency !== code) return undefined;
    due.minor += minor;
  }
  if (due === null || due.minor === 0) return null;
  return due.minor < 0 ? undefined : due;
}

/** Returns the policy of one room, or null if it cannot be read. */
function readPolicy(policies, total, currency) {
  const tag = policies?.refundableTag;
  if (tag === 'NRFN') return { ...NON_REFUNDABLE(), refund_type: 'none' };
  if (tag !== 'RFN') return null;
  const stated = many(policies.cancelPolicyInfos);
  // Free cancellation is a penalty of 0, so a list without penalties states nothing.
  if (stated.length === 0) return null;
  const penalties = [];
  for (const info of stated) {
    const kind = text(info.type).toLowerCase();
    const named = text(info.currency);
    const isShare = kind === 'percent' || kind === 'percentage';
    if ((kind !== '' && kind !== 'amount' && !isShare) || (!isShare && named !== '' && named !== currency)) return null;
    const from = parseTimestamp(text(info.cancelTime).trim());
    if (from === null) return null;
    const points = isShare ? basisPoints(info.amount) : null;
    if (isShare && points === null) return null;
    const amount = isShare ? Math.floor((total * points + 5_000) / 10_000) : toMinor(info.amount, currency);
    if (amount < 0) return null;
    // Penalties and prices are rounded separately. Some suppliers write "always" as the year 1.
    const minor = amount - total === 1 ? total : amount;
    penalties.push({ from: Math.max(from, 0), amount: { minor, currency }, basis_points: points, time_zone: TIME_ZONE });
  }
  penalties.sort((left, right) => left.from - right.from);
  const policy = { refundable: true, free_until: freeUntil(penalties), penalties, restrictions: [] };
  return { ...policy, refund_type: refundType(policy, total, Date.now()) };
}

/** Returns a share in hundredths of a per cent, or null if it is not between 0 and 100 per cent. */
function basisPoints(amount) {
  const points = Math.round(Number(amount) * 100);
  return points >= 0 && points <= 10_000 ? points : null;
}

/** Returns how much the lowest fee from now on leaves of the total, or null if the fees contradict the policy. */
function refundType(policy, total, now) {
  const starts = policy.penalties.map((penalty) => penalty.from).filter((from) => from > now);
  const lowest = Math.min(...[...starts, now].map((at) => feeAt(policy, total, at)));
  if (lowest === 0) return policy.refundable ? 'full' : null;
  if (lowest < total) return 'partial';
  return policy.refundable ? null : 'none';
}

/** Adds the refund type of an offer. It is unknown if that of one room is unknown. */
function withRefundType(policy, rooms, total) {
  if (rooms.length === 1) return policy;
  const isKnown = rooms.every((room) => room.policy.refund_type !== null);
  return { ...policy, refund_type: isKnown ? refundType(policy, total, Date.now()) : null };
}

/** Returns the last instant before the first penalty that is not zero. */
function freeUntil(penalties) {
  const first = penalties.find((penalty) => penalty.amount.minor > 0);
  return first && first.from > 0 ? first.from - 1 : null;
}

/** Merges the policies of all rooms. Cancellation is free while it is free for every room, and a penalty is the sum of those in force. */
function mergedPolicy(rooms, currency) {
  if (rooms.length === 1) return rooms[0].policy;
  if (rooms.every((room) => !room.policy.refundable)) return NON_REFUNDABLE();
  const refundable = rooms.every((room) => room.policy.refundable);
  const starts = new Set(rooms.flatMap((room) => room.policy.penalties.map((penalty) => penalty.from)));
  if (!refundable) starts.add(0);
  const penalties = [...starts].sort((left, right) => left - right).map((from) => ({
    from,
    amount: { minor: rooms.reduce((fee, room) => fee + feeAt(room.policy, room.total, from), 0), currency },
    time_zone: TIME_ZONE,
  }));
  return { refundable, free_until: refundable ? freeUntil(penalties) : null, penalties, restrictions: [] };
}

function feeAt(policy, total, now) {
  const started = policy.penalties.findLast((penalty) => penalty.from <= now);
  if (started) return started.amount.minor;
  return policy.refundable ? 0 : total;
}

/** Returns each promotion once, with the rooms to which it applies. */
function promotions(rates, currency) {
  const found = [];
  for (let index = 0; index < rates.length; index += 1) {
    const rate = rates[index];
    const at = position(rate.occupancyNumber) ?? index;
    for (const promotion of many(rate.retailRate.promotions)) {
      const read = readPromotion(promotion, currency);
      const known = found.find((other) => other.name === read.name && other.description === read.description
        && other.amount?.minor === read.amount?.minor);
      if (!known) found.push({ ...read, room_positions: [at] });
      else if (!known.room_positions.includes(at)) known.room_positions.push(at);
    }
  }
  for (const promotion of found) promotion.room_positions.sort((left, right) => left - right);
  return found.filter((promotion) => promotion.name !== '').slice(0, PROMOTIONS);
}

/** Reads a promotion. A percentage becomes a description, because Nuitee does not state its base. */
function readPromotion(promotion, currency) {
  const kind = text(promotion.discountType).toLowerCase();
  const isNumber = typeof promotion.discount === 'number' || (typeof promotion.discount === 'string' && number(promotion.discount) !== null);
  const discount = isNumber && Number(promotion.discount) !== 0 ? promotion.discount : null;
  const inCurrency = promotion.currency === null || promotion.currency === undefined || promotion.currency === currency;
  return {
    name: plain(text(promotion.name)),
    description: discount !== null && kind === 'percentage' ? `${Number(discount)} %` : null,
    amount: discount !== null && kind === 'amount' && inCurrency ? { minor: toMinor(discount, currency), currency } : null,
  };
}
