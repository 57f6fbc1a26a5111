// Conversion of stored objects to the resources of the API. Answers and events use the same functions, so that both have
// the same form.
import { toMajor } from './money.mjs';
import { instant, sharedInstant } from './time.mjs';

const POLICY_VERSION = 1;

const money = (of) => ({ amount: toMajor(of.minor, of.currency), currency: of.currency });
const optionalMoney = (of) => (of ? money(of) : null);
const upper = (word) => word.toUpperCase();

export function policy(of) {
  const shown = {
    version: POLICY_VERSION,
    refundable: of.refundable,
    deadline: instant(of.free_until),
    penalties: of.penalties.map(penalty),
    restrictions: of.restrictions.map((restriction) => ({
      code: restriction.code, description: restriction.description,
      active_from: instant(restriction.active_from), active_until: instant(restriction.active_until),
    })),
  };
  if (of.refund_type) shown.refund_type = upper(of.refund_type);
  return shown;
}

/** Converts a penalty. Values that the supplier does not state are omitted. */
function penalty(of) {
  const shown = { from: instant(of.from), type: 'AMOUNT', amount: money(of.amount) };
  if (of.basis_points !== undefined && of.basis_points !== null) shown.percent = of.basis_points / 100;
  if (of.time_zone) shown.time_zone = of.time_zone;
  return shown;
}

/** Adds the details of a room beyond price and terms. */
function addDetails(shown, { max_occupancy: occupancy, remarks, perks, taxes } = {}) {
  if (occupancy) shown.max_occupancy = occupancy;
  if (remarks) shown.remarks = remarks;
  if (perks?.length > 0) shown.perks = perks.map(({ name, value }) => (value ? { name, value: money(value) } : { name }));
  if (taxes?.length > 0) {
    shown.taxes = taxes.map((tax) => ({
      description: tax.description, amount: money(tax.amount), included: tax.payable_at === 'booking', payable_at: upper(tax.payable_at),
    }));
  }
  return shown;
}

const promotion = (of) => ({
  name: of.name, description: of.description, amount: optionalMoney(of.amount), room_positions: of.room_positions,
});

/** Converts an offer that has the given reference. */
export function offer(of, stay, reference, expiresAt) {
  const whole = policy(of.policy);
  const rooms = of.rooms.map((room, at) => addDetails({
    position: at,
    adults: stay.occupancies[at].adults,
    children: stay.occupancies[at].children,
    room_type: room.name,
    board: room.board_name,
    refundable: room.policy.refundable,
    cancellation_policy: room.policy === of.policy ? whole : policy(room.policy),
  }, room.details));
  const first = rooms[0];
  const shown = {
    offer_reference: reference,
    total: { amount: toMajor(of.total, stay.currency), currency: stay.currency },
    rooms,
    room_type: first.room_type,
    board: first.board,
    refundable: first.refundable,
    cancellation_policy: whole,
    promotions: of.promotions.map(promotion),
    expires_at: sharedInstant(expiresAt),
  };
  if (of.payment_types.length > 0) shown.payment_types = of.payment_types;
  if (of.package_only !== null) shown.package_only = of.package_only;
  return shown;
}

const PAYMENT_STATUS = {
  requires_action: 'REQUIRES_ACTION', authorizing: 'UNKNOWN', authorized: 'AUTHORIZED', capturing: 'AUTHORIZED',
  voiding: 'AUTHORIZED', voided: 'VOIDED', failed: 'FAILED', captured: 'CAPTURED',
};

function paymentStatus(of) {
  const name = typeof of.state === 'string' ? of.state : Object.keys(of.state)[0];
  if (name !== 'captured') return PAYMENT_STATUS[name];
  let back = 0;
  for (const refund of of.refunds) if (refund.call === null) back += refund.amount.minor;
  if (back === 0) return 'CAPTURED';
  return back >= of.amount.minor ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
}

