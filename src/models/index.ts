// What other rooms may use of models.
export { type BundledName, bundledModels, isBundled } from './bundled/bundled-models.ts'
export type { CassetteMode, CassetteSpec } from './cassettes/open-cassette.ts'
export { type ChatTemplateOptions, openChatTemplate } from './chat/chat-template-renderer.ts'
export { readChatTemplate } from './chat/read-chat-template.ts'
export { cacheFolder } from './folders/cache-folder.ts'
export { type DownloadedModel, type DownloadModelOptions, downloadModel } from './folders/download-model.ts'
export { type ModelFolder, type ResolveModelOptions, resolveModelFolder } from './folders/resolve-model-folder.ts'
export { meterUsage, type TotalUsage } from './inference/meter-usage.ts'
export { modelClient } from './inference/model-client.ts'
export { clientSecrets, type OpenClientOptions, openInferenceClient } from './inference/open-inference-client.ts'
export { costOf } from './prices/cost-of.ts'
export { findPrice } from './prices/find-price.ts'
export { type ModelTokenizer, openTokenizer } from './tokenizer/open-tokenizer.ts'
export { createTextStream, type TextStream } from './tokenizer/text-stream.ts'

/** The built-in plugins of this room: renderers and clients. Loaded when asked for: engines and trainers do without. */
export async function loadModelPlugins() {
  return (await import('./plugins.ts')).modelPlugins
}

/** Opens a renderer of this room by its name. */
export const openNamedRenderer: typeof import('./renderers/open-named-renderer.ts').openNamedRenderer = async (
  ...args
) => (await import('./renderers/open-named-renderer.ts')).openNamedRenderer(...args)
