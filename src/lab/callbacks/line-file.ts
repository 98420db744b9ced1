// A JSON Lines file that grows step by step and can be cut back: what an interrupted attempt wrote beyond the checkpoint that a
// run goes on from is written again, so it is taken out first.
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode, writeFileAtomic } from '../../kernel/index.ts'

export async function appendLine(file: string, value: unknown): Promise<void> {
  const line = `${JSON.stringify(value)}\n`
  try {
    await appendFile(file, line)
  } catch (cause) {
    if (systemCode(cause) !== 'ENOENT') throw cause
    await mkdir(dirname(file), { recursive: true })
    await appendFile(file, line)
  }
}

/** Keeps the lines of steps before `step`. A torn last line goes. */
export async function cutBack(file: string, step: number): Promise<void> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return
    throw cause
  }
  const kept = text.split('\n').filter((line) => isBefore(line, step))
  await writeFileAtomic(file, kept.map((line) => `${line}\n`).join(''))
}

function isBefore(line: string, step: number): boolean {
  try {
    const row: unknown = JSON.parse(line)
    return typeof row === 'object' && row !== null && 'step' in row && typeof row.step === 'number' && row.step < step
  } catch {
    return false
  }
}
