import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExperimentEdit } from '../../contracts/index.ts'
import { materialise } from './materialise.ts'

const train = ['one', 'two', 'three', 'same', 'four', 'five', 'same', 'six', ''].join('\n')
const base = { 'train.mjs': train, 'model/net.mjs': 'export const A = 1\n' }

function patched(patch: string, files: Record<string, string> = base): unknown {
  const made = materialise({ change: { kind: 'patch', patch } }, files)
  return 'failures' in made ? made.failures.map(({ reason }) => reason) : made.files
}

describe('ideas as files', () => {
  it('puts whole files over those of the base (RES-502)', () => {
    const made = materialise({ change: { kind: 'files', files: { 'train.mjs': 'const LR = 2\n' } } }, base)
    expect(made).toEqual({
      files: { ...base, 'train.mjs': 'const LR = 2\n' },
      knobs: { A: 1, LR: 2 },
    })
  })

  it('applies typed edits to an experiment file and the plugin files of its scope, and refuses the rest by class (RES-572)', () => {
    const text = 'name: x\ndata: { path: a.jsonl }\nmodel: { name: evsys/tiny }\nalgorithm: { kind: sft } # plain\n'
    const catalog = { document: 'x.yaml', knobs: {} }
    const make = (...edits: ExperimentEdit[]) =>
      materialise(
        { change: { kind: 'edits', edits } },
        { 'x.yaml': text },
        { catalog, scope: ['plugins/*.ts'], off_limits: ['data'] },
      )
    const write = (path: string): ExperimentEdit => ({
      edit: 'write_plugin',
      role: 'algorithm',
      path,
      text: 'export default []\n',
    })
    const made = make(write('plugins/own.ts'), { edit: 'set_algorithm', kind: 'own', params: {} })
    expect(made).toMatchObject({ files: { 'plugins/own.ts': 'export default []\n' } })
    expect('files' in made && made.files['x.yaml']).toContain('plugins:')
    expect('files' in made && made.files['x.yaml']).toContain('algorithm: { kind: own } # plain')
    expect(make(write('lib/own.ts'))).toMatchObject({
      failures: [{ class: 'tamper', reason: expect.stringContaining('lib/own.ts may not be written') }],
    })
    expect(make({ edit: 'add_transform', at: 0, kind: 'dedupe', params: {} })).toMatchObject({
      failures: [{ class: 'tamper', reason: expect.stringContaining('off limits') }],
    })
    expect(make({ edit: 'remove_stage', at: 0 })).toMatchObject({ failures: [{ class: 'validation' }] })
    expect(materialise({ change: { kind: 'edits', edits: [write('plugins/own.ts')] } }, base)).toMatchObject({
      failures: [{ reason: expect.stringContaining('this task has none') }],
    })
  })

  it('refuses paths that leave the task (RES-502)', () => {
    for (const path of ['../scorer.mjs', '/etc/passwd', 'a/../../b', 'a\\b', 'a\0b', './x', 'a//b', '']) {
      const made = materialise({ change: { kind: 'files', files: { [path]: 'x' } } }, base)
      expect(made, path).toHaveProperty('failures')
    }
  })

  it('applies a patch whose line numbers are wrong when its lines fit in one place (RES-503)', () => {
    const want = { ...base, 'train.mjs': train.replace('five', 'FIVE\nmore') }
    expect(patched('--- a/train.mjs\n+++ b/train.mjs\n@@ -5,3 +5,4 @@\n four\n-five\n+FIVE\n+more\n same\n')).toEqual(
      want,
    )
    expect(
      patched('--- train.mjs\n+++ train.mjs\n@@ -91,9 +3,1 @@ words\n four\n-five\n+FIVE\n+more\n same\n\n\n'),
    ).toEqual(want)
    expect(patched('Here it is:\n--- a/train.mjs\n+++ b/train.mjs\n@@\n four\n-five\n+FIVE\n+more\n same\n')).toEqual(
      want,
    )
  })

  it('takes the stated one of two places, and refuses to choose where none is stated (RES-503)', () => {
    const hunk = '-same\n+other\n'
    expect(patched(`--- a/train.mjs\n+++ b/train.mjs\n@@ -7 +7 @@\n${hunk}`)).toEqual({
      ...base,
      'train.mjs': train.replace(/same\nsix/, 'other\nsix'),
    })
    expect(patched(`--- a/train.mjs\n+++ b/train.mjs\n@@ -5 +5 @@\n${hunk}`)).toEqual([
      'hunk 1 of train.mjs fits in 2 places: give it more lines around the change',
    ])
  })

  it('never bends a line: what does not fit is said with the line (RES-503)', () => {
    expect(patched('--- a/train.mjs\n+++ b/train.mjs\n@@ -1,2 +1,2 @@\n one\n-Two\n+2\n')).toEqual([
      'hunk 1 of train.mjs fits nowhere: "Two" is not in the file there',
    ])
    expect(patched('--- a/other.mjs\n+++ b/other.mjs\n@@ -1 +1 @@\n-a\n+b\n')).toEqual([
      'the patch changes other.mjs, which is not among the files: train.mjs, model/net.mjs',
    ])
    expect(patched('no patch at all')).toEqual(['the patch has no line that starts with "--- " followed by "+++ "'])
    expect(patched('--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+b\n')).toHaveLength(1)
  })

  it('makes and removes files, keeps line ends (RES-503)', () => {
    expect(
      patched(
        '--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+A = 1\n+B = 2\n--- a/model/net.mjs\n+++ /dev/null\n@@ -1 +0,0 @@\n-export const A = 1\n',
      ),
    ).toEqual({ 'train.mjs': train, 'new.py': 'A = 1\nB = 2\n' })
    expect(patched('--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n', { 'x.py': 'a\r\nb\r\n' })).toEqual({
      'x.py': 'a\r\nc\r\n',
    })
    expect(
      patched(
        '--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n',
        {
          'x.py': 'a\nb',
        },
      ),
    ).toEqual({ 'x.py': 'a\nc' })
  })

  it('applies any change of lines that is written as a diff (RES-503)', () => {
    const line = fc.constantFrom('a', 'b', '', '-- c', '++ d', '@ e', ' f')
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.array(line, { minLength: 1, maxLength: 12 }),
        (old, next) => {
          fc.pre(old.join('\n') !== next.join('\n'))
          const body = [...old.map((each) => `-${each}`), ...next.map((each) => `+${each}`)]
          const patch = `--- a/x.py\n+++ b/x.py\n@@ -1,${old.length} +1,${next.length} @@\n${body.join('\n')}\n`
          expect(patched(patch, { 'x.py': `${old.join('\n')}\n` })).toEqual({ 'x.py': `${next.join('\n')}\n` })
        },
      ),
    )
  })

  it('survives any patch (RES-503)', () => {
    const piece = fc.constantFrom(
      '--- a/train.mjs\n',
      '+++ b/train.mjs\n',
      '@@ -1,3 +1,3 @@\n',
      '@@\n',
      ' one\n',
      '-two\n',
      '+x\n',
      '\n',
      '\\ No newline\n',
      'words\n',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const made = materialise({ change: { kind: 'patch', patch: pieces.join('') } }, base)
        expect('failures' in made ? made.failures.length : Object.keys(made.files).length).toBeGreaterThan(0)
      }),
    )
  })
})
