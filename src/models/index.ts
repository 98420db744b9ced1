// What other rooms may use of models.
export { type BundledName, bundledModels, isBundled } from './bundled/bundled-models.ts'
export { type ChatTemplateOptions, openChatTemplate } from './chat/chat-template-renderer.ts'
export { readChatTemplate } from './chat/read-chat-template.ts'
export { type DownloadedModel, type DownloadModelOptions, downloadModel } from './folders/download-model.ts'
export { type ModelFolder, type ResolveModelOptions, resolveModelFolder } from './folders/resolve-model-folder.ts'
export { modelPlugins } from './plugins.ts'
export { type ModelTokenizer, openTokenizer } from './tokenizer/open-tokenizer.ts'
export { createTextStream, type TextStream } from './tokenizer/text-stream.ts'
