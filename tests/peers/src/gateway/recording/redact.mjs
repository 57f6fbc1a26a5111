// Redaction of what is recorded: a text is kept only if a rule says so, everything else becomes its length.
import {
  isCode, isLongNumber, isOurId, isPersonal, isSoldName, keepsPathCode, keepsProblemSentence, keepsQuery, keepsWord, treatment,
} from './rules.mjs';

const BODY_CHARS_MAX = 7_500;
const DEPTH_MAX = 16;
const TEXT_CHARS_MAX = 400;
const WORD_CHARS_MIN = 2;
const GROUPED_DIGITS_MIN = 6;
const GROUP_GAP = /^[ ()\-./]{0,3}$/;
const WORD = /[\p{Alphabetic}\p{N}]+/gu;

function parse(text) {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The words of texts about people: names, addresses and numbers. All other texts of the call are hidden if they contain one. */
class PersonalWords {
  words = new Set();

  add(text) {
    // The last part of an e-mail address is no word about a person.
    const own = text.includes('@') && text.includes('.') ? text.slice(0, text.lastIndexOf('.')) : text;
    for (const [word] of own.matchAll(WORD)) {
      if ([...word].length >= WORD_CHARS_MIN) this.words.add(word.toLowerCase());
    }
  }

  /** Returns whether a text has one of the words, or one of the numbers in groups of digits. */
  occurIn(text) {
    if (this.words.size === 0) return false;
    let group = null;
    for (const match of text.matchAll(WORD)) {
      const [word] = match;
      if (this.words.has(word.toLowerCase())) return true;
      if (!/^\d+$/.test(word)) {
        group = null;
        continue;
      }
      const joins = group && GROUP_GAP.test(text.slice(group.end, match.index));
      group = { digits: joins ? group.digits + word : word, end: match.index + word.length };
      if (this.#hasNumber(group.digits)) return true;
    }
    return false;
  }

  #hasNumber(grouped) {
    const digits = grouped.replace(/^0+/, '');
    if (digits.length < GROUPED_DIGITS_MIN) return false;
    for (const word of this.words) if (word.endsWith(digits)) return true;
    return false;
  }
}

/** Collects the texts about people of a request. Items of an array have the name of the array. */
function collectPersonal(value, name, depth, personal) {
  if (typeof value === 'string') {
    if (isPersonal(name)) personal.add(value);
  } else if (value !== null && typeof value === 'object' && depth < DEPTH_MAX) {
    const entries = Array.isArray(value) ? value.map((item) => [name, item]) : Object.entries(value);
    for (const [member, item] of entries) collectPersonal(item, member, depth + 1, personal);
  }
}

const isMemberName = (name) => /^[a-z0-9_]{1,40}$/.test(name) && name.replace(/[^0-9]/g, '').length <= 3;
const isPointer = (text) => text.split('/').every((part) => part === '' || isMemberName(part));

class BodyWriter {
  text = '';

  constructor(kind, personal) {
    this.kind = kind;
    this.personal = personal;
  }

  write(value, parent, name, depth) {
    const rule = treatment(parent, name, this.kind === 'written');
    if (value === null) this.text += 'null';
    else if (rule === 'drop' && !this.#isProblemSentence(name)) this.text += '"[redacted]"';
    else if (typeof value === 'number') this.text += isLongNumber(String(value)) ? '"[number]"' : String(value);
    else if (typeof value === 'boolean') this.text += String(value);
    else if (typeof value === 'string') this.#writeText(value, name, rule);
    else if (Array.isArray(value)) this.#writeArray(value, parent, name, depth);
    else this.#writeObject(value, name, depth);
  }

  #writeArray(items, parent, name, depth) {
    this.text += '[';
    for (let place = 0; place < items.length; place += 1) {
      if (this.#separate(place, depth)) {
        this.text += `"[${items.length - place} more]"`;
        break;
      }
      this.write(items[place], parent, name, depth + 1);
    }
    this.text += ']';
  }

  #writeObject(members, name, depth) {
    this.text += '{';
    const names = Object.keys(members).sort();
    for (let place = 0; place < names.length; place += 1) {
      const member = names[place];
      if (this.#separate(place, depth)) {
        this.text += `"[more]":${names.length - place}`;
        break;
      }
      this.text += `"${isMemberName(member) ? member : '[member]'}":`;
      this.write(members[member], name, member, depth + 1);
    }
    this.text += '}';
  }

  /** Writes the comma before an item. Returns whether the rest is cut off. */
  #separate(place, depth) {
    if (place > 0) this.text += ',';
    return this.text.length > BODY_CHARS_MAX || depth >= DEPTH_MAX;
  }

  #writeText(text, name, rule) {
    this.text += this.#isKept(text, name, rule) ? JSON.stringify(text) : `"[text, ${[...text].length}]"`;
  }

  #isKept(text, name, rule) {
    switch (rule) {
      case 'code': return isCode(text) && !this.personal.occurIn(text);
      case 'sold': return isSoldName(text) && !this.personal.occurIn(text);
      case 'pointer': return isPointer(text);
      case 'id': return isOurId(text);
      case 'drop': return this.#isProblemSentence(name);
      default: return false;
    }
  }

  #isProblemSentence(name) {
    return this.kind === 'problem' && keepsProblemSentence(name);
  }
}

