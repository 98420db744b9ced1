// The README's two commands on a machine that has Node and git. By default the last commit is cloned; EVSYS_FRESH=tree takes
// the working tree instead, to try changes before they are committed.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyTree } from '../../scripts/pack-tree.mjs'
import { readmeCommands } from '../readme.ts'
import { type CommandResult, runCommand } from '../run-command.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'evsys-fresh-'))
const clone = join(folder, 'evsys')
const bin = join(folder, 'bin')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  if (process.env.EVSYS_FRESH === 'tree') commitTree()
  // The repository may belong to another user than the one who tests, in a container for example.
  else execFileSync('git', ['-c', 'safe.directory=*', 'clone', '--quiet', root, clone], { stdio: 'inherit' })
  mkdirSync(bin)
  // sh is what npm starts scripts with, env what starts node in their first line: neither is the user's business.
  for (const program of ['node', 'npm', 'npx', 'git', 'sh', 'env']) symlinkSync(which(program), join(bin, program))
})

function commitTree(): void {
  copyTree(clone)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: clone, stdio: 'inherit' })
  git('init', '--quiet')
  git('add', '--all')
  git('-c', 'user.name=tests', '-c', 'user.email=tests@localhost', 'commit', '--quiet', '--message', 'working tree')
}

function which(program: string): string {
  if (program === 'node') return process.execPath
  for (const entry of (process.env.PATH ?? '').split(delimiter)) {
    try {
      return realpathSync(join(entry, program))
    } catch {}
  }
  throw new Error(`${program} is not on the PATH`)
}

/** Runs a line of the README in the clone, as on a user's machine: not in CI, with nothing else on the PATH. */
async function runLine(line: string): Promise<CommandResult> {
  const { CI, VITEST, NODE_ENV, ...inherited } = process.env
  const own = Object.entries(inherited).filter(([name]) => !/^(npm_|VITEST_|EVSYS_)/.test(name))
  return await runCommand(join(bin, 'sh'), ['-c', line], {
    cwd: clone,
    env: { ...Object.fromEntries(own), PATH: bin, EVSYS_TEST_SCALE: 'brief' },
  })
}

describe('on a fresh clone with only Node and git on the PATH', () => {
  const { quickstart, tests } = readmeCommands(readFileSync(join(root, 'README.md'), 'utf8'))

  it('finds no compiler and no Python (REPO-2)', async () => {
    const found = await runLine(
      'for p in cc gcc g++ clang make cmake python python3 bash; do command -v $p; done; true',
    )
    expect(found.stdout).toBe('')
  })

  it('the quickstart command installs and reaches a first result (REPO-2, REPO-3)', async () => {
    const { status, stdout, stderr } = await runLine(quickstart)
    expect(status, `${stdout}\n${stderr}`).toBe(0)
    expect(stdout).toContain('evsys validate')
  })

  // The whole suite inside one test: its limit is there to end a hang.
  it('the test command installs and passes (REPO-2, REPO-3)', { timeout: 2_400_000 }, async () => {
    const { status, stdout, stderr } = await runLine(tests)
    expect(status, `${stdout}\n${stderr}`).toBe(0)
    expect(stripVTControlCharacters(stdout)).toMatch(/Tests.* \d+ passed/)
  })

  it('leaves nothing that git would commit (REPO-3)', async () => {
    expect((await runLine('git status --porcelain')).stdout).toBe('')
  })
})
