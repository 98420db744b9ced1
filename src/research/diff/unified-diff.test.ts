import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { changedRanges, textOf, unifiedDiff } from './unified-diff.ts'

const folder = temporaryFolders()

/** Files after `git apply` in a folder inside a repository, which paths of git's own header would miss. */
function applied(before: Readonly<Record<string, string>>, patch: string): Record<string, string | undefined> {
  const top = folder()
  execFileSync('git', ['init', '-q'], { cwd: top })
  const cwd = join(top, 'tasks', 'one')
  mkdirSync(cwd, { recursive: true })
  for (const [name, text] of Object.entries(before)) writeFileSync(join(cwd, name), text)
  writeFileSync(join(top, 'a.patch'), patch)
  if (patch !== '') execFileSync('git', ['apply', join(top, 'a.patch')], { cwd, stdio: 'pipe' })
  const read = (name: string) => (existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), 'utf8') : undefined)
  return Object.fromEntries(['train.py', 'other file.txt', 'new.md'].map((name) => [name, read(name)]))
}

describe('a unified diff', () => {
  it('is what git applies: changes, new files, removed ones, files without an end (RES-707)', () => {
    const before = { 'train.py': 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nlast', 'other file.txt': 'one\n' }
    const after = { 'train.py': 'a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nlast\nmore', 'new.md': '+++ x\n--- y\n' }
    const patch = unifiedDiff(before, after)
    expect(applied(before, patch)).toEqual({ ...after, 'other file.txt': undefined })
    expect(patch).toMatchInlineSnapshot(`
      "--- /dev/null
      +++ b/new.md
      @@ -0,0 +1,2 @@
      ++++ x
      +--- y
      --- a/other file.txt	
      +++ /dev/null
      @@ -1,1 +0,0 @@
      -one
      --- a/train.py
      +++ b/train.py
      @@ -1,5 +1,5 @@
       a
      -b
      +B
       c
       d
       e
      @@ -8,4 +8,5 @@
       h
       i
       j
      -last
      \\ No newline at end of file
      +last
      +more
      \\ No newline at end of file
      "
    `)
  })

  it('is empty where nothing differs (RES-707)', () => {
    expect(unifiedDiff({ a: 'x\n' }, { a: 'x\n' })).toBe('')
  })

  it('finds the shortest edit of small texts, and one that fits of any (RES-707)', () => {
    const line = fc.constantFrom('a', 'b', 'c')
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.array(line, { maxLength: 12 }), (a, b) => {
        const ranges = changedRanges(a, b)
        const made = [...a]
        for (const { aFrom, aTo, bFrom, bTo } of [...ranges].reverse())
          made.splice(aFrom, aTo - aFrom, ...b.slice(bFrom, bTo))
        expect(made).toEqual(b)
        const edits = ranges.reduce((sum, { aFrom, aTo, bFrom, bTo }) => sum + aTo - aFrom + bTo - bFrom, 0)
        expect(edits).toBe(a.length + b.length - 2 * longestCommon(a, b))
      }),
    )
  })

  it('takes very different texts for one change (RES-707)', () => {
    const many = (prefix: string) => Array.from({ length: 3000 }, (_, i) => `${prefix}${i}`)
    expect(changedRanges(['same', ...many('a')], ['same', ...many('b')])).toEqual([
      { aFrom: 1, aTo: 3001, bFrom: 1, bTo: 3001 },
    ])
    expect(textOf(['a', 'b'])).toBe('a\nb\n')
  })
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const memo: number[][] = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const best =
        a[i] === b[j] ? 1 + (memo[i + 1]?.[j + 1] ?? 0) : Math.max(memo[i + 1]?.[j] ?? 0, memo[i]?.[j + 1] ?? 0)
      const row = memo[i]
      if (row !== undefined) row[j] = best
    }
  }
  return memo[0]?.[0] ?? 0
}
