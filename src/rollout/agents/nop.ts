import { defineAgent } from '../../kernel/index.ts'

/** Does nothing: tests that pass it test nothing. */
export const nop = defineAgent({
  kind: 'nop',
  summary: 'Does nothing: a task whose tests pass it tests nothing.',
  needs: { model: false },
  async run() {
    return { output: '' }
  },
})
