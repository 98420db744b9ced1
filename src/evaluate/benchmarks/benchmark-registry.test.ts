import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { findBenchmark, keepBenchmark } from './benchmark-registry.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
const at = '2026-01-02T03:04:05.000Z'
const task = (task_id: string) =>
  `${JSON.stringify({ task_id, instruction: 'say hi', verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'hi' } })}\n`

describe('a stored benchmark', () => {
  it('whose tasks changed under its id is refused; its other versions are not (USE-67)', async () => {
    const project = folder()
    const source = join(project, 'router')
    mkdirSync(source)
    writeFileSync(join(source, 'tasks.jsonl'), task('a'))
    await keepBenchmark(project, source, { at, signal })
    const first = await findBenchmark(project, 'router@1')
    const stored = join(first.folder, 'tasks.jsonl')
    expect(readFileSync(stored, 'utf8')).toBe(task('a'))
    appendFileSync(join(source, 'tasks.jsonl'), task('b'))
    await keepBenchmark(project, source, { at, signal })
    writeFileSync(stored, task('a').replace('say hi', 'say ho'))
    await expect(findBenchmark(project, 'router@1')).rejects.toMatchObject({
      code: 'BLOB_CORRUPT',
      message: expect.stringContaining('the tasks of router@1 have changed since it was stored'),
      fix: expect.stringContaining('evsys benchmark upload'),
    })
    expect(await findBenchmark(project, 'router')).toMatchObject({ version: 2 })
  })
})
