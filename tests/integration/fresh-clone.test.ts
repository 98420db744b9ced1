// The README's commands on a machine that has Node and git. By default the last commit is cloned; EVSYS_FRESH=tree takes the
// working tree instead, to try changes before they are committed. The second command, which runs the whole suite, is the first
// stage of .ci/run, on the clone that CI makes and the same bare PATH; here it runs when EVSYS_FRESH_SUITE=yes asks for it. That
// stage has also done the one install that both commands begin with: with EVSYS_FRESH=installed its packages are linked, not fetched again.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBarePath } from '../../scripts/bare-path.mjs'
import { copyTree } from '../../scripts/pack-tree.mjs'
import { readmeCommands } from '../readme.ts'
import { type CommandResult, runCommand } from '../run-command.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'evsys-fresh-'))
const clone = join(folder, 'evsys')
const bin = join(folder, 'bin')
const isInstalled = process.env.EVSYS_FRESH === 'installed'
const install = 'npm ci --ignore-scripts'
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  if (process.env.EVSYS_FRESH === 'tree') commitTree()
  // The repository may belong to another user than the one who tests, in a container for example.
  else execFileSync('git', ['-c', 'safe.directory=*', 'clone', '--quiet', root, clone], { stdio: 'inherit' })
  makeBarePath(bin)
  if (isInstalled) linkPackages()
})

/** Links where both folders are on one disk: nothing writes into packages. */
function linkPackages(): void {
  const from = join(root, 'node_modules')
  const to = join(clone, 'node_modules')
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'pipe' })
  } catch {
    rmSync(to, { recursive: true, force: true })
    execFileSync('cp', ['-a', from, to], { stdio: 'inherit' })
  }
}

function commitTree(): void {
  copyTree(clone)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: clone, stdio: 'inherit' })
  git('init', '--quiet')
  git('add', '--all')
  git('-c', 'user.name=tests', '-c', 'user.email=tests@localhost', 'commit', '--quiet', '--message', 'working tree')
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

  it('the quickstart command installs, trains a model and reaches a verdict (REPO-2, REPO-3, MOD-33)', async () => {
    expect(quickstart).toContain(`${install} && `)
    const { status, stdout, stderr } = await runLine(
      isInstalled ? quickstart.replace(`${install} && `, '') : quickstart,
    )
    expect(status, `${stdout}\n${stderr}`).toBe(0)
    expect(stripVTControlCharacters(stdout)).toMatch(/^supported: quickstart /m)
    const shown = await runLine('cd demo && node ../bin/evsys.js history --json')
    const [{ experiment_id }] = JSON.parse(shown.stdout)
    const { stdout: record } = await runLine(`cd demo && node ../bin/evsys.js show ${experiment_id}`)
    expect(record).toMatch(/^engine +cpu-wasm-\S+, \d+ threads?, [\d.]+ GFLOP\/s$/m) // there is no compiler
  })

  // The whole suite inside one test: its limit is there to end a hang.
  const name = 'the test command installs and passes (REPO-2, REPO-3)'
  if (process.env.EVSYS_FRESH_SUITE === 'yes') {
    it(name, { timeout: 2_400_000 }, async () => {
      const { status, stdout, stderr } = await runLine(tests)
      expect(status, `${stdout}\n${stderr}`).toBe(0)
      expect(stripVTControlCharacters(stdout)).toMatch(/Tests.* \d+ passed/)
    })
  } else if (!process.env.CI) it.skip(`${name} [EVSYS_FRESH_SUITE=yes runs it, and so does .ci/run]`)

  it('leaves nothing that git would commit (REPO-3)', async () => {
    expect((await runLine('git status --porcelain')).stdout).toBe('')
  })
})
