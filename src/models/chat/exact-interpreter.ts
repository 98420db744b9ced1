// The library's interpreter, exact where it differs from Python: `strip`, `lstrip` and `rstrip` take the characters to strip.
import * as jinja from '@huggingface/jinja'

// The part of the library that is used; its own types do not resolve under Node's module rules.
type Scope = { set(name: string, value: unknown): unknown }
type Library = {
  Environment: new () => Scope
  Interpreter: new (
    scope: Scope,
  ) => {
    run(program: unknown): { value: unknown }
    evaluate(node: unknown, scope: unknown): unknown
  }
}
const { Environment, Interpreter }: Library = jinja

const strips: Readonly<Record<string, { start: boolean; end: boolean }>> = {
  strip: { start: true, end: true },
  lstrip: { start: true, end: false },
  rstrip: { start: false, end: true },
}

export class ExactInterpreter extends Interpreter {
  override evaluate(node: unknown, scope: unknown): unknown {
    const { type, computed, object, property } = fieldsOf(node)
    const name = type === 'MemberExpression' && computed !== true ? fieldsOf(property).value : undefined
    const sides = typeof name === 'string' && Object.hasOwn(strips, name) ? strips[name] : undefined
    if (sides === undefined) return super.evaluate(node, scope)
    const { type: kind, value } = fieldsOf(super.evaluate(object, scope))
    if (kind !== 'StringValue' || typeof value !== 'string') return super.evaluate(node, scope)
    // Setting a variable is how the library makes values of its own.
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
