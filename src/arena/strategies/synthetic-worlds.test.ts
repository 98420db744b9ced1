import { expect, it } from 'vitest'
import { chosenWorlds } from './synthetic-worlds.ts'

it('are chosen by name, or all at once (RES-804)', () => {
  const some = chosenWorlds(['nk', 'curves'])
  expect(some.search).toEqual(['nk'])
  expect([some.has('curves'), some.has('adversary'), some.has('chaos')]).toEqual([true, false, false])
  const all = chosenWorlds(['all'])
  expect(all.search).toEqual(['nk', 'cells', 'grids', 'traps', 'ideas'])
  expect([all.has('curves'), all.has('adversary'), all.has('chaos')]).toEqual([true, true, true])
})

it('are refused when nobody knows them, with what was meant (RES-804)', () => {
  expect(() => chosenWorlds(['nk', 'choas'])).toThrowError(
    expect.objectContaining({ code: 'CLI_USAGE', fix: expect.stringContaining('did you mean "chaos"?') }),
  )
})
