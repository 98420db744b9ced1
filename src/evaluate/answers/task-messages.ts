import type { Benchmark, ChatMessage } from '../../contracts/index.ts'

/**
 * The conversation that a task of a benchmark begins. Every model that is scored is asked in these words, on validation and on
 * test: checkpoints in training, the untrained model, models behind an API.
 */
export function taskMessages(instruction: string, { chat_template }: Pick<Benchmark, 'chat_template'>): ChatMessage[] {
  const { system_prompt, user_template = '{prompt}' } = chat_template
  const content = user_template.split('{prompt}').join(instruction)
  return [
    ...(system_prompt === undefined ? [] : [{ role: 'system' as const, content: system_prompt }]),
    { role: 'user', content },
  ]
}
