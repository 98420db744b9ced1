// Short arithmetic: sums, differences, small products, comparisons, counting on, in figures and in small stories.
import { ask, type Dialogue, type Draw } from './draw.ts'

export const arithmetic: readonly ((d: Draw) => Dialogue)[] = [
  sum,
  sum,
  difference,
  difference,
  product,
  story,
  compare,
  next,
  many,
  steps,
]

function size(d: Draw): number {
  return d.pick([9, 20, 31, 60, 99, 99, 999])
}

function said(d: Draw, answer: number, whole: string): string {
  return d.pick([`${answer}`, `${answer}`, `${answer}.`, whole, `The answer is ${answer}.`, `It is ${answer}.`])
}

function sum(d: Draw): Dialogue {
  const [a, b] = [d.int(0, size(d)), d.int(0, size(d))]
  const question = d.pick([
    `What is ${a} + ${b}?`,
    `${a} + ${b} =`,
    `${a}+${b}`,
    `Add ${a} and ${b}.`,
    `How much is ${a} plus ${b}?`,
    `What number is ${b} more than ${a}?`,
    `Compute ${a} + ${b}.`,
    `What comes ${b} after ${a}?`,
    `Start at ${a} and count up ${b}. Where are you?`,
    `${a} increased by ${b}`,
  ])
  return ask(question, said(d, a + b, `${a} + ${b} = ${a + b}`))
}

function difference(d: Draw): Dialogue {
  const b = d.int(0, size(d))
  const a = b + d.int(0, size(d))
  const question = d.pick([
    `What is ${a} - ${b}?`,
    `${a} - ${b} =`,
    `${a}-${b}`,
    `Subtract ${b} from ${a}.`,
    `How much is ${a} minus ${b}?`,
    `What number is ${b} less than ${a}?`,
    `Take ${b} away from ${a}.`,
    `What comes ${b} before ${a}?`,
    `How many steps are there from ${b} to ${a}?`,
    `${a} decreased by ${b}`,
  ])
  return ask(question, said(d, a - b, `${a} - ${b} = ${a - b}`))
}

function product(d: Draw): Dialogue {
  const [a, b] = [d.int(0, 12), d.int(0, 12)]
  return ask(
    d.pick([
      `What is ${a} * ${b}?`,
      `${a} times ${b}`,
      `Multiply ${a} by ${b}.`,
      `${a} x ${b} =`,
      `How much is ${a} times ${b}?`,
    ]),
    said(d, a * b, `${a} * ${b} = ${a * b}`),
  )
}

function story(d: Draw): Dialogue {
  const [name, thing] = [d.firstName(), d.noun()]
  const [a, b] = [d.int(1, 60), d.int(1, 39)]
  if (d.chance(0.5)) {
    const text = d.pick([
      `${name} has ${a} ${thing}s and gets ${b} more.`,
      `There are ${a} ${thing}s in the box. ${name} puts in another ${b}.`,
      `${name} found ${a} ${thing}s today and ${b} ${thing}s yesterday.`,
    ])
    return ask(
      `${text} ${d.pick(['How many are there now?', `How many ${thing}s is that?`, 'What is the total?'])}`,
      said(d, a + b, `${name} has ${a + b} ${thing}s.`),
    )
  }
  const text = d.pick([
    `${name} has ${a + b} ${thing}s and gives away ${b}.`,
    `There were ${a + b} ${thing}s. ${name} took ${b} of them.`,
    `Of ${a + b} ${thing}s, ${b} were lost.`,
  ])
  return ask(
    `${text} ${d.pick(['How many are left?', `How many ${thing}s remain?`])}`,
    said(d, a, `${a} ${thing}s are left.`),
  )
}

function compare(d: Draw): Dialogue {
  const numbers = d.some(
    Array.from({ length: 100 }, (_, at) => at + (d.chance(0.2) ? 100 : 0)),
    d.int(2, 5),
  )
  const isMax = d.chance(0.5)
  const answer = isMax ? Math.max(...numbers) : Math.min(...numbers)
  return ask(
    `${d.pick(isMax ? ['Which is the largest', 'Which number is biggest', 'Give the highest number'] : ['Which is the smallest', 'Which number is lowest', 'Give the least number'])}: ${numbers.join(', ')}?`,
    said(d, answer, `${answer} is the ${isMax ? 'largest' : 'smallest'}.`),
  )
}

function next(d: Draw): Dialogue {
  const [start, step] = [d.int(0, 60), d.int(1, 9)]
  const row = Array.from({ length: d.int(3, 5) }, (_, at) => start + at * step)
  return ask(
    `${d.pick(['What comes next', 'Continue the row', 'Which number follows'])}: ${row.join(', ')}${d.pick(['?', ', ...'])}`,
    said(d, (row.at(-1) ?? 0) + step, `The next number is ${(row.at(-1) ?? 0) + step}.`),
  )
}

function many(d: Draw): Dialogue {
  const words = Array.from({ length: d.int(2, 9) }, () => d.noun())
  return ask(
    `${d.pick(['How many words are in this list', 'Count the items', 'How many entries are there'])}: ${words.join(', ')}?`,
    said(d, words.length, `There are ${words.length}.`),
  )
}

function steps(d: Draw): Dialogue {
  const [a, b, c] = [d.int(1, 50), d.int(1, 50), d.int(1, 50)]
  const total = a + b + c
  return ask(
    d.pick([`What is ${a} + ${b} + ${c}?`, `Add ${a}, ${b} and ${c}.`, `Sum up ${a}, ${b}, ${c}.`]),
    d.chance(0.5) ? `${a} + ${b} = ${a + b}, and ${a + b} + ${c} = ${total}.` : said(d, total, `The sum is ${total}.`),
  )
}
