// The environment `local`: a sandbox of this machine. Commands see the programs of the machine, read-only, over a root folder of
// the trial; /logs is mounted, /tests is there once it is uploaded.
import * as z from 'zod'
import type { Mount, OpenEnvironment, Sandbox } from '../../contracts/index.ts'
import { Level } from '../../contracts/index.ts'
import { defineEnvironment } from '../../kernel/index.ts'
import { openSandbox } from '../../sandbox/index.ts'
import { environmentDefinition } from './environment-definition.ts'
import { refusal } from './environment-error.ts'
import { limitParams } from './environment-limits.ts'
import { openLocalEnvironment } from './open-local-environment.ts'

const params = z.strictObject({
  level: Level.exclude(['process']).optional().describe('Level of the sandbox; absent: the strongest that works here.'),
  network: z.boolean().default(false).describe('Lets a task that allows the network reach it; else no command does.'),
  ...limitParams,
})

export type LocalParams = z.output<typeof params>

/** How the sandbox of an environment is opened. */
export type OpenSandbox = (options: {
  stateDir: string
  mounts: readonly Mount[]
  network: boolean
}) => Promise<Sandbox>

/** Task folders in the sandbox of this machine. */
export const local = defineEnvironment({
  kind: 'local',
  summary: 'A sandbox of this machine: its programs, read-only, over files of the trial; no network unless allowed.',
  params,
  needs: { sandbox: true },
  open: async ({ folder, stateDir, params: given, log, signal }): Promise<OpenEnvironment> => {
    if (folder === undefined) throw refusal('local', 'it is a row without a folder', 'use the environment `inline`.')
    const definition = await environmentDefinition(folder, process.env)
    return await openLocalEnvironment({
      definition,
      stateDir,
      params: given,
      log: (text) => log('warn', text),
      signal,
      openSandbox: (options) =>
        openSandbox({ ...options, ...(given.level === undefined ? {} : { level: given.level }) }),
    })
  },
})
