// Rewriting: the same text in another form. All of it can be done by copying with a rule.
import { ask, capital, type Dialogue, type Draw } from './draw.ts'

export const rewriting: readonly ((d: Draw) => Dialogue)[] = [
  repeat,
  casing,
  replace,
  reorder,
  listing,
  part,
  join,
  tidy,
  statement,
]

function quoted(d: Draw, text: string): string {
  return d.pick([`"${text}"`, text, `\n${text}`, `<text>${text}</text>`])
}

function repeat(d: Draw): Dialogue {
  const text = d.chance(0.5)
    ? d.sentence()
    : Array.from({ length: d.int(1, 8) }, () =>
        d.pick([d.anyWord(), d.code(), d.firstName(), String(d.number())]),
      ).join(' ')
  return ask(
    `${d.pick(['Repeat after me:', 'Say exactly this:', 'Copy this text:', 'Write it again:', 'Echo:', 'Please repeat:'])} ${quoted(d, text)}`,
    text,
  )
}

function casing(d: Draw): Dialogue {
  const text = d.chance(0.6) ? Array.from({ length: d.int(1, 4) }, () => d.anyWord()).join(' ') : d.sentence()
  return d.pick([
    () =>
      ask(
        `${d.pick(['Write in capitals:', 'In upper case, please:', 'Make this upper case:'])} ${quoted(d, text)}`,
        text.toUpperCase(),
      ),
    () =>
      ask(
        `${d.pick(['Write in small letters:', 'Lower case:', 'Make this lower case:'])} ${quoted(d, text.toUpperCase())}`,
        text.toLowerCase(),
      ),
    () =>
      ask(
        `${d.pick(['Capitalise each word:', 'As a title:', 'Title case:'])} ${quoted(d, text)}`,
        text.split(' ').map(capital).join(' '),
      ),
    () =>
      ask(
        `${d.pick(['Write as an identifier with underscores:', 'snake_case:', 'Join the words with underscores:'])} ${quoted(d, text)}`,
        text
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, '_')
          .replace(/^_|_$/g, ''),
      ),
  ])()
}

function replace(d: Draw): Dialogue {
  const text = d.sentence()
  const words = text
    .replace(/[^A-Za-z ]/g, '')
    .split(' ')
    .filter((word) => word.length > 2)
  if (words.length === 0) return repeat(d)
  const [from, to] = [d.pick(words), d.anyWord()]
  return ask(
    `${d.pick(['Replace', 'Change', 'Swap'])} "${from}" ${d.pick(['with', 'to', 'for'])} "${to}" in: ${text}`,
    text.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to),
  )
}

function reorder(d: Draw): Dialogue {
  const words = d.some(d.words.nouns, d.int(2, 6))
  const by = d.pick([', ', ' ', '; '])
  return d.pick([
    () =>
      ask(
        `${d.pick(['Reverse the order:', 'Write the list backwards:', 'From last to first:'])} ${words.join(by)}`,
        words.toReversed().join(by),
      ),
    () =>
      ask(
        `${d.pick(['Sort by alphabet:', 'Put in alphabetical order:', 'Sort:'])} ${words.join(by)}`,
        words.toSorted().join(by),
      ),
    () =>
      ask(`${d.pick(['Swap the two:', 'Turn around:'])} ${words[0]} and ${words[1]}`, `${words[1]} and ${words[0]}`),
  ])()
}

function listing(d: Draw): Dialogue {
  const words = d.some([d.thing(), d.noun(), d.firstName(), d.city(), d.noun(), d.thing()], d.int(2, 5))
  const line = `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
  return d.pick([
    () =>
      ask(
        `${d.pick(['Make a list of:', 'As bullet points:', 'One per line with dashes:'])} ${line}`,
        words.map((word) => `- ${word}`).join('\n'),
      ),
    () =>
      ask(
        `${d.pick(['Number these:', 'As a numbered list:'])} ${line}`,
        words.map((word, at) => `${at + 1}. ${word}`).join('\n'),
      ),
    () =>
      ask(
        `${d.pick(['Write as one sentence:', 'On one line:'])}\n${words.map((word) => `- ${word}`).join('\n')}`,
        line,
      ),
  ])()
}

function part(d: Draw): Dialogue {
  const words = Array.from({ length: d.int(3, 8) }, () => d.anyWord())
  const at = d.int(0, Math.min(words.length, 5) - 1)
  const place = ['first', 'second', 'third', 'fourth', 'fifth'][at] ?? 'first'
  return d.pick([
    () =>
      ask(
        `${d.pick(['What is the', 'Give the', 'Write only the'])} ${place} word: ${words.join(' ')}`,
        words[at] ?? '',
      ),
    () =>
      ask(
        `${d.pick(['What is the last word', 'Give the last word', 'The final word'])}: ${words.join(' ')}`,
        words.at(-1) ?? '',
      ),
    () =>
      ask(`${d.pick(['Remove the first word:', 'Drop the first word:'])} ${words.join(' ')}`, words.slice(1).join(' ')),
    () =>
      ask(
        `${d.pick(['Remove', 'Leave out', 'Delete'])} the word "${words[at]}": ${words.join(' ')}`,
        words.filter((_, index) => index !== at).join(' '),
      ),
  ])()
}

function join(d: Draw): Dialogue {
  const [a, b, c] = [d.anyWord(), d.anyWord(), d.anyWord()]
  const by = d.pick(['-', '/', '_', ' + ', ', ', ' '])
  return ask(`${d.pick(['Join with', 'Put together with'])} "${by}": ${a}, ${b}, ${c}`, [a, b, c].join(by))
}

function tidy(d: Draw): Dialogue {
  const text = d.sentence()
  const broken = d.pick([
    text.replaceAll(' ', '  '),
    text.toLowerCase(),
    text.replace(/[.!?]$/, ''),
    text.replaceAll(' ', '_'),
  ])
  return ask(
    `${d.pick(['Tidy this up:', 'Fix the writing:', 'Clean this sentence:', 'Correct it:'])} ${broken}`,
    broken === text.toLowerCase() ? capital(broken) : text,
  )
}

function statement(d: Draw): Dialogue {
  const [name, thing, place] = [d.firstName(), d.thing(), d.city()]
  return d.pick([
    () =>
      ask(
        `${d.pick(['Make it past tense:', 'Say it in the past:'])} ${name} walks to ${place} with a ${thing}.`,
        `${name} walked to ${place} with a ${thing}.`,
      ),
    () => ask(`${d.pick(['Make it a question:', 'Ask it:'])} ${name} is in ${place}.`, `Is ${name} in ${place}?`),
    () =>
      ask(
        `${d.pick(['Say the opposite:', 'Make it negative:'])} ${name} has a ${thing}.`,
        `${name} does not have a ${thing}.`,
      ),
    () =>
      ask(
        `${d.pick(['Shorten:', 'Make this shorter:'])} ${name}, who lives in ${place}, bought a ${thing} last week.`,
        `${name} bought a ${thing}.`,
      ),
  ])()
}
