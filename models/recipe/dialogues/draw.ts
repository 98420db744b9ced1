// What dialogues are made of: words of WordNet, names of ours and made-up ones, numbers, codes, dates. One draw belongs to one
// dialogue and is a function of its seed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KeyedRandom, keyedRandom } from '../../../src/kernel/index.ts'

export type Message = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  tool_calls?: { type: 'function'; function: { name: string; arguments: Record<string, unknown> } }[]
}
export type Dialogue = Message[]

/** Words by part of speech, and the meanings of nouns with their kind. */
export interface Vocabulary {
  readonly nouns: readonly string[]
  readonly adjectives: readonly string[]
  readonly verbs: readonly string[]
  readonly meanings: readonly { word: string; meaning: string; example: string | undefined }[]
  readonly kinds: Readonly<Record<string, readonly string[]>>
}

// Lexicographer files of WordNet whose nouns a child could sort.
const kinds: Record<string, string> = {
  '05': 'animal',
  '06': 'thing',
  '08': 'body part',
  '13': 'food',
  '15': 'place',
  '18': 'person',
  '20': 'plant',
  '27': 'substance',
  '04': 'activity',
  '12': 'feeling',
}

/** Reads the vocabulary from WordNet's database files. */
export function readVocabulary(folder: string): Vocabulary {
  const rows = (file: string) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, lex = '', word = '', gloss = ''] =
          /^\d{8} (\d\d) \w [\da-f]{2} ([a-z]{3,12}) .*? \| (.*)$/.exec(line) ?? []
        return word === ''
          ? []
          : [
              {
                lex,
                word,
                meaning: gloss.split(';')[0]?.trim() ?? '',
                example: /; "([A-Za-z][^"]{15,80})"/.exec(gloss)?.[1],
              },
            ]
      })
  const nouns = rows('data.noun')
  const byKind: Record<string, string[]> = {}
  for (const { lex, word } of nouns) {
    const kind = kinds[lex]
    if (kind === undefined) continue
    byKind[kind] ??= []
    byKind[kind].push(word)
  }
  const verbs = rows('data.verb')
  const adjectives = rows('data.adj')
  const meanings = [...nouns, ...verbs, ...adjectives].filter(({ meaning }) => /^[\x20-\x7e]{12,100}$/.test(meaning))
  const unique = (words: readonly { word: string }[]) => [...new Set(words.map(({ word }) => word))]
  return { nouns: unique(nouns), adjectives: unique(adjectives), verbs: unique(verbs), meanings, kinds: byKind }
}

const first =
  'Ada Alan Amara Amir Ana Anders Anya Arjun Astrid Aylin Bea Ben Bianca Bo Boris Carla Carmen Cem Chen Chidi Clara Cyrus Dana Daniel Daria Dev Diego Dora Edith Eli Elif Emil Emma Enzo Erik Esther Eva Farah Felix Fiona Frida Gita Greta Hana Hans Hassan Helen Hugo Ida Igor Imani Ines Ingrid Irene Isaac Ivan Jade Jana Jasper Jin Joan Jonas Jorge Julia Kai Karim Kate Kenji Kofi Lars Layla Lea Leo Lena Lin Lola Luca Lucy Maja Malik Mara Marco Maria Mateo Maya Mei Mila Milo Mina Mira Nadia Nina Noah Noor Nora Olga Oliver Omar Oscar Otto Pablo Paula Petra Priya Quinn Rafael Rana Ravi Rita Robin Rosa Ruben Ruth Sam Sana Sara Sean Selma Simon Sofia Sven Tara Theo Tim Tomas Uma Vera Victor Wanda Wei Yara Yusuf Zain Zoe'.split(
    ' ',
  )
const last =
  'Abbott Adeyemi Ahmed Almeida Andersen Bauer Becker Berg Bianchi Brandt Brooks Carter Castro Chandra Cohen Costa Cruz Dalton Diaz Dubois Eriksen Farrell Fischer Flores Fontaine Garcia Green Gupta Haas Hansen Harper Hoffman Ibrahim Ito Jansen Jensen Kaplan Keller Khan Kim Klein Kowalski Kumar Lang Larsen Lee Lopez Marsh Martin Mendes Meyer Miller Moreau Morgan Moss Mueller Nakamura Ng Nguyen Novak Nunez Olsen Osei Park Patel Pereira Perez Petrov Price Quinn Ramos Reed Ricci Rossi Roy Ruiz Salazar Santos Sato Schmidt Shah Silva Singh Sokolov Stone Suzuki Tanaka Taylor Torres Tran Turner Vargas Vogel Wagner Walsh Wang Webb Weber White Wolf Wong Wood Yamada Yilmaz Young Zhang Zimmer'.split(
    ' ',
  )
