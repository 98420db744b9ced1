// Extraction: what a text says, as a word, as lines or as JSON. Facts are drawn first, texts are written from them in many ways.
import { ask, type Dialogue, type Draw } from './draw.ts'

export const extraction: readonly ((d: Draw) => Dialogue)[] = [
  reading,
  reading,
  fields,
  fields,
  json,
  json,
  find,
  record,
  table,
]

type Fact = { name: string; value: string; text: string; question: string }

function facts(d: Draw): { subject: string; all: Fact[] } {
  const who = d.fullName()
  const short = who.split(' ')[0] ?? who
  const make: ((d: Draw) => Fact)[] = [
    (d) =>
      fact(
        'city',
        d.city(),
        (v) => d.pick([`${short} lives in ${v}.`, `${short} is based in ${v}.`, `The home of ${short} is ${v}.`]),
        `Where does ${short} live?`,
      ),
    (d) =>
      fact(
        'job',
        d.pick(d.words.kinds.person ?? ['baker']),
        (v) => d.pick([`${short} works as a ${v}.`, `By trade ${short} is a ${v}.`, `${short} became a ${v}.`]),
        `What is the job of ${short}?`,
      ),
    (d) =>
      fact(
        'age',
        String(d.int(18, 90)),
        (v) => d.pick([`${short} is ${v} years old.`, `At ${v}, ${short} is in good health.`]),
        `How old is ${short}?`,
      ),
    (d) =>
      fact(
        'pet',
        d.pick(d.words.kinds.animal ?? ['cat']),
        (v) => d.pick([`${short} keeps a ${v}.`, `A ${v} lives with ${short}.`]),
        `Which animal does ${short} keep?`,
      ),
    (d) =>
      fact(
        'email',
        d.email(),
        (v) => d.pick([`Write to ${v}.`, `The address is ${v}.`, `${short} can be reached at ${v}.`]),
        `What is the address of ${short}?`,
      ),
    (d) =>
      fact(
        'room',
        String(d.int(1, 999)),
        (v) => d.pick([`${short} sits in room ${v}.`, `The office is room ${v}.`]),
        'Which room is it?',
      ),
    (d) =>
      fact('time', d.time(), (v) => d.pick([`They meet at ${v}.`, `The talk begins at ${v}.`]), 'At what time is it?'),
    (d) =>
      fact(
        'item',
        d.thing(),
        (v) => d.pick([`${short} bought a ${v}.`, `${short} brought along a ${v}.`]),
        `What did ${short} bring?`,
      ),
    (d) => fact('price', d.price(), (v) => d.pick([`It cost ${v}.`, `The bill was ${v}.`]), 'How much was it?'),
    (d) =>
      fact(
        'reference',
        d.code(),
        (v) => d.pick([`The reference is ${v}.`, `Please quote ${v}.`]),
        'What is the reference?',
      ),
    (d) =>
      fact(
        'friend',
        d.fullName(),
        (v) => d.pick([`An old friend is ${v}.`, `${short} often visits ${v}.`]),
        `Who is a friend of ${short}?`,
      ),
    (d) =>
      fact(
        'food',
        d.pick(d.words.kinds.food ?? ['bread']),
        (v) => d.pick([`${short} likes ${v}.`, `Nothing pleases ${short} more than ${v}.`]),
        `What does ${short} like to eat?`,
      ),
  ]
  return { subject: who, all: d.some(make, d.int(2, 5)).map((each) => each(d)) }
}

function fact(name: string, value: string, text: (value: string) => string, question: string): Fact {
  return { name, value, text: text(value), question }
}

function passage(d: Draw, subject: string, all: readonly Fact[]): string {
  const filler = d.chance(0.3) ? [d.sentence()] : []
  const opening = d.pick([
    `This is about ${subject}.`,
    `${subject} sent a note.`,
    `We spoke to ${subject}.`,
    `Name: ${subject}.`,
  ])
  return [opening, ...d.shuffled([...all.map(({ text }) => text), ...filler])].join(d.pick([' ', ' ', '\n']))
}

function reading(d: Draw): Dialogue {
  const { subject, all } = facts(d)
  const text = passage(d, subject, all)
  const asked = d.pick(all)
  const order = d.pick([
    `${text}\n\n${asked.question}`,
    `${asked.question}\n\n${text}`,
    `Read this: ${text}\nQuestion: ${asked.question}`,
    `${text} ${asked.question}`,
  ])
  return ask(order, d.pick([asked.value, asked.value, `${asked.value}.`]))
}

