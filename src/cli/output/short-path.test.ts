import { describe, expect, it } from 'vitest'
import { shortPath } from './short-path.ts'

describe('shortPath', () => {
  it.each([
    ['/a/b/c.yaml', '/a', 'b/c.yaml'],
    ['/a/..b/c.yaml', '/a', '..b/c.yaml'],
    ['/a', '/a', '/a'],
    ['/b/c.yaml', '/a', '/b/c.yaml'],
    ['/ab/c.yaml', '/a', '/ab/c.yaml'],
    ['b/c.yaml', '/a', 'b/c.yaml'],
    ['<stdin>', '/a', '<stdin>'],
  ])('shows %s in %s as %s (ERR-1)', (path, cwd, short) => {
    expect(shortPath(path, cwd)).toBe(short)
  })
})
