import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultLine, minimal } from '../../tests/load-text.ts'
import { needs } from '../../tests/needs.ts'
import { Plan } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { loadExperiment } from './load-experiment.ts'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'evsys-load-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

async function faults(file: string, content?: string | Uint8Array): Promise<string[]> {
  if (content !== undefined) await writeFile(join(cwd, file), content)
  const error = await loadExperiment({ file }, { cwd }).catch((cause) => cause)
  return EvsysError.is(error) ? error.problems.map(faultLine) : [`not refused: ${error}`]
}

const fifo = needs('mkfifo', () => spawnSync('mkfifo', ['--version']).error === undefined || 'it is not on the PATH')

describe('a file', () => {
  it('is read from the working folder, also with a byte order mark and Windows line ends (CFG-16)', async () => {
    await writeFile(join(cwd, 'e.yaml'), `\uFEFF${minimal.replaceAll('\n', '\r\n')}`)
    const { plan, file, name } = await loadExperiment({ file: 'e.yaml' }, { cwd })
    expect(plan.experiment.name).toBe('minimal')
    expect({ file, name }).toEqual({ file: join(cwd, 'e.yaml'), name: 'e.yaml' })
    expect(await faults('bad.yaml', `\uFEFFnmae: x\r\n${minimal}`)).toEqual([
      'bad.yaml:1:1 CONFIG_UNKNOWN_KEY nmae: unknown key "nmae"',
    ])
  })

  it.each([
    ['is missing', 'missing.yaml', 'CONFIG_READ cannot read missing.yaml: no such file or folder'],
    ['is a folder', '.', 'CONFIG_READ cannot read .: it is a folder'],
    ['is a device without end', '/dev/zero', 'CONFIG_READ cannot read /dev/zero: it is a device or socket, not a file'],
    ['has a name that no file has', 'a\0b', expect.stringMatching(/^CONFIG_READ cannot read/)],
  ])('that %s is refused (ERR-1)', async (_what, file, fault) => {
    expect(await faults(file)).toEqual([fault])
  })

  fifo.it('that is a pipe which nobody writes to is refused, not waited for (ERR-1)', async () => {
    execFileSync('mkfifo', [join(cwd, 'pipe.yaml')])
    expect(await faults('pipe.yaml')).toEqual([
      'CONFIG_READ cannot read pipe.yaml: it is a device or socket, not a file',
    ])
  })

  it.each([
    [
      'is not UTF-8',
      Buffer.from([...Buffer.from('name: e\nx: é '), 0xff, 0x0a]),
      'e.yaml:2:6 CONFIG_READ this line is not UTF-8 text'.replace('e.yaml:', ''),
    ],
    ['is UTF-16', Buffer.from('\uFEFFname: e\n', 'utf16le'), '1:1 CONFIG_READ e.yaml is UTF-16 text'],
    ['is empty', '', '1:1 CONFIG_INVALID the file is empty'],
    ['is empty but for comments', '# nothing\n\n', '1:1 CONFIG_INVALID the file is empty'],
    ['is a list', '- name: e\n', '1:1 CONFIG_INVALID a mapping must stand at the top'],
    ['is one word', 'experiment\n', '1:1 CONFIG_INVALID a mapping must stand at the top'],
  ])('that %s is refused (ERR-1)', async (_what, content, fault) => {
    expect(await faults('e.yaml', content)).toEqual([fault])
  })

  it('that is far too large is not read (ERR-1)', async () => {
    await writeFile(join(cwd, 'e.yaml'), '')
    await truncate(join(cwd, 'e.yaml'), 10 ** 10)
    expect(await faults('e.yaml')).toEqual([expect.stringMatching(/^CONFIG_READ e.yaml has 10000000000 bytes/)])
  })
})

describe('a loaded experiment', () => {
  const text = `name: e
matrix:
  axes: { algorithm.params.x: [1, 2] }
base_run:
  data: { path: a.jsonl }
  model: { name: m }
  algorithm: { kind: sft }
`

  it('has a plan that its schema accepts (CON-5)', async () => {
    const { plan } = await loadExperiment(
      { file: 'e.yaml', text: `${text}n_repeats: 2\nbudget: { wall: 1h }\n` },
      { cwd },
    )
    expect(Plan.parse(JSON.parse(JSON.stringify(plan)))).toEqual(JSON.parse(JSON.stringify(plan)))
  })

  it('knows where the values of a run were written, through axes and options (ERR-2)', async () => {
    const { locate } = await loadExperiment({ file: 'e.yaml', text }, { cwd, set: ['model.name=other'], steps: 3 })
    expect(locate('e__x2', ['algorithm', 'params', 'x'])).toEqual({
      file: 'e.yaml',
      line: 3,
      col: 35,
      path: 'matrix.axes."algorithm.params.x".1',
    })
    expect(locate('e__x1', ['data', 'path'])).toEqual({ file: 'e.yaml', line: 5, col: 17, path: 'base_run.data.path' })
    expect(locate('e__x1', ['data', 'rows', 0])).toEqual({
      file: 'e.yaml',
      line: 5,
      col: 9,
      path: 'base_run.data.rows.0',
    })
    expect(locate('e__x1', ['model', 'name'])).toEqual({ file: '--set', line: 1, col: 12, path: 'model.name' })
    expect(locate('e__x1', ['algorithm', 'params', 'max_steps'])).toEqual({
      file: '--steps',
      line: 1,
      col: 1,
      path: 'algorithm.params.max_steps',
    })
    expect(locate(undefined, ['name'])).toEqual({ file: 'e.yaml', line: 1, col: 7, path: 'name' })
    expect(locate('no such run', ['name'])).toBeUndefined()
  })

  it('shares what arms share, and cannot be changed (CFG-2)', async () => {
    const { plan } = await loadExperiment({ file: 'e.yaml', text }, { cwd })
    const [first, second] = plan.runs
    expect(first?.config.data).toBe(second?.config.data)
    expect(Object.isFrozen(first?.config)).toBe(true)
  })

  it('tells a mistake that all arms have once (ERR-1)', async () => {
    const many = text.replace('[1, 2]', `[${Array.from({ length: 500 }, (_, i) => i).join(', ')}]`)
    const error = await loadExperiment({ file: 'e.yaml', text: many.replace('kind: sft', 'knd: sft') }, { cwd }).catch(
      (cause) => cause,
    )
    expect(error.problems.map(faultLine)).toEqual([
      '7:14 CONFIG_INVALID base_run.algorithm.kind: is missing: expected text',
      '7:16 CONFIG_UNKNOWN_KEY base_run.algorithm.knd: unknown key "knd"',
    ])
  })

  it('is not loaded once its signal is aborted', async () => {
    await writeFile(join(cwd, 'e.yaml'), minimal)
    const loading = loadExperiment({ file: 'e.yaml' }, { cwd, signal: AbortSignal.abort() })
    await expect(loading).rejects.toMatchObject({ name: 'AbortError' })
  })
})
