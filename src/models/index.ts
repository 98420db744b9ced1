// What other rooms may use of models.

export { type ChatTemplateOptions, openChatTemplate } from './chat/chat-template-renderer.ts'
export { type DownloadedModel, type DownloadModelOptions, downloadModel } from './folders/download-model.ts'
export {
  cacheFolder,
  type ModelFolder,
  type ResolveModelOptions,
  resolveModelFolder,
} from './folders/resolve-model-folder.ts'
export type { CassetteMode, CassetteSpec } from './inference/cassette.ts'
export {
  clientSecrets,
  meterUsage,
  modelClient,
  type OpenClientOptions,
  openInferenceClient,
  type TotalUsage,
} from './inference/open-inference-client.ts'
export { costOf, findPrice } from './inference/prices.ts'
export { type ModelTokenizer, openTokenizer } from './tokenizer/open-tokenizer.ts'
export { createTextStream, type TextStream } from './tokenizer/token-bytes.ts'
export { readChatTemplate } from './tokenizer/tokenizer-file.ts'

/** The built-in plugins of this room: renderers and clients. Loaded when asked for: engines and trainers do without. */
export async function loadModelPlugins() {
  return (await import('./plugins.ts')).modelPlugins
}

/** Opens a renderer of this room by its name. */
export const openNamedRenderer: typeof import('./plugins.ts').openNamedRenderer = async (...args) =>
  (await import('./plugins.ts')).openNamedRenderer(...args)
