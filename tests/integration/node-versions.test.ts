// The packed program on every supported Node, the oldest included. The unit suite on each of them is `npm run test:nodes`.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { floorVersion, installNode, suiteVersions } from '../../scripts/node-versions.mjs'
import { mustRun } from '../run-command.ts'
import { installedProgram } from './packed.ts'

const folder = mkdtempSync(join(tmpdir(), 'evsys-nodes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each([floorVersion, ...suiteVersions])('on Node %s', (version) => {
  it('the packed program makes a project and validates it deeply (REPO-5)', async () => {
    const bin = installNode(version)
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
    const run = (cwd: string, ...args: string[]) =>
      mustRun(join(bin, 'node'), [installedProgram(), ...args], { cwd, env })
    expect(await mustRun(join(bin, 'node'), ['--version'], { cwd: folder })).toBe(`v${version}\n`)
    const project = join(folder, `project-${version}`)
    await run(folder, 'init', project)
    const report = JSON.parse(await run(project, 'validate', 'experiments/quickstart/config.yaml', '--deep', '--json'))
    expect(report).toMatchObject({ valid: true, deep: true, n_runs: 6 })
    expect(await run(project, 'list', 'verifiers')).toContain('src/plugins/intent-match.ts')
  })
})
