// Files of models, damaged: bytes, lines and values of valid ones changed at random, from a key.
import type { KeyedRandom } from '../src/kernel/index.ts'

const values = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  '',
  'x',
  '\u0000',
  '<|im_end|>',
  [],
  [[]],
  {},
  { type: 'Sequence' },
  '(a+)+$',
  '[',
  '\\',
]

/** A damaged copy of a JSON text. */
export function damagedJson(text: string, random: KeyedRandom): string {
  switch (random.int(5)) {
    case 0:
      return text.slice(0, random.int(text.length))
    case 1: {
      const at = random.int(text.length)
      return text.slice(0, at) + random.pick(['"', '}', '[', '\\', '\u0000', '\uD800', ' ', '9']) + text.slice(at + 1)
    }
    default: {
      const document: unknown = JSON.parse(text)
      for (let changes = 1 + random.int(3); changes > 0; changes--) damageValue(document, random)
      return JSON.stringify(document)
    }
  }
}

// Walks down at random and changes, drops, doubles or moves what it finds there.
function damageValue(value: unknown, random: KeyedRandom): void {
  let holder: Record<string, unknown> = Object(value)
  for (;;) {
    const keys = Object.keys(holder)
    if (keys.length === 0) return
    const key = random.pick(keys)
    const inner = holder[key]
    if (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 && random.int(3) > 0) {
      holder = Object(inner)
      continue
    }
    const change = random.int(4)
    if (change === 0) delete holder[key]
    else if (change === 1) holder[random.pick([`${key}x`, '__proto__', 'type', ''])] = inner
    else if (change === 2) holder[key] = holder[random.pick(keys)]
    else holder[key] = random.pick(values)
    return
  }
}
