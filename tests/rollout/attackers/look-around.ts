// What a job of attackers must leave as it was: folders beside it, and places of the machine that they try to write to.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Every file and folder below `dir`: its kind, rights and content. */
export function lookAt(dir: string): Record<string, string> {
  const seen: Record<string, string> = {}
  for (const path of ['', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })].sort()) {
    const found = lstatSync(join(dir, path))
    const content = found.isFile()
      ? createHash('sha256')
          .update(readFileSync(join(dir, path)))
          .digest('hex')
      : ''
    seen[join(dir, path)] = `${found.mode.toString(8)} ${found.uid} ${found.mtimeMs} ${content}`
  }
  return seen
}

const places = ['/', '/etc', '/usr', '/usr/bin', '/usr/local/bin', '/tmp', '/var/tmp', '/dev/shm', '/opt', homedir()]
const names = [
  'reward.txt',
  'reward.json',
  'forged',
  'big',
  'one',
  'evil.so',
  'out',
  'tmp.result',
  'answer',
  'tests',
  'logs',
]

/** Files of this machine that have a name which attackers use. */
export function plantedFiles(): string[] {
  return places.flatMap((place) => names.map((name) => join(place, name))).filter((path) => existsSync(path))
}

/** Files below `dir` that hold `text`. */
export function filesWith(dir: string, text: string): string[] {
  if (!existsSync(dir)) return []
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
}
