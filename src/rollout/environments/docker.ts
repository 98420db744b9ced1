// The environment `docker`: a container of the user's own docker, with the image of the task. Nothing of this machine is mounted:
// files go in and out by `docker cp`, commands by `docker exec`.
import * as z from 'zod'
import type { OpenEnvironment } from '../../contracts/index.ts'
import { defineEnvironment } from '../../kernel/index.ts'
import { environmentDefinition } from './environment-definition.ts'
import { refusal } from './environment-error.ts'
import { limitParams } from './environment-limits.ts'
import { openDockerEnvironment } from './open-docker-environment.ts'

const params = z.strictObject({
  program: z
    .string()
    .min(1)
    .default('docker')
    .describe('Program that is called: docker, or one that takes its arguments.'),
  force_build: z
    .boolean()
    .default(false)
    .describe('Builds the Dockerfile also where the task names an image, or it is built.'),
  ...limitParams,
})

export type DockerParams = z.output<typeof params>

/** Task folders in containers. */
export const docker = defineEnvironment({
  kind: 'docker',
  summary: 'A container with the image of the task, by the docker program of this machine.',
  params,
  needs: { container: true },
  open: async ({ folder, stateDir, params: given, log, signal }): Promise<OpenEnvironment> => {
    if (folder === undefined) throw refusal('docker', 'it is a row without a folder', 'use the environment `inline`.')
    const definition = await environmentDefinition(folder, process.env)
    return await openDockerEnvironment({
      definition,
      stateDir,
      params: given,
      log: (text) => log('warn', text),
      signal,
    })
  },
})
