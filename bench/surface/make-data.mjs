// Tickets for the recorded surface: short, with a desk each. Those of the form are clean and alike, those of the mail say it in more ways and are
// often filed wrongly; people write the same thing many times, and some desks get most of it. Held-out tickets are like the mail, filed rightly.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const words = {
  billing: ['invoice', 'price', 'refund', 'tax'],
  shipping: ['parcel', 'late', 'box', 'lost'],
  account: ['password', 'email', 'locked', 'login'],
  technical: ['broken', 'screen', 'noise', 'slow'],
  returns: ['exchange', 'too small', 'gift', 'too big'],
}
const desks = /** @type {(keyof typeof words)[]} */ (Object.keys(words))
/** Shares of the desks in the log, added up. */
const upTo = [0.38, 0.64, 0.8, 0.92, 1]
const things = ['lamp', 'chair', 'radio', 'coat', 'phone', 'rug', 'watch', 'shoes', 'desk', 'bike']
/** Of held-out tickets. */
const others = ['kettle', 'tent', 'camera', 'hat', 'oven', 'mirror', 'drum', 'toy', 'shelf', 'fan']
const formTexts = ['{word}: {thing}', '{thing}, {word}']
const mailTexts = [
  'hello, {word}, my {thing}',
  'it is about the {thing} and {word}. thanks',
  '{word}? I ask for my {thing}',
  'again: {thing}, {word}, please help',
]

/** A draw from 0 to 1 for a purpose. @param {(string | number)[]} path */
export function draw(...path) {
  return createHash('sha256').update(path.join('/')).digest().readUInt32BE() / 2 ** 32
}

/** @template T @param {readonly T[]} list @param {(string | number)[]} path @returns {T} */
function pick(list, ...path) {
  return /** @type {T} */ (list[Math.floor(draw(...path) * list.length)])
}

/** @param {string} part @param {number} i @param {boolean} isMail */
function ticket(part, i, isMail) {
  const at = draw(part, i, 'desk')
  const place = upTo.findIndex((share) => at < share)
  const desk = part === 'train' ? (desks[place] ?? 'billing') : pick(desks, part, i, 'desk')
  // The form offers few words, the mail has all of them.
  const own = words[desk].slice(0, isMail ? undefined : 2)
  const text = pick(isMail ? mailTexts : formTexts, part, i, 'text')
  return {
    desk,
    text: text
      .replace('{word}', pick(own, part, i, 'word'))
      .replace('{thing}', pick(part === 'train' ? things : others, part, i, 'thing')),
  }
}

/** Writes data/train.jsonl and the tasks of data/val. @param {string} folder */
export function writeData(folder) {
  const rows = Array.from({ length: 600 }, (_, i) => {
    const isMail = draw('train', i, 'source') < 0.5
    // Every third ticket was written before.
    const of = draw('train', i, 'again') < 0.35 ? Math.floor(draw('train', i, 'which') ** 2 * 40) : i
    const { text, desk } = ticket('train', of, isMail)
    const isWrong = isMail && draw('train', i, 'wrong') < 0.3
    return { text, desk: isWrong ? pick(desks, 'train', i, 'instead') : desk, source: isMail ? 'mail' : 'form' }
  })
  const tasksOf = (/** @type {string} */ part) =>
    Array.from({ length: 100 }, (_, i) => ({ ticket: `${part}-${i}`, ...ticket(part, i, true) }))
  mkdirSync(folder, { recursive: true })
  const lines = (/** @type {object[]} */ list) => `${list.map((each) => JSON.stringify(each)).join('\n')}\n`
  writeFileSync(join(folder, 'train.jsonl'), lines(rows))
  for (const part of ['val', 'test']) writeFileSync(join(folder, `${part}.jsonl`), lines(tasksOf(part)))
}
