// What other rooms may use of backends.
export { byteTokenizer } from './mock/byte-tokenizer.ts'
export { mockBackend } from './mock/mock-backend.ts'
export { plainChat } from './mock/plain-chat.ts'
export { backendPlugins } from './plugins.ts'
