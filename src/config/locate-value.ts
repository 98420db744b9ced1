// A mapping made in code as a located tree. It has no text, so one is written: the value as indented JSON, which
// errors can quote. What JSON cannot hold is a problem with a place in it.

import {
  type LocatedEntry,
  type LocatedNode,
  mapNode,
  type Origin,
  type Source,
  scalarNode,
  seqNode,
} from './located.ts'
import { maxDepth, surrogateProblem } from './parse-yaml.ts'
import type { Report } from './report.ts'

export interface ValueOptions {
  readonly name: string
  readonly dir: string
  readonly rank: number
}

/** The located tree of a value; undefined when the report says what is wrong. */
export function locateValue(value: unknown, options: ValueOptions, report: Report): LocatedNode | undefined {
  const writer = new ValueWriter(options)
  const node = writer.write(value, {}, 0)
  writer.source.text = writer.text
  report.addSource(writer.source)
  for (const { origin, message, fix } of writer.faults) report.problem(origin, { code: 'CONFIG_INVALID', message, fix })
  return writer.faults.length === 0 ? node : undefined
}

type Hook = Pick<Origin, 'parent' | 'step' | 'key'>
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

class ValueWriter {
  text = ''
  // Its text is set once the whole value is written; origins already point to it.
  readonly source: Mutable<Source>
  readonly faults: { origin: Origin; message: string; fix: string }[] = []
  readonly #open: object[] = []

  constructor(options: ValueOptions) {
    this.source = { ...options, text: '' }
  }

  write(value: unknown, hook: Hook, depth: number): LocatedNode {
    if (typeof value === 'object' && value !== null) return this.#writeObject(value, hook, depth)
    const start = this.text.length
    const fault = scalarFault(value)
    this.text += fault === undefined ? JSON.stringify(value) : `<${typeof value === 'number' ? value : typeof value}>`
    const origin = this.#origin(start, hook)
    if (fault === undefined) return scalarNode(value as string | number | boolean | null, origin) // not refused by scalarFault
    return this.#fault(origin, fault.message, fault.fix)
  }

  #writeObject(value: object, hook: Hook, depth: number): LocatedNode {
    const start = this.text.length
    const fault = this.#objectFault(value, depth)
    if (fault !== undefined) {
      this.text += '<...>'
      return this.#fault(this.#origin(start, hook), fault.message, fault.fix)
    }
    const origin: Mutable<Origin> = { source: this.source, start, end: start, isBlock: true, ...hook }
    const [opening, closing] = Array.isArray(value) ? '[]' : '{}'
    this.#open.push(value)
    this.text += opening
    const write = <C, N>(children: readonly C[], writeChild: (child: C, i: number) => N): N[] => {
      const written = children.map((child, i) => {
        this.text += `${i > 0 ? ',' : ''}\n${'  '.repeat(depth + 1)}`
        return writeChild(child, i)
      })
      if (written.length > 0) this.text += `\n${'  '.repeat(depth)}`
      return written
    }
    const node = Array.isArray(value)
      ? seqNode(
          write(Array.from(value), (item, step) => this.write(item, { parent: origin, step }, depth + 1)),
          origin,
        )
      : mapNode(
          write(
            Object.entries(value).filter(([, child]) => child !== undefined),
            ([key, child]) => this.#writeEntry(key, child, origin, depth + 1),
          ),
          origin,
        )
    this.#open.pop()
    this.text += closing
    origin.end = this.text.length
    return node
  }

  #writeEntry(key: string, child: unknown, parent: Origin, depth: number): LocatedEntry {
    const start = this.text.length
    this.text += JSON.stringify(key)
    const at: Origin = { source: this.source, start, end: this.text.length, parent, step: key }
    if (key === '__proto__') this.#fault(at, '"__proto__" cannot be a key', 'choose another name.')
    this.text += ': '
    return { key, at, value: this.write(child, { parent, step: key, key: { start, end: at.end } }, depth) }
  }

  #objectFault(value: object, depth: number): { message: string; fix: string } | undefined {
    const fix = 'use text, finite numbers, true, false, null, lists and plain objects.'
    if (depth >= maxDepth) return { message: `nested more than ${maxDepth} levels deep`, fix: 'flatten the value.' }
    if (this.#open.includes(value)) return { message: 'the value contains itself', fix: 'write it out.' }
    const prototype: unknown = Object.getPrototypeOf(value)
    const isPlain = Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null
    return isPlain ? undefined : { message: 'an object of a class is no JSON value', fix }
  }

  #origin(start: number, hook: Hook): Origin {
    return { source: this.source, start, end: this.text.length, ...hook }
  }

  #fault(origin: Origin, message: string, fix: string): LocatedNode {
    this.faults.push({ origin, message, fix })
    return scalarNode(null, origin)
  }
}

function scalarFault(value: unknown): { message: string; fix: string } | undefined {
  if (typeof value === 'string') return surrogateProblem(value)
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
    return undefined
  const what = typeof value === 'number' ? String(value) : value === undefined ? 'undefined' : `a ${typeof value}`
  return {
    message: `${what} is no JSON value`,
    fix: 'use text, finite numbers, true, false, null, lists and plain objects.',
  }
}