export function payment(of, withCards) {
  const shown = { id: of.id, status: paymentStatus(of), amount: money(of.amount), created_at: instant(of.created_at) };
  if (withCards) shown.cards = of.card ? [card(of.card)] : [];
  return shown;
}

const card = (of) => ({
  brand: upper(of.brand), last4: of.last4, funding: upper(of.funding), wallet: of.wallet ? upper(of.wallet) : null,
});

export function instrument(row) {
  const of = row.card ? JSON.parse(row.card) : null;
  return {
    id: row.id, type: 'CARD', card: of ? { ...card(of), expires: of.expires } : null, created_at: instant(row.created_at),
  };
}

function room(of, at, allPromotions) {
  const promotions = allPromotions.filter((one) => one.room_positions.includes(at)).map(promotion);
  return addDetails({
    id: of.id,
    position: at,
    name: of.name,
    board: upper(of.board),
    board_name: of.board_name,
    adults: of.adults,
    children: of.children.map((age) => ({ age })),
    total: money(of.total),
    due_at_property: optionalMoney(of.due_at_property),
    cancellation_policy: of.policy ? policy(of.policy) : null,
    promotions: promotions.length > 0 ? promotions : null,
    supplier_reference_number: of.supplier_reference,
    hotel_confirmation_code: of.hotel_confirmation_code,
    canceled_at: instant(of.canceled_at),
    guests: of.guests.map(([id, guest]) => ({
      id, first_name: guest.first_name, last_name: guest.last_name, type: upper(guest.guest_type), is_lead: guest.is_lead,
    })),
  }, of.details);
}

function dueAtProperty(rooms) {
  let due = null;
  for (const { due_at_property: own } of rooms) {
    if (!own) continue;
    if (due && due.currency !== own.currency) return null;
    due = { minor: (due?.minor ?? 0) + own.minor, currency: own.currency };
  }
  return optionalMoney(due);
}

const cancellation = (of) => ({
  id: of.id, status: of.status, room_ids: of.room_ids, fee: optionalMoney(of.fee), refund_amount: optionalMoney(of.refund),
  supplier_reference: of.supplier_reference ?? null, created_at: instant(of.created_at), completed_at: instant(of.completed_at), failure: of.failure,
});

const loyalty = (of) => ({
  program: of.program,
  membership_number: of.membership_number ? of.membership_number.replace(/.(?=.{4})/gu, '*') : null,
  points_estimate: of.points_estimate,
});

/** Returns the status of a booking. The state `booked` has states of its own, such as `confirmed`. */
export const status = ({ state }) => upper(state.state === 'booked' ? state.booked : state.state);

/** Converts a booking. Reads and events show the cards of payments; answers to changes do not. */
export function booking(of, withCards) {
  const { details } = of;
  const shown = {
    id: of.id,
    reference_id: of.reference_id,
    status: status(of),
    hotel: { id: details.hotel_id, name: details.hotel.name, address: details.hotel.address },
    check_in: details.stay.check_in,
    check_out: details.stay.check_out,
    total: money(details.total),
    created_at: instant(of.created_at),
    updated_at: instant(of.updated_at),
    confirmed_at: instant(of.confirmed_at),
    canceled_at: instant(of.canceled_at),
    payments: of.payments.map((one) => payment(one, withCards)),
    cancellations: details.cancellations.map(cancellation),
    hotel_confirmation_code: details.hotel_confirmation_code,
    hotel_remarks: details.hotel_remarks,
    offer_expires_at: instant(of.offer_expires_at),
    due_at_property: dueAtProperty(details.rooms),
    cancellation_policy: details.policy ? policy(details.policy) : null,
    contact: details.contact,
    loyalty: details.loyalty ? loyalty(details.loyalty) : null,
    rooms: details.rooms.map((one, at) => room(one, at, details.promotions)),
  };
  if (of.failure) shown.failure = of.failure;
  return shown;
}
