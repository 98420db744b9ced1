// What notation means: values built from numbers, constants and variables, and collections of them.
import type { Rational } from './rational.ts'

export type Expression =
  | { readonly op: 'number'; readonly value: Rational }
  | { readonly op: 'constant'; readonly name: 'pi' | 'e' | 'infinity' }
  | { readonly op: 'variable'; readonly name: string }
  | { readonly op: 'sum' | 'product' | 'quotient' | 'power'; readonly left: Expression; readonly right: Expression }
  | { readonly op: 'root'; readonly degree: bigint; readonly of: Expression }
  | { readonly op: 'call'; readonly name: FunctionName; readonly of: Expression }

export const functionNames = ['sin', 'cos', 'tan', 'ln', 'log', 'exp', 'abs', 'arcsin', 'arccos', 'arctan'] as const
export type FunctionName = (typeof functionNames)[number]

/** A collection keeps how it is bracketed: `(1, 2)` is not `[1, 2]`, and of a set the order does not count. */
export type Meaning =
  | { readonly kind: 'value'; readonly value: Expression }
  | { readonly kind: 'ordered'; readonly open: string; readonly close: string; readonly items: readonly Meaning[] }
  | { readonly kind: 'set'; readonly items: readonly Meaning[] }
  | { readonly kind: 'union'; readonly parts: readonly Meaning[] }
  | { readonly kind: 'relation'; readonly sign: string; readonly left: Expression; readonly right: Expression }

/** Names of the variables in an expression. */
export function variablesOf(expression: Expression): string[] {
  switch (expression.op) {
    case 'variable':
      return [expression.name]
    case 'sum':
    case 'product':
    case 'quotient':
    case 'power':
      return [...variablesOf(expression.left), ...variablesOf(expression.right)]
    case 'root':
    case 'call':
      return variablesOf(expression.of)
    default:
      return []
  }
}
