import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { readPredictions } from './segment-reader.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()

describe('the answers of a worker', () => {
  it('are read from the folder of its run (LAB-12)', async () => {
    const runDir = folder()
    const file = join(runDir, 'val.jsonl')
    writeFileSync(file, '{"task_id":"a","sample":0,"output":"x"}\n{"task_id":"b","sample":0}\n')
    expect(await readPredictions(file, { runDir, signal })).toEqual([
      { task_id: 'a', sample: 0, output: 'x' },
      { task_id: 'b', sample: 0 },
    ])
  })

  it.each(['/etc/passwd', '../other/val.jsonl', 'val.jsonl', ''])(
    'are not read from anywhere else: %s (LAB-12)',
    async (path) => {
      const runDir = folder()
      const file = path.startsWith('..') ? join(runDir, path) : path
      await expect(readPredictions(file, { runDir, signal })).rejects.toMatchObject({ code: 'DATA_INVALID' })
    },
  )

  it.each(['{"task_id":"a"}', '{"task_id":"a","sample":-1}', '{"task_id":"a","sample":0,"reward":1}', 'nonsense'])(
    'are refused when they are none: %s (LAB-12)',
    async (line) => {
      const runDir = folder()
      const file = join(runDir, 'val.jsonl')
      writeFileSync(file, `${line}\n`)
      await expect(readPredictions(file, { runDir, signal })).rejects.toMatchObject({ code: 'DATA_INVALID' })
    },
  )
})
