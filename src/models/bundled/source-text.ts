// The text that bundled tokenizers learn from: prose of this package, and everyday sentences, numbers, JSON and code made from
// a list of words. A function of its inputs alone.
import { type KeyedRandom, keyedRandom } from '../../kernel/index.ts'

const sentences = 12_000

/** Prose and made-up text, in this order. `words` has one word after the other, the frequent ones first. */
export function sourceText(prose: string, words: readonly string[]): string {
  const random = keyedRandom(0, 'evsys', 'tokenizer source')
  const made = Array.from({ length: sentences }, () => paragraph(random, words))
  return `${prose}\n${made.join('\n')}\n`
}

function paragraph(random: KeyedRandom, words: readonly string[]): string {
  switch (random.int(8)) {
    case 0:
      return `{"name": "${word(random, words)}_${word(random, words)}", "arguments": {"${word(random, words)}": ${random.int(1000)}, "${word(random, words)}": "${word(random, words)}"}}`
    case 1: {
      const [a, b] = [random.int(100), random.int(100)]
      return `What is ${a} + ${b}? The answer is ${a + b}.`
    }
    case 2:
      return `- ${sentence(random, words)}\n- ${sentence(random, words)}`
    case 3:
      return `const ${word(random, words)} = ${word(random, words)}(${word(random, words)}, ${random.int(100)})\nif (${word(random, words)} === ${word(random, words)}) return ${word(random, words)}`
    case 4:
      return `${capital(word(random, words))}: ${sentence(random, words)}\n\n`
    default:
      return `${sentence(random, words)} ${sentence(random, words)}`
  }
}

function sentence(random: KeyedRandom, words: readonly string[]): string {
  const length = 4 + random.int(10)
  const parts = Array.from({ length }, () => word(random, words) + (random.int(9) === 0 ? ',' : ''))
  const ends = random.pick(['.', '.', '.', '.', '?', '!'])
  const last = parts.pop()?.replace(',', '') ?? ''
  return capital([...parts, last].join(' ')) + ends
}

// The n-th word is drawn about in proportion to 1/n, as in real text: its rank is log-uniform.
function word(random: KeyedRandom, words: readonly string[]): string {
  const bits = Math.ceil(Math.log2(words.length))
  const scale = 2 ** random.int(bits)
  return words[Math.min(words.length, scale + random.int(scale)) - 1] ?? ''
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
