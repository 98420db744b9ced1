import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { appendLine, cutBack } from './line-file.ts'

const folder = temporaryFolders()

describe('a file of lines', () => {
  it('grows line by line, in a folder that it makes (LAB-45)', async () => {
    const file = join(folder(), 'deep', 'er', 'x.jsonl')
    await appendLine(file, { step: 0 })
    await appendLine(file, { step: 1, text: 'a\nb' })
    expect(readFileSync(file, 'utf8')).toBe('{"step":0}\n{"step":1,"text":"a\\nb"}\n')
  })

  it('is cut back to the lines of earlier steps; what is no such line goes (LAB-45)', async () => {
    const file = join(folder(), 'x.jsonl')
    writeFileSync(file, '{"step":0}\n{"step":3}\n{"no":1}\n[]\nnull\n{"step":"1"}\n{"step":2}\n{"step":1')
    await cutBack(file, 3)
    expect(readFileSync(file, 'utf8')).toBe('{"step":0}\n{"step":2}\n')
    await cutBack(join(folder(), 'absent.jsonl'), 3)
  })
})
