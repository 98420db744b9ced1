// What other rooms may use of models.
export { type ModelTokenizer, openTokenizer } from './tokenizer/open-tokenizer.ts'
export { createTextStream, type TextStream } from './tokenizer/text-stream.ts'