function fields(d: Draw): Dialogue {
  const { subject, all } = facts(d)
  const text = passage(d, subject, all)
  const asked = d.some(all, d.int(1, all.length))
  if (asked.length === 1) {
    const { name = '', value = '' } = asked[0] ?? {}
    return ask(
      d.pick([
        `Give only the ${name}.\n${text}`,
        `${text}\n\n${name}?`,
        `What is the ${name} in this text? ${text}`,
        `Find the ${name}: ${text}`,
      ]),
      value,
    )
  }
  const names = asked.map(({ name }) => name)
  return ask(
    `${d.pick(['List', 'Give', 'Write'])} ${names.slice(0, -1).join(', ')} and ${names.at(-1)}, ${d.pick(['one per line', 'each on its own line'])}.\n${text}`,
    asked.map(({ name, value }) => `${name}: ${value}`).join('\n'),
  )
}

function json(d: Draw): Dialogue {
  const { subject, all } = facts(d)
  const text = passage(d, subject, all)
  const withName = d.chance(0.5) ? [{ name: 'name', value: subject }] : []
  const asked = [...withName, ...d.some(all, d.int(1, all.length))]
  const names = asked.map(({ name }) => name).join(', ')
  const object = Object.fromEntries(asked.map(({ name, value }) => [name, /^\d+$/.test(value) ? Number(value) : value]))
  return ask(
    d.pick([
      `As JSON with the keys ${names}:\n${text}`,
      `${text}\n\nAnswer in JSON: ${names}.`,
      `Make a JSON object (${names}) from this. ${text}`,
      `Text: ${text}\nKeys: ${names}\nJSON:`,
    ]),
    spaced(object),
  )
}

function find(d: Draw): Dialogue {
  const words = Array.from({ length: d.int(4, 9) }, () => d.noun())
  const [kind, value] = d.pick([
    ['number', String(d.number())],
    ['name', d.fullName()],
    ['code', d.code()],
    ['email', d.email()],
    ['price', d.price()],
    ['time', d.time()],
  ] as const)
  const at = d.int(1, words.length - 1)
  const text = [...words.slice(0, at), value, ...words.slice(at)].join(' ')
  return ask(
    d.pick([
      `Find the ${kind}: ${text}`,
      `Which ${kind} is in here? ${text}`,
      `${text}\n\nThe ${kind} is?`,
      `Pick out the ${kind} from: ${text}`,
    ]),
    value,
  )
}

function record(d: Draw): Dialogue {
  const keys = d.some(d.words.nouns, d.int(2, 5))
  const rows = keys.map(
    (key) => [key, d.pick([d.anyWord(), String(d.number()), d.code(), d.city(), d.fullName()])] as const,
  )
  const [key, value] = d.pick(rows)
  const form = d.pick([
    rows.map(([k, v]) => `${k}: ${v}`).join('\n'),
    rows.map(([k, v]) => `${k} = ${v}`).join('\n'),
    rows.map(([k, v]) => `${k} is ${v}`).join(', '),
    spaced(Object.fromEntries(rows)),
  ])
  return ask(
    d.pick([
      `${form}\n\nWhat is ${key}?`,
      `${form}\n${key}?`,
      `Look up ${key}.\n${form}`,
      `Here is a record:\n${form}\nGive the value of ${key}.`,
    ]),
    value,
  )
}

function table(d: Draw): Dialogue {
  const heads = d.some(d.words.nouns, 2)
  const rows = Array.from({ length: d.int(2, 4) }, () => [d.firstName(), d.anyWord(), String(d.int(1, 99))])
  const [name = '', word = '', count = ''] = d.pick(rows)
  const text = `| name | ${heads.join(' | ')} |\n${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}`
  const isWord = d.chance(0.5)
  return ask(
    `${text}\n\n${d.pick(['What is', 'Give', 'Tell me'])} the ${isWord ? heads[0] : heads[1]} of ${name}.`,
    isWord ? word : count,
  )
}

/** JSON on one line, with spaces, as people write it. */
export function spaced(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, ' ')
    .replace(/([{[]) /g, '$1')
    .replace(/ ([}\]])/g, '$1')
}
