import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mustRun, runCommand } from '../run-command.ts'
import { installedOnce, packOnce } from './packed.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const consumer = installedOnce()

describe('the source', () => {
  it('holds no unused file, export or dependency (REPO-4)', async () => {
    await mustRun(process.execPath, ['node_modules/knip/bin/knip.js'], { cwd: root })
  })
})

describe('the packed tarball', () => {
  it('passes publint and attw (REPO-4)', async () => {
    await mustRun(process.execPath, ['scripts/check-package.mjs', packOnce()], { cwd: root })
  })

  it('holds the program, the types, the licence, what an agent reads and nothing else (REPO-4, USE-294)', async () => {
    const files = await tarballFiles()
    const strange = files.filter(
      (file) =>
        !/^(package\.json|(README|AGENTS)\.md|LICENSE|docs\/.+\.md|examples\/.+\.(md|ts|mjs|py|yaml|json|jsonl|toml|sh|txt|csv)|bin\/evsys\.js|dist\/.+|models\/(?!recipe\/).+|native\/.+|tasks\/.+\.(mjs|cjs|py|md|json|yaml)|templates\/.+|python\/.+\.py)$/.test(
          file,
        ),
    )
    const compiled = files.filter((file) => file.startsWith('dist/'))
    expect(strange).toEqual([])
    const licences = 'dist/third-party-licences.txt'
    const others = compiled.filter((file) => !/\.(d\.ts|js)$/.test(file) || /\.test(-d)?\./.test(file))
    expect(others).toEqual([licences])
    expect(files).toEqual(
      expect.arrayContaining([
        ...['package.json', 'README.md', 'LICENSE', 'bin/evsys.js', 'dist/index.js', 'AGENTS.md'],
        ...['docs/README.md', 'docs/reference/experiment-file.md', 'examples/tool-router/README.md'],
      ]),
    )
  })

  it('stays small (REPO-4)', () => {
    expect(statSync(packOnce()).size).toBeLessThan(12_000_000) // most of it are the weights of evsys/tiny
  })
})

async function tarballFiles(): Promise<string[]> {
  const { stdout } = await runCommand('tar', ['-tzf', packOnce()], { cwd: root })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^package\//, ''))
}

describe('the installed package', () => {
  it('brings few packages (REPO-4)', () => {
    const lock = JSON.parse(readFileSync(join(consumer, 'package-lock.json'), 'utf8'))
    expect(Object.keys(lock.packages).length).toBeLessThanOrEqual(64)
  })

  it.each(['evsys', 'evsys/contracts', 'evsys/plugin', 'evsys/testing', 'evsys/tinker'])(
    'imports as %s (REPO-4)',
    async (name) => {
      const script = `const names = Object.keys(await import('${name}')); if (names.length === 0) process.exit(1)`
      await mustRun(process.execPath, ['--input-type=module', '-e', script], { cwd: consumer })
    },
  )

  it('keeps its inner files to itself (REPO-4)', async () => {
    const script = `await import('evsys/dist/kernel/index.js')`
    const { status, stderr } = await runCommand(process.execPath, ['--input-type=module', '-e', script], {
      cwd: consumer,
    })
    expect(status).toBe(1)
    expect(stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })

  it('gives an importer its types (REPO-4)', async () => {
    const options = { module: 'nodenext', strict: true, noEmit: true, types: [] }
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['use.ts'] }))
    writeFileSync(join(consumer, 'use.ts'), consumerSource)
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    await mustRun(process.execPath, [tsc, '-p', consumer], { cwd: consumer })
  })

  it('runs as a program (REPO-4)', async () => {
    const stdout = await mustRun('npx', ['--no-install', 'evsys', '--version'], { cwd: consumer })
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/)
  })
})

// Library checks stay on: the shipped declarations have to compile for users who do not skip them.
const consumerSource = `
import * as evsys from 'evsys'
import { ErrorCode, type ErrorRecord } from 'evsys/contracts'
import { defineTransform, z } from 'evsys/plugin'

export const upper = defineTransform({
  kind: 'upper',
  summary: 'Turns one field to upper case.',
  params: z.strictObject({ key: z.string().default('query') }),
  async *run(rows, { params }) {
    const key: string = params.key
    // @ts-expect-error params holds only what the schema declares
    params.other
    for await (const row of rows) yield { ...row, [key]: String(row[key]).toUpperCase() }
  },
})

const record: ErrorRecord = { code: 'CONFIG_INVALID', message: 'm' }
// @ts-expect-error codes are a closed set
const wrong: ErrorRecord = { code: 'NO_SUCH_CODE', message: 'm' }
export default [upper]
export const used = [evsys, ErrorCode, record, wrong]
`