const cities =
  'Aarhus Accra Ankara Antwerp Athens Austin Baku Bali Bergen Berlin Bern Bilbao Bogota Boston Bremen Brno Cairo Cardiff Chennai Cork Dakar Dallas Delhi Denver Doha Dover Dublin Durban Essen Florence Geneva Genoa Ghent Graz Hanoi Havana Helsinki Houston Izmir Jaipur Kyiv Kyoto Lagos Leeds Leipzig Lima Lisbon London Lyon Madrid Malmo Manila Memphis Miami Milan Mumbai Munich Nairobi Naples Nice Oslo Osaka Ottawa Oxford Palermo Paris Perth Porto Prague Quito Riga Rome Rouen Seoul Seville Sofia Split Sydney Tampa Tokyo Toronto Tunis Turin Utrecht Vienna Vilnius Warsaw York Zagreb Zurich'.split(
    ' ',
  )
const syllables =
  'ba be bo ca ce da de di do el en er fa fi ga go ha hi ja jo ka ke ki ko la le li lo ma me mi mo na ne ni no or pa pe ra re ri ro sa se si so ta te ti to ur va ve vi wa ya zo'.split(
    ' ',
  )
export const colours = 'red blue green yellow white black brown grey orange purple pink silver golden'.split(' ')
const quantities = 'one two three four five six seven eight nine ten eleven twelve'.split(' ')

/** One dialogue's draws. */
export class Draw {
  readonly random: KeyedRandom
  readonly words: Vocabulary

  constructor(words: Vocabulary, seed: number, index: number) {
    this.words = words
    this.random = keyedRandom(seed, 'dialogue', index)
  }

  int(low: number, high: number): number {
    return low + this.random.int(high - low + 1)
  }
  pick<T>(items: readonly T[]): T {
    return this.random.pick(items)
  }
  chance(share: number): boolean {
    return this.random.float() < share
  }
  some<T>(items: readonly T[], count: number): T[] {
    const chosen = new Set<T>()
    for (let tries = 0; chosen.size < count && tries < 20 * count; tries++) chosen.add(this.pick(items))
    return [...chosen]
  }
  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => [this.random.float(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item)
  }
  noun(): string {
    return this.pick(this.words.nouns)
  }
  adjective(): string {
    return this.pick(this.words.adjectives)
  }
  verb(): string {
    return this.pick(this.words.verbs)
  }
  anyWord(): string {
    return this.chance(0.5) ? this.noun() : this.chance(0.5) ? this.adjective() : this.verb()
  }
  madeUp(): string {
    return capital(Array.from({ length: this.int(2, 3) }, () => this.pick(syllables)).join(''))
  }
  firstName(): string {
    return this.chance(0.25) ? this.madeUp() : this.pick(first)
  }
  lastName(): string {
    return this.chance(0.25) ? this.madeUp() : this.pick(last)
  }
  fullName(): string {
    return `${this.firstName()} ${this.lastName()}`
  }
  city(): string {
    return this.chance(0.2) ? this.madeUp() : this.pick(cities)
  }
  thing(): string {
    return this.chance(0.5) ? this.noun() : `${this.chance(0.5) ? this.pick(colours) : this.adjective()} ${this.noun()}`
  }
  number(): number {
    return this.int(0, this.pick([9, 20, 99, 99, 999, 9999]))
  }
  countWord(): string {
    return this.pick(quantities)
  }
  code(): string {
    const letters = Array.from({ length: this.int(1, 3) }, () => String.fromCharCode(65 + this.int(0, 25))).join('')
    return this.pick([
      `${letters}-${this.int(10, 9999)}`,
      `${letters}${this.int(10, 9999)}`,
      `#${this.int(100, 99999)}`,
      `${this.int(100, 999)}-${letters}`,
    ])
  }
  email(): string {
    return `${this.pick([this.pick(first).toLowerCase(), this.noun()])}${this.pick(['', '.', '_'])}${this.pick([this.pick(last).toLowerCase(), String(this.int(1, 99))])}@${this.noun()}.${this.pick(['com', 'org', 'net', 'io', 'example'])}`
  }
  time(): string {
    const minutes = this.pick(['00', '15', '30', '45', String(this.int(10, 59))])
    return this.pick([
      `${this.int(1, 12)}:${minutes} ${this.pick(['am', 'pm'])}`,
      `${this.int(0, 23)}:${minutes}`,
      `${this.int(1, 12)} ${this.pick(['am', 'pm'])}`,
    ])
  }
  price(): string {
    return this.pick([
      `$${this.int(1, 999)}`,
      `${this.int(1, 99)}.${this.int(10, 99)} euros`,
      `$${this.int(1, 99)}.${this.int(10, 99)}`,
      `${this.int(2, 900)} dollars`,
    ])
  }
  sentence(): string {
    const { example } = this.pick(this.words.meanings)
    if (example !== undefined && this.chance(0.7)) return ended(capital(example))
    return this.pick([
      () => `The ${this.thing()} was left near the ${this.noun()}.`,
      () => `${this.firstName()} said that the ${this.noun()} is ${this.adjective()}.`,
      () => `We saw a ${this.thing()} and ${this.countWord()} ${this.noun()}s in ${this.city()}.`,
      () => `${this.firstName()} and ${this.firstName()} talked about the ${this.thing()}.`,
      () => `Nobody knew why the ${this.noun()} had to ${this.verb()}.`,
    ])()
  }
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

export function ask(user: string, assistant: string): Dialogue {
  return [
    { role: 'user', content: user },
    { role: 'assistant', content: assistant },
  ]
}
