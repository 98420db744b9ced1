// The environment of tasks that are answered in words: there is nothing in it.
import type { OpenEnvironment } from '../../contracts/index.ts'
import { defineEnvironment, EvsysError } from '../../kernel/index.ts'
import { refusal } from './environment-definition.ts'

/** No files, no commands, no process: for tasks that are a row. */
export const inline = defineEnvironment({
  kind: 'inline',
  summary: 'No files and no commands: for tasks that are answered in words.',
  open: async ({ folder }): Promise<OpenEnvironment> => {
    if (folder !== undefined) {
      throw refusal('inline', 'it is a folder with files', 'use the environment `local` or `docker`.')
    }
    return nothing
  },
})

const unable = async (): Promise<never> => {
  throw new EvsysError('ENVIRONMENT_REFUSED', 'the environment "inline" has no files and runs no commands', {
    fix: 'answer in words, or use the environment `local` or `docker`.',
  })
}

const nothing: OpenEnvironment = Object.freeze({
  // Nothing is shut in, since nothing runs: the least that can be said.
  level: 'process',
  workdir: '/',
  exec: unable,
  spawn: unable,
  read: unable,
  write: unable,
  upload: unable,
  download: unable,
  empty: unable,
  killAll: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
})
