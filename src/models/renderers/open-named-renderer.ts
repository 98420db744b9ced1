import type { OpenRenderer, Renderer, Tokenizer } from '../../contracts/index.ts'
import { keyedRandom, unknownKind } from '../../kernel/index.ts'
import { chatTemplate } from '../chat/chat-template.ts'
import { namedRenderers } from './plugins.ts'

/** Opens a renderer of this room by its name, with the default params. An unknown name is an error with what was probably meant. */
export async function openNamedRenderer(
  kind: string,
  model: { readonly tokenizer: Tokenizer; readonly chatTemplate?: string },
): Promise<OpenRenderer> {
  const known: readonly Renderer[] = [chatTemplate, ...namedRenderers]
  const plugin = known.find((each) => each.kind === kind)
  if (plugin === undefined) {
    throw unknownKind(
      'renderer',
      kind,
      known.map((each) => each.kind),
    )
  }
  return plugin.open({
    params: plugin.params.parse({}),
    signal: new AbortController().signal,
    random: (...path) => keyedRandom(0, ...path),
    log: () => {},
    secret: () => '',
    ...model,
  })
}
