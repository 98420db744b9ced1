// Three tasks that no dialogue of the recipe holds: where a message belongs, what a note says, and which date comes before or after another.
// Items are functions of a seed; held-out ones have phrases, or values, that training has not.
import { type KeyedRandom, keyedRandom } from '../../../src/kernel/index.ts'

export type Item = { user: string; answer: string }
export type Split = 'train' | 'heldout'

/** Items of each task: `count` different ones of a split. */
export const tasks: Readonly<Record<string, (split: Split, count: number) => Item[]>> = { routing, extraction, dates }

const intents: Record<string, readonly string[]> = {
  billing: [
    'Why was I charged {n} dollars?',
    'My invoice shows the wrong amount.',
    'The payment for {x} was taken twice.',
    'I want a refund of {n} dollars.',
    'There is a charge on my card I do not know.',
    'Please send the invoice for {x} again.',
    'Is the refund for invoice {n} on its way?',
    'The amount charged for {x} is wrong.',
    'You took the payment from my card two times.',
  ],
  shipping: [
    'Where is my parcel?',
    'The delivery of {x} is late.',
    'When will the {x} be shipped?',
    'My package {n} has not arrived.',
    'Can you deliver the {x} to another address?',
    'The parcel came to the wrong address.',
    'Has package {n} been shipped yet?',
    'The {x} still has not arrived, is the delivery late?',
    'To which address will the parcel go?',
  ],
  account: [
    'I cannot log in.',
    'I forgot my password.',
    'Please change the email of my account.',
    'How do I reset the password?',
    'My login with {x} does not work.',
    'Delete my account, please.',
    'The reset of my password does not work.',
    'I want another email for my login.',
    'How can I delete the account of {x}?',
  ],
  technical: [
    'The app crashes when I open {x}.',
    'I get error {n} all the time.',
    'The screen stays black after the update.',
    'The program freezes on {x}.',
    'After the update I see error {n}.',
    'The app is very slow and crashes.',
    'Opening {x} gives an error in the app.',
    'Since the update the program crashes.',
    'It freezes with a black screen.',
  ],
  sales: [
    'How much does {x} cost?',
    'Do you offer a discount for {n} pieces?',
    'What is the price of {x}?',
    'I would like to buy {n} of them.',
    'Can I get a quote for {x}?',
    'Is there an offer for schools?',
    'Give me a price for {n} pieces of {x}.',
    'We would like to buy {x}, is there a discount?',
    'What would {n} pieces cost?',
  ],
  feedback: [
    'I love the new {x}!',
    'Great service, thank you.',
    'The {x} is the best I ever had.',
    'I am very happy with {x}.',
    'Your team was very kind.',
    'What a wonderful {x}!',
    'Thank you, I love it.',
    'We are happy with your great team.',
    'A wonderful service, the best.',
  ],
}
const things =
  'lamp chair phone kettle book desk clock radio camera printer basket bicycle pillow mirror blanket hammer guitar tablet heater bottle'.split(
    ' ',
  )
const cities =
  'Lisbon Vienna Oslo Madrid Kyoto Boston Cairo Lima Perth Quito Dublin Turin Porto Ghent Bergen Leeds'.split(' ')
const people =
  'Marta Jones Peter Klein Alice Brown Omar Haddad Julie Petit Henry Ford Lucia Conti Viktor Orlov Sandra Holm Brian Walker'.split(
    ' ',
  )
const monthNames = 'January February March April May June July August September October November December'.split(' ')

// The last three phrases of each intent are never trained on.
function routing(split: Split, count: number): Item[] {
  return items('routing', split, count, (random) => {
    const intent = random.pick(Object.keys(intents))
    const phrases = intents[intent] ?? []
    const phrase = random.pick(split === 'train' ? phrases.slice(0, -3) : phrases.slice(-3))
    const opening = random.pick(['', '', 'Hello. ', 'Hi, ', 'Good day. ', 'Please help. '])
    const user = opening + phrase.replace('{x}', random.pick(things)).replace('{n}', String(10 + random.int(990)))
    return { user, answer: intent }
  })
}

function extraction(split: Split, count: number): Item[] {
  return items('extraction', split, count, (random) => {
    const [order, city, who, thing] = [
      `${1000 + random.int(9000)}`,
      random.pick(cities),
      random.pick(people),
      random.pick(things),
    ]
    const parts = random.pick([
      `Parcel ${order} for ${who} leaves for ${city} with one ${thing}.`,
      `${who} in ${city} waits for a ${thing}, number ${order}.`,
      `To ${city}: ${thing} of ${who} (no. ${order}).`,
      `Ship the ${thing} to ${who}, ${city}. Its number is ${order}.`,
    ])
    return { user: parts, answer: `${order} | ${city} | ${thing}` }
  })
}

function dates(split: Split, count: number): Item[] {
  return items('dates', split, count, (random) => {
    const day = 2 + random.int(26)
    const month = random.pick(monthNames)
    const [by, word] = random.pick([
      [1, 'after'],
      [-1, 'before'],
    ] as const)
    return { user: `Which date is the day ${word} ${day} ${month}?`, answer: `${day + by} ${month}` }
  })
}

// Items of one split are in no other: each belongs where the digest of its text says.
function items(task: string, split: Split, count: number, make: (random: KeyedRandom) => Item): Item[] {
  const found = new Map<string, Item>()
  for (let index = 0; found.size < count && index < 50 * count; index++) {
    const item = make(keyedRandom(0, task, split, index))
    const isHeldOut = keyedRandom(0, 'split', item.user).int(4) === 0
    if (task === 'routing' || isHeldOut === (split === 'heldout')) found.set(item.user, item)
  }
  return [...found.values()]
}
