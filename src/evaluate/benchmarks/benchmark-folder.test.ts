import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { readBenchmarkFolder } from './benchmark-folder.ts'

const folder = temporaryFolders()
const signal = new AbortController().signal

function benchmark(files: Record<string, string>): string {
  const dir = join(folder(), 'router-val')
  mkdirSync(dir)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  return dir
}

const read = (files: Record<string, string>) => readBenchmarkFolder(benchmark(files), { name: 'data/val', signal })
const task = (id: string, more: object = {}) =>
  JSON.stringify({
    task_id: id,
    instruction: 'do',
    verifier: { kind: 'in_process', fn_name: 'contains', expected: 'x' },
    ...more,
  })

describe('readBenchmarkFolder', () => {
  it('reads tasks and metadata (PLG-9)', async () => {
    const dir = benchmark({
      'tasks.jsonl': `${task('a')}\n\n${task('b')}\n`,
      'metadata.yaml': 'name: Router\nversion: 2\n',
    })
    mkdirSync(join(dir, 'images'))
    const found = await readBenchmarkFolder(dir, { signal })
    expect(found).toMatchObject({
      name: 'Router',
      dir,
      metadata: { version: 2 },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(found.tasks.map(({ task_id }) => task_id)).toEqual(['a', 'b'])
  })

  it('is named after its folder without metadata (PLG-9)', async () => {
    expect((await read({ 'tasks.jsonl': task('a') })).name).toBe('router-val')
    expect(await read({ 'tasks.jsonl': task('a'), 'metadata.yaml': '' })).toMatchObject({
      name: 'router-val',
      metadata: {},
    })
  })

  it('has a hash of what the tasks mean, in their order (PLG-9)', async () => {
    const hash = async (tasks: string) => (await read({ 'tasks.jsonl': tasks })).hash
    const plain = await hash(`${task('a')}\n${task('b')}\n`)
    const same =
      '{"verifier": {"expected": "x", "params": {}, "fn_name": "contains", "kind": "in_process"}, "metadata": {}, "instruction": "do", "task_id": "a"}'
    expect(await hash(`\uFEFF\n${same}\r\n${task('b')}`)).toBe(plain)
    expect(await hash(`${task('b')}\n${task('a')}\n`)).not.toBe(plain)
    expect(await hash(`${task('a', { metadata: { level: 1 } })}\n${task('b')}\n`)).not.toBe(plain)
  })

  it.each([
    [
      'a missing folder',
      {},
      { code: 'DATA_READ', message: expect.stringContaining('data/val/tasks.jsonl: no such file') },
    ],
    [
      'no task',
      { 'tasks.jsonl': '\n' },
      { code: 'DATA_INVALID', message: 'data/val/tasks.jsonl holds no task', where: { line: 1 } },
    ],
    [
      'broken JSON',
      { 'tasks.jsonl': `${task('a')}\n{"task_id"` },
      { code: 'DATA_INVALID', where: { file: 'data/val/tasks.jsonl', line: 2, col: 11 } },
    ],
    [
      'a row of another shape',
      { 'tasks.jsonl': `${task('a')}\n{"messages":[]}` },
      {
        code: 'DATA_INVALID',
        message: expect.stringContaining('it is a chat_messages row'),
        where: { line: 2, col: 1 },
      },
    ],
    [
      'an id given twice',
      { 'tasks.jsonl': `${task('a')}\n\n${task('b')}\n${task('a')}` },
      { message: 'data/val/tasks.jsonl:4: the task id "a" stands in line 1 too', where: { line: 4 } },
    ],
    [
      'broken metadata',
      { 'tasks.jsonl': task('a'), 'metadata.yaml': 'name: x\nname: y' },
      { code: 'CONFIG_SYNTAX', where: { file: 'data/val/metadata.yaml', line: 2 } },
    ],
    ['metadata that is a list', { 'tasks.jsonl': task('a'), 'metadata.yaml': '- 1' }, { code: 'CONFIG_INVALID' }],
    ['metadata that explodes', { 'tasks.jsonl': task('a'), 'metadata.yaml': bomb() }, { code: 'CONFIG_SYNTAX' }],
  ])('locates %s (PLG-9)', async (_name, files, error) => {
    await expect(read(files as Record<string, string>)).rejects.toMatchObject(error)
  })
})

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 9; i++) lines.push(`a${i}: &a${i} [${new Array(10).fill(`*a${i - 1}`).join(', ')}]`)
  return lines.join('\n')
}
