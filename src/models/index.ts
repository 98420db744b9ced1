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
export { loadModelPlugins, openNamedRenderer } from './on-demand.ts'
export { openTokenizer } from './tokenizer/open-tokenizer.ts'
export { readChatTemplate } from './tokenizer/tokenizer-file.ts'
