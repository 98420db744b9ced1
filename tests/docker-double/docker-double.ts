// A docker program for a test: a script that hands its arguments to docker.mjs with a state folder of its own.
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./docker.mjs', import.meta.url))

/** The double in `folder`, an empty folder. */
export function dockerDouble(folder: string) {
  const program = join(folder, 'docker')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' '${folder}' "$@"\n`)
  chmodSync(program, 0o755)
  const calls = (): string[][] => {
    const file = join(folder, 'calls.jsonl')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
  }
  const containers = (): string[] => {
    const place = join(folder, 'containers')
    return existsSync(place) ? readdirSync(place) : []
  }
  return {
    program,
    calls,
    callsOf: (command: string) => calls().filter(([first]) => first === command),
    containers,
    rootOf: (name: string) => join(folder, 'containers', name, 'root'),
  }
}
