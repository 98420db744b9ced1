// `evsys serve`: a trainer for any client of the Tinker protocol, until it is interrupted.
import { once } from 'node:events'
import { join } from 'node:path'
import { type EngineKind, loadLocalTrainer } from '../../backends/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { projectOf } from '../project.ts'

export type ServeOptions = {
  readonly port?: number
  readonly host?: string
  readonly model?: readonly string[]
  readonly engine?: EngineKind
  readonly dir?: string
}

const usualPort = 10_600
const bundled = ['evsys/nano', 'evsys/tiny']
const loopback = ['127.0.0.1', '::1', 'localhost']

export async function serve(context: CommandContext, options: ServeOptions): Promise<ExitCode> {
  const { output, cwd, env, signal } = context
  const { port = usualPort, host = '127.0.0.1', model: models = bundled, engine = 'cpu' } = options
  const keys = (env.EVSYS_SERVE_KEYS ?? '').split(',').filter((key) => key !== '')
  if (keys.length === 0 && !loopback.includes(host)) {
    throw new EvsysError('CLI_USAGE', `serving on ${host} would let everybody in`, {
      fix: 'set EVSYS_SERVE_KEYS to one or more keys, separated by commas.',
    })
  }
  const project = (await projectOf(context)) ?? cwd
  const dir = options.dir ?? join(project, '.evsys', 'trainer')
  const { openLocalTrainer, serveTrainer } = await loadLocalTrainer()
  await context.holding('the trainer', async () => {
    await using trainer = await openLocalTrainer({
      ...{ engine, models, project, dir, keys },
      onNotice: (text) => output.notice(text),
    })
    await using server = await serveTrainer(trainer, { port, host })
    const key = keys.length === 0 ? 'tml-local' : 'one of EVSYS_SERVE_KEYS'
    output.result({ url: server.url, engine, models, dir }, () =>
      [
        `${output.colors.green('serving')} ${models.join(', ')} on ${output.colors.bold(server.url)} (engine ${engine})`,
        `  TINKER_BASE_URL=${server.url} TINKER_API_KEY=${key}`,
        `  OpenAI-compatible: ${server.url}/v1`,
      ].join('\n'),
    )
    if (!signal.aborted) await once(signal, 'abort')
  })
  return exitCodes.interrupted
}
