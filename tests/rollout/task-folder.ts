// Task folders for tests, written from a few lines.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type LoadedTask, loadTaskFolder } from '../../src/rollout/index.ts'

/** Files by path; scripts become executable. */
export function writeTaskFolder(dir: string, files: Readonly<Record<string, string>>): string {
  const all: Record<string, string> = {
    'task.toml': 'schema_version = "1.4"\n',
    'instruction.md': 'Do it.\n',
    'environment/Dockerfile': 'FROM ubuntu:24.04\nWORKDIR /app\n',
    ...files,
  }
  for (const [path, text] of Object.entries(all)) {
    const file = join(dir, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 })
  }
  return dir
}

export async function taskFolder(dir: string, files: Readonly<Record<string, string>>): Promise<LoadedTask> {
  return loadTaskFolder(writeTaskFolder(dir, files))
}
