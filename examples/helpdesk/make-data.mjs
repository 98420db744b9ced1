// Writes data/: the tickets of a help desk as its export has them, month by month, with the desk that closed each.
//   node make-data.mjs
// People write twice, some desks get most of the mail, some tickets were closed by the wrong desk, and in April a new product arrives.
// The same program writes the same bytes everywhere: draws come from a hash of what they are for.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @typedef {{ ticket: string, month: string, text: string, desk: string }} Ticket */

/** Of a hundred tickets. */
const shares = { billing: 40, shipping: 28, account: 16, technical: 11, returns: 5 }
const desks = /** @type {(keyof typeof shares)[]} */ (Object.keys(shares))

// Words are shared between desks on purpose: an invoice can be late, a parcel can be charged twice.
const complaints = {
  billing: [
    'I was charged twice for {thing}',
    'the invoice for {thing} shows the wrong amount',
    'please send me the invoice for {thing}',
    'my card was charged but {thing} is not in my orders',
    'the discount was not taken off the price of {thing}',
    'why is there a fee on my bill for {thing}',
    'I paid for {thing} and got no receipt',
    'the tax on {thing} is wrong',
    'you billed me for {thing}, which I had sent back',
    'the total on my bill does not add up, {thing} is in it at two prices',
    'I want to pay for {thing} by transfer, the form takes cards alone',
    'my voucher is gone and {thing} was still at full price',
    'please put my company on the invoice of {thing}',
    'when do you take the money for {thing}',
  ],
  shipping: [
    'where is my parcel with {thing}',
    '{thing} was sent to my old address',
    'the tracking of {thing} has not moved since {day}',
    '{thing} should have been here on {day}',
    'the courier left {thing} with a neighbour I do not know',
    'can {thing} be delivered on {day} instead',
    'the box with {thing} arrived empty',
    'I paid for express and {thing} is still not here',
    'half of my order is missing, {thing} did not come',
    'the parcel is at a shop that is closed, {thing} is in it',
    '{thing} was left in the rain',
    'you say delivered, I have not seen {thing}',
    'how long does {thing} take to get here',
    'two parcels were sent, and {thing} is in neither',
  ],
  account: [
    'I cannot sign in since {day}',
    'the link to reset my password does not arrive',
    'please change the email address of my account',
    'close my account and delete my data',
    'someone else has ordered {thing} from my account',
    'my account is locked after I changed the address',
    'the code to sign in comes too late',
    'I have two accounts, please make them one',
    'the site does not know my email address any more',
    'my name is spelled wrong on my profile',
    'stop the newsletter, I have asked since {day}',
    'please remove the old phone number from my profile',
  ],
  technical: [
    '{thing} does not turn on',
    '{thing} stopped working on {day}',
    'the app does not find {thing}',
    'the screen of {thing} stays black',
    '{thing} turns itself off after a minute',
    'after the update {thing} makes a noise',
    'how do I connect {thing} to the network',
    'the battery of {thing} is empty after an hour',
    '{thing} smells burnt when it runs',
    'a button of {thing} is stuck',
    'the manual of {thing} does not say what the red light means',
    '{thing} loses its settings every night',
  ],
  returns: [
    'I want to send {thing} back',
    '{thing} is the wrong size, can I swap it',
    'how long do I have to return {thing}',
    'I sent {thing} back on {day} and have no money yet',
    'please send a label to return {thing}',
    'I changed my mind about {thing}',
    '{thing} looks other than on the picture, I do not want it',
    'who pays the postage if I send {thing} back',
  ],
}
// How others put it, who write when the tickets of training are closed already.
const otherWords = {
  billing: [
    'you took the money for {thing} two times',
    'my statement lists {thing} at a price I never agreed to',
    'no receipt came with {thing}',
    'the voucher did not count for {thing}',
    'I see {thing} on my card again this month',
    'what you asked for {thing} is not what the site said',
  ],
  shipping: [
    'still waiting for {thing}',
    'the driver never rang, where did {thing} go',
    'nobody brought {thing} on {day}',
    'your map says {thing} is in another town',
    'I stayed in all {day}, no van came',
    'it says on its way, for a week now, {thing}',
  ],
  account: [
    'I am locked out since {day}',
    'my login is refused',
    'how do I get a new password',
    'take my name and address out of your files',
    'the page asks me to register though I did that long ago',
  ],
  technical: [
    '{thing} is dead since {day}',
    'no light, no sound, {thing} does nothing',
    '{thing} will not pair with my phone',
    '{thing} gets hot and goes off',
    'I pressed everything, {thing} just blinks',
  ],
  returns: [
    'take {thing} back please',
    '{thing} is too small for me',
    'where do I bring {thing} if I do not want it',
    'I no longer need {thing}',
    'we bought {thing} twice by mistake, one can go back to you',
  ],
}
const things = [
  'the lamp',
  'my kettle',
  'the blue chair',
  'a toaster',
  'the headphones',
  'my order',
  'the desk',
  'two shelves',
  'a garden hose',
  'the rug',
  'my coffee grinder',
  'the bed frame',
  'a set of knives',
  'the radio',
  'three curtains',
  'the bicycle pump',
  'my rain coat',
  'the drill',
  'a picture frame',
  'the mattress',
  'my scale',
  'the tent',
  'a pair of boots',
  'the mirror',
]
const newThings = ['the robot vacuum', 'my smart plug', 'the air filter']
const days = [
  ...['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'the weekend', 'last week', 'yesterday'],
  ...['the 2nd', 'the 3rd', 'the 7th', 'the 12th', 'the 16th', 'the 21st', 'the 25th'],
]
// What makes a ticket the one it is, and says nothing of the desk.
const details = [
  'Order {number} for {price}, to {city}.',
  'My order is {number}, {price} euros, {city}.',
  'Customer {number} in {city}, since {day}.',
  'It is number {number} from the shop in {city}.',
  'Bought in {city} for {price}, number {number}.',
  'I live in {city}, my number is {number}.',
  '{price} euros at your place in {city}, slip {number}.',
  'Order {number}, to {city}, {price} euros.',
]
const cities = ['Lyon', 'Porto', 'Graz', 'Turin', 'Leeds', 'Ghent', 'Malmo', 'Brno', 'Cork', 'Basel', 'Sofia', 'Bergen']
const openings = ['', '', '', 'Hello, ', 'Hi, ', 'Good morning, ', 'Urgent: ', 'Second time I write: ']
const endings = ['', '', '', ' Thanks.', ' Please help.', ' Regards, {name}', ' I am not happy.']
const names = ['Ana', 'Ben', 'Chidi', 'Dara', 'Emil', 'Fatou']

/** The files by their paths. */
export function makeData() {
  const seen = new Set()
  const quarter = month('2026-03', 420, seen, { repeats: 0.22, wrong: 0.04 })
  return {
    'data/tickets.csv': csv(quarter),
    'data/val.csv': csv(month('2026-03-held-out', 150, seen, { others: 0.35 })),
    'data/april.csv': csv(month('2026-04', 150, seen, { others: 0.5, isNew: true })),
    'data/may.csv': csv(month('2026-05', 240, seen, { others: 0.5, isNew: true, repeats: 0.2, wrong: 0.04 })),
  }
}

/**
 * Different tickets, and some of them again and by the wrong desk. What was written in another month is not written again.
 * @type {(key: string, count: number, seen: Set<string>, kind?: { repeats?: number, wrong?: number, others?: number, isNew?: boolean }) => Ticket[]}
 */
function month(key, count, seen, { repeats = 0, wrong = 0, others = 0, isNew = false } = {}) {
  /** @type {Ticket[]} */
  const tickets = []
  for (let i = 0; tickets.length < count; i++) {
    const desk = deskOf(draw(key, i, 'desk') % 100, isNew)
    const phrases = draw(key, i, 'words') % 1000 < others * 1000 ? otherWords : complaints
    const text = write(phrases[desk], isNew, key, i)
    if (seen.has(text)) continue
    seen.add(text)
    const closed = draw(key, i, 'wrong') % 1000 < wrong * 1000 ? pick(desks, key, i, 'closed') : desk
    const times = draw(key, i, 'again') % 1000 < repeats * 1000 ? 2 + (draw(key, i, 'times') % 4) : 1
    for (let again = 0; again < times; again++) tickets.push({ ticket: '', month: key.slice(0, 7), text, desk: closed })
  }
  const ordered = tickets.map((ticket, i) => ({ ticket, at: draw(key, i, 'order') })).sort((a, b) => a.at - b.at)
  return ordered.map(({ ticket }, i) => ({
    ...ticket,
    ticket: `${key.slice(2, 4)}${key.slice(5, 7)}${key.length > 7 ? 'v' : '-'}${String(i + 1).padStart(4, '0')}`,
  }))
}

/** From April on, half of the billing mail is about the new products, and goes to the technical desk. */
function deskOf(/** @type {number} */ at, /** @type {boolean} */ isNew) {
  let below = 0
  for (const desk of desks) {
    below += shares[desk]
    if (at < below) return isNew && desk === 'billing' && at % 2 === 0 ? 'technical' : desk
  }
  return desks[0] ?? 'billing'
}

/** @type {(phrases: readonly string[], isNew: boolean, ...key: unknown[]) => string} */
function write(phrases, isNew, ...key) {
  const isOfNew = isNew && draw(...key, 'new') % 2 === 0
  const filled =
    `${pick(openings, ...key, 'opening')}${pick(phrases, ...key, 'complaint')}. ${pick(details, ...key, 'detail')}${pick(endings, ...key, 'ending')}`
      .replace('{thing}', pick(isOfNew ? newThings : things, ...key, 'thing'))
      .replace('{day}', pick(days, ...key, 'day'))
      .replace('{day}', pick(days, ...key, 'since'))
      .replace('{number}', String(10_000 + (draw(...key, 'number') % 90_000)))
      .replace('{city}', pick(cities, ...key, 'city'))
      .replace(
        '{price}',
        `${5 + (draw(...key, 'euros') % 240)}.${pick(['00', '50', '90', '95', '99'], ...key, 'cents')}`,
      )
      .replace('{name}', pick(names, ...key, 'name'))
  const text = filled.replace(/^./, (first) => first.toUpperCase())
  return draw(...key, 'typo') % 5 === 0 ? swapped(text, 1 + (draw(...key, 'place') % (text.length - 2))) : text
}

/** Two letters in the wrong order, as fast typing leaves them. */
function swapped(/** @type {string} */ text, /** @type {number} */ at) {
  return `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`
}

/** @type {<T>(from: readonly T[], ...key: unknown[]) => T} */
function pick(from, ...key) {
  return /** @type {any} */ (from[draw(...key) % from.length])
}

/** @type {(...key: unknown[]) => number} */
function draw(...key) {
  return createHash('sha256').update(JSON.stringify(key)).digest().readUInt32BE(0)
}

/** @type {(tickets: Ticket[]) => string} */
function csv(tickets) {
  const cell = (/** @type {string} */ text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const rows = tickets.map(({ ticket, month, text, desk }) => [ticket, month, text, desk].map(cell).join(','))
  return `ticket,month,text,desk\n${rows.join('\n')}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = dirname(fileURLToPath(import.meta.url))
  for (const [path, text] of Object.entries(makeData())) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
