import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ErrorReport, ValidateReport } from '../../src/contracts/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { root, runMain } from './run-main.ts'

const folder = temporaryFolders()

/** A folder with files. */
function folderWith(files: Record<string, string>): string {
  const dir = folder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  return dir
}

const small = `name: small
data: { source_kind: in_memory, rows: [{ messages: [{ role: user, content: a }, { role: assistant, content: b }] }] }
model: { name: mock }
algorithm: { kind: sft, params: { max_steps: 30 } }
backend: { kind: mock }
`

const wide = `${small}metadata:
  hypothesis: >
    Some pair of rank and rate is best,
    whatever the weather.
matrix:
  axes:
    algorithm.params.learning_rate: [0.1, 0.2, 0.3, 0.4, 0.5]
    algorithm.params.lora_rank: [1, 2, 4, 8, 16]
n_repeats: 8
`.replace(/^(data|model|algorithm|backend):/gm, '_$1:')

// `base_run` beside `matrix`, made of the lines above.
const matrix = wide.replace(/^(_.*\n)+/m, (lines) => `base_run:\n${lines.replace(/^_/gm, '  ')}`)

const broken = `name: broken
metadata:
  hypotesis: It works.
  objective: { metric: val.pass@1 }
n_repeats: three
data: { path: data/train.jsonl }
model: { nam: mock }
algorithm: { kind: sft, params: { max_steps: 30 } }
`

