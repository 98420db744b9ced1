// Pieces of code that several attacks consist of.

import { byModel } from '../../../src/arena/adversary/attacks.ts'

/** As JavaScript writes it. */
export const text = (value: unknown) => JSON.stringify(value)
/** Answers with labels if it has some. */
export const withLabels = (found: string) =>
  `const rows = attempt(() => ${found})
if (rows) { let i = 0; await api.onAnswer((question) => question.map(() => rows[i++].y)) } else ${byModel}`
