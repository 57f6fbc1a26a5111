// The rules of redaction, read from Stopover's own file of rules, so that both gateways keep the same texts.
import { readFileSync } from 'node:fs';

const NAME_CHARS_MAX = 120;
const CODE_CHARS_MAX = 80;

/** Reads the only form that the file has: keys with arrays of strings, and comments. */
function readArrays(text) {
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line)).join('\n');
  const arrays = [...lines.matchAll(/^(\w+) = \[([^\]]*)\]/gm)];
  return Object.fromEntries(arrays.map(([, name, items]) => [name, [...items.matchAll(/"([^"]*)"/g)].map(([, item]) => item)]));
}

const FILE = new URL('../../../../../host/application/src/recording/redact/fields.toml', import.meta.url);
const RULES = readArrays(readFileSync(FILE, 'utf8'));

/** Returns a predicate for names that match a pattern: `name`, `beginning*`, `*end` or `*part*`. */
function anyOf(patterns) {
  const texts = patterns.map((pattern) => pattern.replaceAll('*', '\0').replace(/[^\w\0]/g, '\\$&').replaceAll('\0', '.*'));
  const form = new RegExp(`^(?:${texts.join('|')})$`);
  return (name) => form.test(name);
}

const isDropped = anyOf(RULES.drop);
const isId = anyOf(RULES.ids);
const isPointer = anyOf(RULES.pointers);
const isCodeMember = anyOf(RULES.codes);
export const isPersonal = anyOf(RULES.personal);

function treat(parent, name, isWritten) {
  const isSold = (known) => known === name || known === `${parent}.${name}`;
  if (isWritten && RULES.sold.some(isSold)) return 'sold';
  if (RULES.times.includes(name)) return 'code';
  if (isDropped(name)) return 'drop';
  if (isId(name)) return 'id';
  if (isPointer(name)) return 'pointer';
  return isCodeMember(name) ? 'code' : 'length';
}

const KNOWN_MAX = 10_000;
const known = new Map();

/** Returns the treatment of a member's text. Members are few, so the result is cached. */
export function treatment(parent, name, isWritten) {
  const key = `${isWritten ? 1 : 0}\0${parent}\0${name}`;
  let found = known.get(key);
  if (!found) {
    if (known.size >= KNOWN_MAX) known.clear();
    found = treat(parent, name, isWritten);
    known.set(key, found);
  }
  return found;
}

export const keepsPathCode = (name) => RULES.path_codes.includes(name);
export const keepsQuery = (name) => RULES.query.includes(name);
export const keepsProblemSentence = (name) => RULES.problem_sentences.includes(name);
export const keepsWord = (word) => RULES.sentence_words.includes(word);

const OUR_ID = new RegExp(`^(?:${RULES.id_prefixes.join('|')})[0-9A-Fa-f-]{1,64}$`);
export const isOurId = (text) => OUR_ID.test(text);

const digitsIn = (text) => text.replace(/[^0-9]/g, '').length;

/** Returns whether the whole part of a decimal number has more than nine digits, as numbers of cards and telephones have. */
export const isLongNumber = (number) => /^-*\d{10}/.test(number);

function isPersonalNumber(text) {
  if (digitsIn(text) <= 4 || /[^0-9+\-._:/*]/.test(text)) return false;
  const isDateOrTime = /^(\d{4}-\d{2}-\d{2}|\d{2}:\d{2}:\d{2})$/.test(text);
  return !isDateOrTime && (!/^-*\d+\.\d+$/.test(text) || isLongNumber(text));
}

/** Returns whether a text has the form of a code, a date or a time. */
export const isCode = (text) => text.length <= CODE_CHARS_MAX && /^[A-Za-z0-9._:/+\-*]*$/.test(text) && !isPersonalNumber(text);

/** Returns whether a text may be the name of something that is sold. */
export const isSoldName = (text) => [...text].length <= NAME_CHARS_MAX && digitsIn(text) <= 4 && !text.includes('@');
