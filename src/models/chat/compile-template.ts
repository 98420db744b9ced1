// A chat template as a function. Templates are programs from foreign files: what they make is bounded, they see no clock, and
// whatever goes wrong in them is a typed error.
import * as jinja from '@huggingface/jinja'
import { EvsysError, messageOf } from '../../kernel/index.ts'

/** Renders a template with variables. */
export type Template = (variables: Readonly<Record<string, unknown>>) => string

const longestTemplate = 2 ** 20
const longestOutput = 2 ** 26
const mostNumbers = 100_000
/** Of lists that a template makes. */
const longestList = 1_000_000
/** A conversation of ten thousand messages takes a tenth of it; a template that never ends reaches it within seconds. */
const mostSteps = 5_000_000

// The part of the library that is used; its own types do not resolve under Node's module rules.
type Scope = { set(name: string, value: unknown): unknown }
type Library = {
  tokenize(source: string, options: { lstrip_blocks: boolean; trim_blocks: boolean }): unknown
  parse(tokens: unknown): unknown
  Environment: new () => Scope
  Interpreter: new (
    scope: Scope,
  ) => {
    run(program: unknown): { value: unknown }
    evaluate(node: unknown, scope: unknown): unknown
  }
}
const { tokenize, parse, Environment, Interpreter }: Library = jinja

/** Compiles a template. `strftime_now` is not defined in it, so that the same conversation gives the same tokens every day. */
export function compileTemplate(source: string, { steps = mostSteps } = {}): Template {
  if (source.length > longestTemplate) throw invalid(`it has more than ${longestTemplate} characters`)
  const program = guarded(() => parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true })))
  return (variables) => {
    const scope = new Environment()
    for (const [name, value] of Object.entries({ ...globals(), ...variables })) scope.set(name, value)
    const output = guarded(() => new ExactInterpreter(scope, steps).run(program).value)
    if (typeof output !== 'string') throw invalid('it makes no text')
    if (output.length > longestOutput) throw invalid(`it makes more than ${longestOutput} characters`)
    return output
  }
}

function globals(): Record<string, unknown> {
  let numbers = 0
  const range = (start: number, stop?: number, step = 1): number[] => {
    const [from, to] = stop === undefined ? [0, start] : [start, stop]
    const length = Math.max(0, Math.ceil((to - from) / step))
    numbers += length
    if (!(numbers <= mostNumbers)) throw new RangeError(`range() gives more than ${mostNumbers} numbers`)
    return Array.from({ length }, (_, at) => from + at * step)
  }
  const raise_exception = (message: unknown) => {
    throw refusal(String(message))
  }
  return { true: true, false: false, none: null, True: true, False: false, None: null, range, raise_exception }
}

function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (EvsysError.is(cause)) throw cause
    throw invalid(messageOf(cause), cause)
  }
}

function refusal(message: string): EvsysError {
  return new EvsysError('DATA_INVALID', `the model's chat template refuses this conversation: ${message}`, {
    fix: 'bring the messages into the form that the model was trained on, or choose another renderer.',
  })
}

function invalid(message: string, cause?: unknown): EvsysError {
  return new EvsysError('MODEL_INVALID', `the model's chat template cannot be used: ${message}`, {
    fix: 'check chat_template of tokenizer_config.json (or chat_template.jinja), or choose another renderer.',
    cause,
  })
}

// The library's interpreter, bounded, and exact where it differs from Python: `strip`, `lstrip` and `rstrip` take the characters to
// strip.
const strips: Readonly<Record<string, { start: boolean; end: boolean }>> = {
  strip: { start: true, end: true },
  lstrip: { start: true, end: false },
  rstrip: { start: false, end: true },
}

class ExactInterpreter extends Interpreter {
  readonly #most: number
  #steps = 0

  constructor(scope: Scope, most: number) {
    super(scope)
    this.#most = most
  }

  override evaluate(node: unknown, scope: unknown): unknown {
    if (++this.#steps > this.#most) throw invalid(`it takes more than ${this.#most} steps`)
    const result = this.#evaluate(node, scope)
    const { value } = fieldsOf(result)
    if (typeof value === 'string' && value.length > longestOutput) {
      throw invalid(`it makes more than ${longestOutput} characters`)
    }
    if (Array.isArray(value) && value.length > longestList)
      throw invalid(`it makes lists of more than ${longestList} values`)
    return result
  }

  #evaluate(node: unknown, scope: unknown): unknown {
    const { type, computed, object, property } = fieldsOf(node)
    const name = type === 'MemberExpression' && computed !== true ? fieldsOf(property).value : undefined
    const sides = typeof name === 'string' && Object.hasOwn(strips, name) ? strips[name] : undefined
    if (sides === undefined) return super.evaluate(node, scope)
    const { type: kind, value } = fieldsOf(super.evaluate(object, scope))
    if (kind !== 'StringValue' || typeof value !== 'string') return super.evaluate(node, scope)
    // Setting a variable is how the library makes its values.
    return new Environment().set('strip', (characters?: unknown) => stripped(value, characters, sides))
  }
}

function stripped(text: string, characters: unknown, { start, end }: { start: boolean; end: boolean }): string {
  const isStripped = (each: string) => (typeof characters === 'string' ? characters.includes(each) : each.trim() === '')
  const all = [...text]
  const first = start ? all.findIndex((each) => !isStripped(each)) : 0
  if (first === -1) return ''
  const last = end ? all.findLastIndex((each) => !isStripped(each)) : all.length - 1
  return all.slice(first, last + 1).join('')
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value)
}
