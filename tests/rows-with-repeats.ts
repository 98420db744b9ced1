// Raw rows of few keys and values, so that some of them are equal.
import fc from 'fast-check'
import type { Row } from '../src/contracts/index.ts'

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.string({ maxLength: 2 }),
    fc.integer({ min: 0, max: 3 }),
    fc.constant(null),
    tie('list'),
    tie('row'),
  ),
  list: fc.array(tie('value'), { maxLength: 2 }),
  row: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
}))
/** Lists of rows, as JSON could hold them. */
export const rowsWithRepeats = fc.array(json.row as fc.Arbitrary<Row>, { maxLength: 20 }) // the letrec loses the type
