import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { faultLine } from '../../tests/load-text.ts'
import { EvsysError } from '../kernel/index.ts'
import { loadTask } from './load-task.ts'

const task = async (text: string) => (await loadTask({ file: 'e.yaml', text }, { cwd: '/project' })).task

async function faults(text: string): Promise<readonly string[]> {
  const error = await task(text).catch((cause) => cause)
  return EvsysError.is(error) ? error.problems.map(faultLine) : []
}

const base = 'name: t\nrun: node train.mjs\n'
const sweep = (parameters: string, values: string) =>
  `${base}parameters: { p: ${parameters} }\nsweeps:\n  sweep_config:\n    p: ${values}\n`

describe('a task file', () => {
  it('has the fields of jobs and of research, with defaults (CON-2)', async () => {
    expect(await task(base)).toEqual({
      name: 't',
      run: 'node train.mjs',
      envs: {},
      parameters: {},
      secondary: [],
      scope: [],
      off_limits: [],
    })
    const full = `${base}description: d
setup: make
resources: { compute_provider: p, cpus: 4, memory: 16, disk_space: 100, accelerators: "H100:1", num_nodes: 2, instance_type: i, cloud: c, region: r, zone: z, use_spot: true, image_id: img, fleet_name: f }
envs: { TOKEN: "{{secret.TOKEN}}" }
parameters: { a: 1, b: [1], c: { d: null } }
github_repo_url: https://example.org/r
github_repo_dir: d
github_repo_branch: main
minutes_requested: 30
metric: val_loss
direction: min
unit: nats
secondary: [time]
seeds: [1, 2]
budget: { wall: 1h }
scope: ["src/**"]
off_limits: [eval.ts]
scorer: eval.ts
api: ./api.ts
prompt: improve it
`
    expect(Object.keys(await task(full))).toHaveLength(22)
  })

  it.each([
    ['at the top', 'steps: 3', '3:1 CONFIG_UNKNOWN_KEY steps: unknown key "steps"'],
    ['in resources', 'resources: { gpu: 1 }', '3:14 CONFIG_UNKNOWN_KEY resources.gpu: unknown key "gpu"'],
    [
      'in sweeps',
      'sweeps: { sweep_config: {}, metric: a }',
      '3:29 CONFIG_UNKNOWN_KEY sweeps.metric: unknown key "metric"',
    ],
    ['in budget', 'budget: { hours: 3 }', '3:11 CONFIG_UNKNOWN_KEY budget.hours: unknown key "hours"'],
  ])('refuses unknown keys %s (CON-2)', async (_where, line, fault) => {
    expect(await faults(`${base}${line}\n`)).toEqual([fault])
  })

  it.each([
    ['no name', 'run: x\n', ['1:1 CONFIG_INVALID name: is missing: expected text']],
    ['no command', 'name: t\n', ['1:1 CONFIG_INVALID run: is missing: expected text']],
    ['envs that are no text', `${base}envs: { A: 1 }\n`, ['3:12 CONFIG_INVALID envs.A: expected text, got 1']],
    [
      'a direction of its own',
      `${base}direction: up\n`,
      ['3:12 CONFIG_INVALID direction: expected one of "max", "min", got "up"'],
    ],
    [
      'several mistakes',
      'name: a/b\nrun: 3\nminutes_requested: 0\n',
      [
        expect.stringMatching(/^1:7 CONFIG_NAME/),
        expect.stringMatching(/^2:6 CONFIG_INVALID run/),
        expect.stringMatching(/^3:20 CONFIG_INVALID minutes_requested/),
      ],
    ],
    ['what is no mapping', '- a\n', ['1:1 CONFIG_INVALID a mapping must stand at the top']],
    ['an empty file', '', ['1:1 CONFIG_INVALID the file is empty']],
  ])('refuses %s (CON-2)', async (_what, text, found) => {
    expect(await faults(text)).toEqual(found)
  })
})