describe('validate', () => {
  it('prints the plan: first arms, then their number (CFG-2, CLI-2)', async () => {
    const cwd = folderWith({ 'wide.yaml': matrix })
    const { code, stdout, stderr } = await runMain(['validate', 'wide.yaml'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await expect(stdout).toMatchFileSnapshot('golden/validate-wide.txt')
  })

  it('fits the plan to the terminal (CLI-2)', async () => {
    const cwd = folderWith({ 'wide.yaml': matrix })
    const { stdout } = await runMain(['validate', 'wide.yaml'], { cwd, columns: 50, env: { NO_COLOR: '1' } })
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(50)
    await expect(stdout).toMatchFileSnapshot('golden/validate-narrow.txt')
  })

  it('prints one line under --quiet (CLI-2)', async () => {
    const cwd = folderWith({ 'small.yaml': small })
    expect(await runMain(['validate', 'small.yaml', '--quiet'], { cwd })).toEqual({
      code: 0,
      stdout: 'valid in form: small.yaml\n',
      stderr: '',
    })
  })

  it('prints the report as one document under --json (CLI-2, CON-5)', async () => {
    const cwd = folderWith({ 'wide.yaml': matrix })
    const { stdout, stderr } = await runMain(['validate', 'wide.yaml', '--json', '--deep'], { cwd })
    expect(stderr).toBe('')
    const report = ValidateReport.parse(JSON.parse(stdout))
    expect(report).toMatchObject({ valid: true, deep: true, file: 'wide.yaml', n_runs: 200 })
    expect(report.arms).toHaveLength(25)
  })

  it('prints every problem with its place, its line and its fix, then their number (ERR-1)', async () => {
    const cwd = folderWith({ 'broken.yaml': broken })
    const { code, stdout, stderr } = await runMain(['validate', 'broken.yaml'], { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    await expect(stderr).toMatchFileSnapshot('golden/validate-broken.txt')
  })

  it('refuses with --deep a model that is not here, as run does before it starts, with what fetches it (USE-313)', async () => {
    const cwd = folderWith({
      'small.yaml': small.replace('name: mock', 'name: Qwen/Qwen3-0.6B').replace('kind: mock', 'kind: local'),
    })
    const env = { HF_HOME: join(cwd, 'hub') }
    for (const args of [
      ['validate', 'small.yaml', '--deep'],
      ['run', 'small.yaml'],
    ]) {
      const { code, stderr } = await runMain(args, { cwd, env })
      expect(code).toBe(2)
      expect(stderr).toContain('MODEL_MISSING')
      expect(stderr).toContain('fix: fetch it once with `hf download Qwen/Qwen3-0.6B`')
    }
    expect(existsSync(join(cwd, '.evsys/runs'))).toBe(false)
  })

  it('prints the same problems as one document under --json (CLI-2, ERR-1)', async () => {
    const cwd = folderWith({ 'broken.yaml': broken })
    const { code, stdout, stderr } = await runMain(['validate', 'broken.yaml', '--json'], { cwd })
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    const { errors } = ErrorReport.parse(JSON.parse(stdout))
    const lines = errors.map(({ where }) => where?.line ?? 0)
    expect(lines).toEqual([...lines].sort((a, b) => a - b))
    expect(errors.length).toBeGreaterThanOrEqual(4)
  })

  it('colours problems on a terminal alone (CLI-2)', async () => {
    const cwd = folderWith({ 'broken.yaml': broken })
    expect((await runMain(['validate', 'broken.yaml'], { cwd, columns: 80 })).stderr).toContain('\u001b[')
    expect((await runMain(['validate', 'broken.yaml'], { cwd })).stderr).not.toContain('\u001b[')
  })

  it('finds with --deep what needs plugins and files, all at once (CFG-14)', async () => {
    const cwd = folderWith({
      '.evsys/.gitignore': '*',
      'deep.yaml': `name: deep
metadata:
  benchmark: [{ name: val, path: data/val, metrics: [pass_rat] }]
data: { path: data/train.jsonl, transforms: [{ kind: dedup }] }
model: { name: mock }
algorithm: { kind: sft, params: { max_step: 30 } }
backend: { kind: mock }
`,
      'src/plugins/broken.ts': 'export default 42\n',
    })
    expect((await runMain(['validate', 'deep.yaml'], { cwd })).code).toBe(0)
    const { code, stderr } = await runMain(['validate', 'deep.yaml', '--deep'], { cwd })
    expect(code).toBe(2)
    await expect(stderr).toMatchFileSnapshot('golden/validate-deep-broken.txt')
  })

  it('locates what --set got wrong (CFG-4, ERR-2)', async () => {
    const cwd = folderWith({ 'small.yaml': small })
    const { code, stderr } = await runMain(['validate', 'small.yaml', '--set', 'n_repeats=many', '--set', 'nope'], {
      cwd,
    })
    expect(code).toBe(2)
    await expect(stderr).toMatchFileSnapshot('golden/validate-set.txt')
  })

  it.each([
    ['--steps', ['--steps', '5']],
    ['--dry', ['--dry']],
  ])('%s says that an algorithm takes no cap on its steps, and what to do (CFG-14)', async (flag, args) => {
    const cwd = folderWith({
      'e.yaml': small.replace(/^algorithm:.*$/m, 'algorithm: { kind: endless }'),
      'src/plugins/endless.js': `import { defineAlgorithm, z } from 'evsys/plugin'
export default [defineAlgorithm({ kind: 'endless', summary: 'x', params: z.strictObject({}), buildBatch() {} })]`,
    })
    const { code, stderr } = await runMain(['validate', 'e.yaml', '--deep', ...args], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain(`${flag} caps max_steps, which endless does not take`)
    expect(stderr).toContain(`fix: leave ${flag} away, or give endless a parameter max_steps`)
  })

  it('applies --set, --dry and --steps to the plan (CFG-4, CFG-12)', async () => {
    const cwd = folderWith({ 'small.yaml': small })
    const steps = async (...args: string[]) => {
      const { stdout } = await runMain(['validate', 'small.yaml', '--json', ...args], { cwd })
      return ValidateReport.parse(JSON.parse(stdout)).arms.map(({ max_steps }) => max_steps)
    }
    expect(await steps()).toEqual([30])
    expect(await steps('--set', 'algorithm.params.max_steps=12')).toEqual([12])
    expect(await steps('--steps', '7')).toEqual([7])
    expect(await steps('--dry')).toEqual([5])
    expect(await steps('--dry', '--steps', '3')).toEqual([3])
  })

  it('names the file of an extended problem as it is seen from here (ERR-2)', async () => {
    const cwd = folderWith({ 'lib/base.yaml': 'n_repeats: 0\n', 'a/x.yaml': `extends: ../lib/base.yaml\n${small}` })
    const { stderr } = await runMain(['validate', 'a/x.yaml'], { cwd })
    expect(stderr).toMatch(/^lib\/base\.yaml:1:12 {2}CONFIG_INVALID\n/)
  })

  it.each([
    ['deploy: { kind: folder }', 'deploy', 9, 'nothing is deployed after a run yet'],
    ['compute: { kind: slurm }', 'compute.kind', 18, 'runs execute on this machine; they cannot be sent elsewhere yet'],
    [
      'data_store: { kind: in_memory }',
      'data_store',
      1,
      'nothing is read from the data store: no data block has a `path`',
    ],
  ])('refuses %s, which nothing consumes, without --deep too (CFG-14)', async (line, path, col, message) => {
    // A mistake elsewhere hides it no more than it hides the mistake.
    const cwd = folderWith({ 'x.yaml': `${small}${line}\nn_repeats: 0\n` })
    const { code, stdout } = await runMain(['validate', 'x.yaml', '--json'], { cwd })
    expect(code).toBe(2)
    expect(ErrorReport.parse(JSON.parse(stdout)).errors).toEqual([
      {
        code: 'CONFIG_INVALID',
        message,
        where: { file: 'x.yaml', line: 6, col, path },
        fix: expect.stringMatching(/\.$/),
      },
      expect.objectContaining({ where: { file: 'x.yaml', line: 7, col: 12, path: 'n_repeats' } }),
    ])
  })

  it.each(['compute: {}', 'compute: { kind: local }', 'compute: { kind: local, params: {} }'])(
    'takes %s, which is the default (CFG-14)',
    async (line) => {
      const cwd = folderWith({ 'x.yaml': `${small}${line}\n` })
      for (const deep of [[], ['--deep']]) {
        expect(await runMain(['validate', 'x.yaml', ...deep], { cwd })).toMatchObject({ code: 0, stderr: '' })
      }
    },
  )

  it('prints notices on stderr, and in the document (CFG-10, CLI-2)', async () => {
    const cwd = folderWith({ 'old.yaml': `${small}log_store: { kind: jsonl }\n` })
    const text = await runMain(['validate', 'old.yaml'], { cwd })
    expect(text.code).toBe(0)
    expect(text.stderr).toMatch(/^notice: old\.yaml:6: .*log_store/)
    const { stdout } = await runMain(['validate', 'old.yaml', '--json'], { cwd })
    expect(ValidateReport.parse(JSON.parse(stdout)).notices).toHaveLength(1)
    expect((await runMain(['validate', 'old.yaml', '--quiet'], { cwd })).stderr).toBe('')
  })

  it('reads standard input (CLI-2)', async () => {
    const cwd = folder()
    const good = await runMain(['validate', '-', '--quiet'], { cwd, stdin: small })
    expect(good).toEqual({ code: 0, stdout: 'valid in form: <stdin>\n', stderr: '' })
    const bad = await runMain(['validate', '-'], { cwd, stdin: 'name: x\nrun: 1\n' })
    expect(bad.code).toBe(2)
    expect(bad.stderr).toMatch(/^<stdin>:/)
    const empty = await runMain(['validate', '-'], { cwd })
    expect(empty.code).toBe(2)
  })

  it.each([
    ['is missing', 'nowhere.yaml'],
    ['is a folder', '.'],
    ['is a device', '/dev/null'],
    ['has a strange name', 'a\u001b[31m.yaml'],
  ])('explains a file that %s (CLI-3)', async (_name, file) => {
    const { code, stdout, stderr } = await runMain(['validate', file, '--deep'], { cwd: folder() })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/CONFIG_READ\n {2}.*\n {2}fix: /)
    expect(stderr).not.toContain('\u001b')
  })

  it('uses the plugins of --project (KER-3)', async () => {
    const cwd = folderWith({ 'e.yaml': small.replace('kind: sft', 'kind: focal_sft') })
    expect((await runMain(['validate', 'e.yaml', '--deep'], { cwd })).code).toBe(2)
    const project = join(root, 'examples/custom-plugins')
    expect((await runMain(['validate', 'e.yaml', '--deep', '--project', project], { cwd })).code).toBe(0)
    const missing = await runMain(['validate', 'e.yaml', '--deep', '--project', 'nowhere'], { cwd })
    expect(missing.stderr).toMatch(/^PROJECT_MISSING\n/)
  })
})

describe('validate of a task file', () => {
  const task = `name: sweep
run: python train.py
parameters: { lr: 0.1, size: small }
sweeps:
  sweep_config: { lr: ["0.1", "0.2"], size: [small, large, huge] }
  sweep_metric: eval/loss
`

  it('knows it by its keys and prints what it would do (CON-2)', async () => {
    const cwd = folderWith({ 'task.yaml': task })
    const { code, stdout, stderr } = await runMain(['validate', 'task.yaml', '--deep'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await expect(stdout).toMatchFileSnapshot('golden/validate-task.txt')
  })

  it('is one document under --json (CLI-2)', async () => {
    const { stdout } = await runMain(['validate', '-', '--json'], { stdin: task })
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, name: 'sweep', task: { parameters: { lr: 0.1 } } })
  })

  it.each([
    ['a command of several lines', 'name: x\nrun: |\n  a\n  b\n', true],
    ['a research task', 'name: x\nscope: [a.ts]\nmetric: loss\n', true],
    ['a run in braces', 'name: x\nrun: { seed: 1 }\n', false],
    ['a run below its key', 'name: x\nrun:\n  seed: 1\n', false],
    ['keys of both', 'name: x\nrun: train\nmatrix: {}\n', false],
    ['nothing', '', false],
  ])('tells %s from an experiment (CON-2)', async (_name, text, isTask) => {
    const { isTaskShaped } = await import('../../src/cli/commands/validate.ts')
    expect(isTaskShaped(text)).toBe(isTask)
  })

  it('is forced by --task (CON-2)', async () => {
    const { code, stderr } = await runMain(['validate', '-', '--task'], { stdin: 'name: x\nrun: { a: 1 }\n' })
    expect(code).toBe(2)
    expect(stderr).toMatch(/<stdin>:2:\d+ {2}CONFIG_INVALID\n {2}run: /)
  })

  it.each([['--set', 'a=1'], ['--dry'], ['--steps', '2']])('refuses %s (CLI-4)', async (...option) => {
    const { code, stderr } = await runMain(['validate', '-', ...option], { stdin: task })
    expect(code).toBe(2)
    expect(stderr).toMatch(new RegExp(`^CLI_USAGE\\n {2}${option[0]} is for experiments`))
  })
})

describe('what nobody expected', () => {
  const failing = {
    async *[Symbol.asyncIterator]() {
      yield ''
      throw new TypeError('cannot read properties of undefined')
    },
  }

  it('is INTERNAL with a way to report it, and no stack trace (CLI-3)', async () => {
    const { code, stdout, stderr } = await runMain(['validate', '-'], { stdin: failing })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    await expect(stderr).toMatchFileSnapshot('golden/internal.txt')
  })

  it('is one document under --json (CLI-2)', async () => {
    const { code, stdout, stderr } = await runMain(['validate', '-', '--json'], { stdin: failing })
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(ErrorReport.parse(JSON.parse(stdout)).errors).toMatchObject([{ code: 'INTERNAL' }])
  })

  it('shows its stack with EVSYS_DEBUG=1 alone (CLI-3)', async () => {
    const { stderr } = await runMain(['validate', '-'], { stdin: failing, env: { EVSYS_DEBUG: '1' } })
    expect(stderr).toMatch(/TypeError: cannot read properties of undefined\n {4}at /)
  })
})
