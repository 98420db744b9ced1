// What other rooms may use of models.

export { openChatTemplate } from './chat/chat-template-renderer.ts'
export { cacheFolder, resolveModelFolder } from './folders/resolve-model-folder.ts'
export {
  clientAddresses,
  clientSecrets,
  meterUsage,
  modelClient,
  namedModel,
  openInferenceClient,
  type TotalUsage,
} from './inference/open-inference-client.ts'
export { costOf, findPrice } from './inference/prices.ts'
export { openTokenizer } from './tokenizer/open-tokenizer.ts'
export { readChatTemplate } from './tokenizer/tokenizer-file.ts'

/** The built-in plugins of this room: renderers and clients. Loaded when asked for: engines and trainers do without. */
export async function loadModelPlugins() {
  return (await import('./plugins.ts')).modelPlugins
}

/** Opens a renderer of this room by its name. */
export const openNamedRenderer: typeof import('./plugins.ts').openNamedRenderer = async (...args) =>
  (await import('./plugins.ts')).openNamedRenderer(...args)
