// The tool: one sum, difference or product of two whole numbers. It knows nothing of tasks and of expected answers.

/** The value of `312 - 58`; undefined for anything that is not two whole numbers with +, - or * between them. */
export function calculate(expression: string): number | undefined {
  const [, left, sign, right] = /^\s*(\d{1,6})\s*([-+*])\s*(\d{1,6})\s*$/.exec(expression) ?? []
  if (left === undefined || right === undefined) return undefined
  const [a, b] = [Number(left), Number(right)]
  if (sign === '+') return a + b
  return sign === '-' ? a - b : a * b
}
