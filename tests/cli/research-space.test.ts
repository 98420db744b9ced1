import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { root, runMain } from './run-main.ts'

const folder = temporaryFolders()
const example = join(root, 'examples/tool-router')

describe('research space', () => {
  it('prints what may change and what stays, in words and as data that say the same (CLI-600)', async () => {
    const words = ['research', 'space', 'experiment.yaml', '--arm', 'dedupe-focal_sft']
    const text = await runMain(words, { cwd: example })
    expect({ code: text.code, stderr: text.stderr }).toEqual({
      code: 0,
      stderr: 'notice: claim left out: one arm has nothing to be compared with\n',
    })
    await expect(text.stdout).toMatchFileSnapshot('golden/research-space.txt')
    const json = JSON.parse((await runMain([...words, '--json'], { cwd: example })).stdout)
    expect(json).toMatchObject({ file: 'experiment.yaml', arm: 'dedupe-focal_sft' })
    expect(json.knobs).toContainEqual({
      ...{ name: 'algorithm.params.learning_rate', kind: 'range', low: 1e-5, high: 0.01, log: true, integer: false },
      ...{ today: 0.002, default: 1e-4, from: 'mark', area: 'optimizer' },
    })
    for (const { name } of json.knobs) expect(text.stdout).toContain(name)
    for (const { name, why } of json.excluded) {
      expect(text.stdout).toContain(name)
      expect(text.stdout).toContain(why)
    }
    expect(json.never).toEqual(['benchmarks', 'verifiers', 'metrics', 'splits', 'seeds', 'budget'])
  })

  it('asks which arm, and names a slip in the block at its line (CLI-600)', async () => {
    const which = await runMain(['research', 'space', 'experiment.yaml'], { cwd: example })
    expect(which).toMatchObject({ code: 2, stdout: '' })
    expect(which.stderr).toContain('dedupe-sft')
    const cwd = folder()
    mkdirSync(join(cwd, '.evsys'))
    const written = readFileSync(join(root, 'examples/helpdesk/may.yaml'), 'utf8')
    const slip = `${written}research:\n  space:\n    algorithm.params.lora_rang: [4]\n`
    writeFileSync(join(cwd, 'x.yaml'), slip)
    const { code, stderr } = await runMain(['research', 'space', 'x.yaml'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain(`x.yaml:${slip.split('\n').length - 1}`)
    expect(stderr).toContain('did you mean "lora_rank"')
  })
})
