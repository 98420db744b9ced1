// How a guarded process and the one that started it write to each other: one JSON document per line, over pipes of their own.

/** The child writes messages here. */
export const outputFd = 3
/** The child reads here; its end is the end of the child. */
export const inputFd = 4
/** The child's watching thread writes here: its lines never stand in the middle of a message. */
export const watchdogFd = 5

/** JSON that also carries NaN and the infinities, which YAML has. */
export function toWire(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'number' && !Number.isFinite(each) ? { [numberKey]: String(each) } : each,
  )
}

export function fromWire(text: string): unknown {
  if (!text.includes(numberKeyText)) return JSON.parse(text)
  return JSON.parse(text, (_key, each: unknown) => {
    const number: unknown = typeof each === 'object' && each !== null ? Reflect.get(each, numberKey) : undefined
    return typeof number === 'string' ? Number(number) : each
  })
}

const numberKey = '\u0000number'
const numberKeyText = '\\u0000number'
