// Talk: greetings, meanings of words, kinds of things, memory of what was said, short instructions, yes and no.
import { ask, capital, colours, type Dialogue, type Draw, ended } from './draw.ts'

export const chat: readonly ((d: Draw) => Dialogue)[] = [
  greet,
  meaning,
  meaning,
  which,
  kind,
  kind,
  memory,
  yesNo,
  letters,
  example,
  oneOf,
]

function greet(d: Draw): Dialogue {
  const name = d.firstName()
  const [said, answer] = d.pick([
    [`Hello!`, 'Hello! How can I help?'],
    [`Hi, I am ${name}.`, `Hi ${name}! What can I do for you?`],
    [`Good morning, my name is ${name}.`, `Good morning, ${name}.`],
    ['Thank you!', 'You are welcome.'],
    [`Thanks, ${name} here, that was all.`, `Goodbye, ${name}.`],
    ['How are you?', 'I am well, thank you. How can I help?'],
    ['Who are you?', 'I am a small language model. I can answer short questions.'],
    [`Bye!`, 'Goodbye!'],
    [`Say hello to ${name}.`, `Hello, ${name}!`],
  ])
  return ask(said, answer)
}

function meaning(d: Draw): Dialogue {
  const { word, meaning } = d.pick(d.words.meanings)
  return ask(
    d.pick([
      `What does "${word}" mean?`,
      `Define ${word}.`,
      `What is the meaning of ${word}?`,
      `Explain the word ${word}.`,
      `${capital(word)}?`,
    ]),
    ended(d.pick([capital(meaning), `${capital(word)}: ${meaning}`])),
  )
}

function which(d: Draw): Dialogue {
  const options = d.some(d.words.meanings, d.int(2, 4))
  const right = d.pick(options)
  return ask(`Which word means: ${right.meaning}?\n${options.map(({ word }) => word).join(', ')}`, right.word)
}

function kind(d: Draw): Dialogue {
  const names = d.some(Object.keys(d.words.kinds), d.int(2, 4))
  const right = d.pick(names)
  const word = d.pick(d.words.kinds[right] ?? ['thing'])
  if (d.chance(0.25)) {
    const shown = d.pick(names)
    return ask(`Is ${word} a kind of ${shown}?`, shown === right ? 'Yes.' : `No, it is a kind of ${right}.`)
  }
  return ask(
    d.pick([
      `What is ${word}: ${names.join(', ')}?`,
      `Is "${word}" a ${names.slice(0, -1).join(', a ')} or a ${names.at(-1)}?`,
      `Sort into ${names.join(' / ')}: ${word}`,
      `Choose one of ${names.join(', ')} for the word ${word}.`,
    ]),
    right,
  )
}

function memory(d: Draw): Dialogue {
  const [name, city, thing, colour] = [d.firstName(), d.city(), d.noun(), d.pick(colours)]
  const [said, noted, asked, answer] = d.pick([
    [`My name is ${name}.`, `Nice to meet you, ${name}.`, 'What is my name?', `Your name is ${name}.`],
    [`I live in ${city}.`, `${city}, I see.`, 'Where do I live?', `You live in ${city}.`],
    [`Remember the word ${thing}.`, 'I will.', 'Which word was it?', thing],
    [`My ${thing} is ${colour}.`, 'All right.', `What colour is my ${thing}?`, `Your ${thing} is ${colour}.`],
    [`The code is ${d.int(100, 9999)}.`, 'Noted.', 'Thanks.', 'You are welcome.'],
  ])
  const between = d.chance(0.4) ? meaning(d) : []
  return [...ask(said, noted), ...between, ...ask(asked, answer)]
}

function yesNo(d: Draw): Dialogue {
  const words = d.some(d.words.nouns, d.int(3, 6))
  const isIn = d.chance(0.5)
  const word = isIn ? d.pick(words) : d.noun()
  return ask(
    d.pick([`Is "${word}" in this list? ${words.join(', ')}`, `${words.join(', ')}\nDoes the list have ${word}?`]),
    words.includes(word) ? 'Yes' : 'No',
  )
}

function letters(d: Draw): Dialogue {
  const word = d.noun()
  return d.pick([
    () => ask(d.pick([`Spell ${word}.`, `Write the letters of ${word}.`]), [...word].join('-')),
    () => ask(`What is the first letter of ${word}?`, word.charAt(0)),
    () => ask(`What is the last letter of ${word}?`, word.at(-1) ?? ''),
    () => ask(`Which word do these letters make: ${[...word].join(' ')}?`, word),
  ])()
}

function example(d: Draw): Dialogue {
  const { word, example } = d.pick(d.words.meanings)
  return example === undefined
    ? meaning(d)
    : ask(
        d.pick([`Use "${word}" in a sentence.`, `A sentence with ${word}, please.`, `Give an example for ${word}.`]),
        ended(capital(example)),
      )
}

// Labels that are given in the question; what decides is said in plain words.
function oneOf(d: Draw): Dialogue {
  const labels = d.some(d.words.nouns, d.int(2, 4))
  const right = d.pick(labels)
  return ask(
    d.pick([
      `Options: ${labels.join(', ')}. I would like the ${right}.`,
      `Answer with ${labels.join(' or ')}. The right one is ${right}.`,
      `${d.firstName()} chose ${right}. Which of ${labels.join(', ')} is it?`,
    ]),
    right,
  )
}
