import { describe, expect, it } from 'vitest'
import { wantsColor } from './colors.ts'

describe('wantsColor', () => {
  const terminal = { isTTY: true, write: () => {} }
  const pipe = { write: () => {} }

  it.each([
    ['a terminal', terminal, {}, true],
    ['a pipe', pipe, {}, false],
    ['a terminal with NO_COLOR', terminal, { NO_COLOR: '1' }, false],
    ['a terminal with an empty NO_COLOR', terminal, { NO_COLOR: '' }, true],
    ['a pipe with FORCE_COLOR', pipe, { FORCE_COLOR: '1' }, true],
    ['a pipe with an empty FORCE_COLOR', pipe, { FORCE_COLOR: '' }, true],
    ['a terminal with FORCE_COLOR=0', terminal, { FORCE_COLOR: '0' }, false],
    ['both wishes at once', terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['a terminal that knows no colours', terminal, { TERM: 'dumb' }, false],
  ])('decides for %s (CLI-2)', (_name, stream, env, wanted) => {
    expect(wantsColor(stream, env)).toBe(wanted)
  })
})