describe('sweep values', () => {
  it('take the type of their parameter, as in the seed document (CON-2)', async () => {
    const text = readFileSync(new URL('./fixtures/seed/sweep-task.yaml', import.meta.url), 'utf8')
    expect((await task(text)).sweeps).toEqual({
      sweep_config: { learning_rate: [1e-5, 3e-5, 1e-4], batch_size: [16, 32, 64] },
      sweep_metric: 'eval/loss',
      lower_is_better: true,
    })
  })

  it.each([
    ['numbers', '1', "['2', 3, ' -1.5e3 ', '+.5']", [2, 3, -1500, 0.5]],
    ['booleans', 'true', "[false, 'true', 'False']", [false, true, false]],
    ['text', 'a', "[b, 1.0, true, '2']", ['b', '1.0', 'true', '2']],
    ['lists', '[1]', '[[1, 2], []]', [[1, 2], []]],
    ['anything for a null', 'null', "[1, 'a', true]", [1, 'a', true]],
    ['null for anything', '1', '[null, 2]', [null, 2]],
  ])('are %s where the parameter is (CON-2)', async (_what, parameter, values, coerced) => {
    expect((await task(sweep(parameter, values))).sweeps?.sweep_config.p).toEqual(coerced)
  })

  it.each([
    [
      'a word for a number',
      '1',
      '[2, many]',
      '6:12 CONFIG_INVALID sweeps.sweep_config.p.1: expected a number, as the parameter "p" is, got "many"',
    ],
    [
      'nothing for a number',
      '1',
      "['']",
      '6:9 CONFIG_INVALID sweeps.sweep_config.p.0: expected a number, as the parameter "p" is, got ""',
    ],
    [
      'hexadecimal text for a number',
      '1',
      "['0x10']",
      '6:9 CONFIG_INVALID sweeps.sweep_config.p.0: expected a number, as the parameter "p" is, got "0x10"',
    ],
    [
      'a number for a boolean',
      'true',
      '[1]',
      '6:9 CONFIG_INVALID sweeps.sweep_config.p.0: expected true or false, as the parameter "p" is, got 1',
    ],
    [
      'a list for a number',
      '1',
      '[[1]]',
      '6:9 CONFIG_INVALID sweeps.sweep_config.p.0: expected a number, as the parameter "p" is, got a list',
    ],
    [
      'text for a list',
      '[1]',
      "['[1]']",
      '6:9 CONFIG_INVALID sweeps.sweep_config.p.0: expected a list, as the parameter "p" is, got "[1]"',
    ],
    ['no values', '1', '[]', '6:8 CONFIG_INVALID sweeps.sweep_config.p: must not be empty'],
    ['no list', '1', '2', '6:8 CONFIG_INVALID sweeps.sweep_config.p: expected a list, got 2'],
  ])('refuse %s, at its place (CON-2)', async (_what, parameter, values, fault) => {
    expect(await faults(sweep(parameter, values))).toEqual([fault])
  })

  it('vary declared parameters only (CON-2)', async () => {
    expect(await faults(sweep('1', '[2]').replace('    p: [2]', '    q: [2]'))).toEqual([
      '6:5 CONFIG_UNKNOWN_KEY sweeps.sweep_config.q: the sweep varies "q", which is no parameter of the task',
    ])
  })

  it('are counted before anything is queued (CON-2)', async () => {
    const many = `[${Array.from({ length: 101 }, (_, i) => i).join(', ')}]`
    const text = `${base}parameters: { a: 1, b: 1 }\nsweeps: { sweep_config: { a: ${many}, b: ${many} } }\n`
    expect(await faults(text)).toEqual([
      '4:25 CONFIG_MATRIX sweeps.sweep_config: the sweep makes 10201 jobs, more than 10000',
    ])
  })
})

describe('a loaded task', () => {
  it('knows where its values stand (ERR-2)', async () => {
    const loaded = await loadTask({ file: 'sub/e.yaml', text: `${base}parameters:\n  a: 1\n` }, { cwd: '/project' })
    expect(loaded.locate(['parameters', 'a'])).toEqual({ file: 'sub/e.yaml', line: 4, col: 6, path: 'parameters.a' })
    expect(loaded.locate(['parameters', 'b'])).toEqual({ file: 'sub/e.yaml', line: 3, col: 1, path: 'parameters.b' })
    expect(loaded.dir).toBe('/project/sub')
  })

  it('may be made in code (CON-2)', async () => {
    const loaded = await loadTask({ value: { name: 't', run: 'x' } }, { cwd: '/project' })
    expect(loaded.task.name).toBe('t')
    expect(loaded.dir).toBe('/project')
  })
})
