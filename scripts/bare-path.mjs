// A folder that, as the whole PATH, gives a machine with Node and git and nothing else: no compiler, no Python, no bash.

import { mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

// sh is what npm starts scripts with, env what starts node in their first line: neither is the user's business.
const programs = ['node', 'npm', 'npx', 'git', 'sh', 'env']

/**
 * Fills a folder with links to those programs and returns its path.
 * @param {string} folder
 */
export function makeBarePath(folder) {
  const bin = resolve(folder)
  rmSync(bin, { recursive: true, force: true })
  mkdirSync(bin, { recursive: true })
  for (const program of programs) symlinkSync(which(program), join(bin, program))
  return bin
}

/** @param {string} program */
function which(program) {
  if (program === 'node') return process.execPath
  for (const entry of (process.env.PATH ?? '').split(delimiter)) {
    try {
      return realpathSync(join(entry, program))
    } catch {}
  }
  throw new Error(`${program} is not on the PATH`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(makeBarePath(process.argv[2] ?? ''))