function writeBody(value, kind, personal) {
  if (value === undefined) return null;
  const writer = new BodyWriter(kind, personal);
  writer.write(value, '', '', 0);
  return writer.text;
}

/** Returns the bodies of a call without secrets and personal data. `kind` is that of the response: `written` or `problem`. */
export function redactBodies(request, response, kind) {
  const [asked, answered] = [parse(request), parse(response)];
  const personal = new PersonalWords();
  if (asked !== undefined) collectPersonal(asked, '', 0, personal);
  return [writeBody(asked, 'content', personal), writeBody(answered, kind, personal)];
}

const shorten = (text) => (text.length > TEXT_CHARS_MAX ? [...text].slice(0, TEXT_CHARS_MAX).join('') : text);

/** Redacts path and query of a call. `route` is the path with names of parameters, or null if there is no such path. */
export function redactUri(route, uri) {
  if (route === null) return '';
  const [path, query = ''] = uri.split(/\?(.*)/s);
  const templates = route.split('/');
  const segments = path.split('/').slice(0, templates.length).map((segment, place) => {
    const name = /^\{(.*)\}$/.exec(templates[place])?.[1];
    const isKept = name === undefined || isOurId(segment) || (keepsPathCode(name) && isCode(segment));
    return isKept ? segment : '…';
  });
  const pairs = query.split('&').filter(Boolean).map((pair) => {
    const [name, value = ''] = pair.split(/=(.*)/s);
    const isKept = keepsQuery(name) && ((isCode(value) && !/[a-z]/.test(value)) || isOurId(value));
    return `${isMemberName(name) ? name : '…'}=${isKept ? value : '…'}`;
  });
  return shorten(segments.join('/') + (pairs.length > 0 ? `?${pairs.join('&')}` : ''));
}

/** Returns whether a text has only lower-case letters, digits and separators, no long number, and not the form of an identifier. */
function isWord(text) {
  const isIdentifier = text.includes('_') && !text.includes('.');
  return text.length <= 40 && /^[a-z0-9_.-]*$/.test(text) && !isIdentifier && text.replace(/[^0-9]/g, '').length <= 5;
}

/** Returns method, origin and path of an exchange, without segments that may be a reference or a name. */
export const redactTarget = (method, { origin, pathname }) => shorten(
  `${method} ${origin}${pathname.split('/').map((segment) => (isWord(segment) ? segment : '…')).join('/')}`,
);

/** Returns the words of a sentence that cannot be a name, an address or a reference. */
export function redactSentence(sentence) {
  const words = sentence.split(/\s+/).filter(Boolean).map((word) => {
    const core = word.replace(/^[!-/:-@[-`{-~]+|[!-/:-@[-`{-~]+$/g, '');
    const isQuoted = /^["'`]|["'`]$/.test(word);
    return !isQuoted && (isWord(core) || keepsWord(core)) ? word : '…';
  });
  return shorten(words.filter((word, place) => word !== '…' || words[place - 1] !== '…').join(' '));
}
