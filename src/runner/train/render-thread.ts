// A thread that turns conversations into tokens. It opens the text of the model itself: a tokenizer cannot be sent to a thread.
import { backendPlugins, openModelText } from '../../backends/index.ts'
import { createRegistry, EvsysError, equipPlugin, keyedRandom, serve } from '../../kernel/index.ts'
import { loadModelPlugins } from '../../models/index.ts'
import { type RenderStart, renderProtocol } from './render-protocol.ts'

let opening: ReturnType<typeof openRenderer> | undefined

await serve(renderProtocol, () => ({
  async open(start) {
    opening = openRenderer(start)
    await opening
    return null
  },
  async render(conversations) {
    const renderer = await opening
    if (renderer === undefined) throw new EvsysError('INTERNAL', 'the renderer is not open')
    return conversations.map((messages) => renderer.conversation(messages))
  },
}))

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
