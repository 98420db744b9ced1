// What the loop uses of proposing besides the files of its own names.
export { usageOfError } from './llm/proposal-error.ts'
