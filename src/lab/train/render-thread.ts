// A thread that turns conversations into tokens. It opens the text of the model itself: a tokenizer cannot be sent to a thread.
import { parentPort, workerData } from 'node:worker_threads'
import * as z from 'zod'
import { backendPlugins, openModelText } from '../../backends/index.ts'
import { ChatMessage, type Rendered } from '../../contracts/index.ts'
import { createRegistry, EvsysError, equipPlugin, keyedRandom, messageOf } from '../../kernel/index.ts'
import { loadModelPlugins } from '../../models/index.ts'

export const RenderStart = z.strictObject({
  /** Kind of a built-in renderer. */
  renderer: z.string(),
  model: z.string(),
  arch: z.string().optional(),
})
export type RenderStart = z.infer<typeof RenderStart>

const Asked = z.strictObject({ request: z.int(), conversations: z.array(z.array(ChatMessage)) })
export type Asked = z.input<typeof Asked>

export type Answered = { request: number } & ({ rendered: Rendered[] } | { error: string })

async function openRenderer({ renderer, model, arch }: RenderStart) {
  const registry = createRegistry()
  for (const plugin of [...backendPlugins, ...(await loadModelPlugins())])
    registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  const { plugin, context } = equipPlugin(
    'renderer',
    { kind: renderer, params: {} },
    {
      registry,
      signal: new AbortController().signal,
      random: (...path) => keyedRandom(0, ...path),
      log: () => {},
      secret(name) {
        throw new EvsysError('SECRET_MISSING', `the secret ${name} is not used to render`)
      },
    },
  )
  return plugin.open({ ...context, ...(await openModelText(arch, model)) })
}

const opening = openRenderer(RenderStart.parse(workerData))
opening.catch(() => {}) // told with the first answer

parentPort?.on('message', async (message: unknown) => {
  const { request, conversations } = Asked.parse(message)
  const answer = (body: { rendered: Rendered[] } | { error: string }) =>
    parentPort?.postMessage({ request, ...body } satisfies Answered)
  try {
    const renderer = await opening
    answer({ rendered: conversations.map((messages) => renderer.conversation(messages)) })
  } catch (error) {
    answer({ error: messageOf(error) })
  }
})
