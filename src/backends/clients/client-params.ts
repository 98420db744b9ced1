// What clients of a training service take beside its address.
import * as z from 'zod'
import { TokenPrice } from '../../contracts/index.ts'

export const samplerParams = {
  model: z.string().min(1).describe('The base model.'),
  checkpoint: z
    .string()
    .startsWith('tinker://')
    .optional()
    .describe('Path of trained weights to sample from; absent: the base model.'),
  renderer: z.string().min(1).optional().describe('Chat renderer; absent: the model’s own template.'),
  system_prompt: z
    .string()
    .min(1)
    .optional()
    .describe('Put before every conversation, ahead of its own system message.'),
  price: TokenPrice.optional().describe('Dollars for a million tokens.'),
}
