// What every client of an API takes. A client adds where its provider is and how it is paid.
import * as z from 'zod'
import { TokenPrice } from '../../contracts/index.ts'

/** Fields of a request that some models refuse. */
const OmittedField = z.enum(['temperature', 'top_p', 'top_k', 'seed', 'stop'])
export type OmittedField = z.infer<typeof OmittedField>

export const sharedClientParams = {
  model: z.string().min(1).describe('The model, as its provider names it.'),
  system_prompt: z
    .string()
    .min(1)
    .optional()
    .describe('Put before every conversation, ahead of its own system message.'),
  // Node itself gives up on an answer that has not begun after 300 seconds.
  timeout_s: z.number().gt(0).max(300).default(120).describe('How long one attempt may take.'),
  max_attempts: z.int().min(1).max(20).default(5).describe('How often a call is tried, where trying again may help.'),
  retry_wait_s: z
    .number()
    .min(0)
    .max(60)
    .default(0.5)
    .describe('Wait before the second attempt, doubled before each further one; a provider may ask for more.'),
  extra_headers: z.record(z.string(), z.string()).default({}).describe('Sent with every request.'),
  extra_body: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Put into the body of every request: options of the provider that have no param here.'),
  omit: z.array(OmittedField).default([]).describe('Fields that the model does not take; they are not sent.'),
  price: TokenPrice.optional().describe('Dollars for a million tokens; wins over the built-in table.'),
}

/** The shared params of any client of an API. */
export type SharedClientParams = z.infer<z.ZodObject<typeof sharedClientParams>>

/** Address of a provider. */
export function baseUrl(provider: string) {
  return z
    .url({ protocol: /^https?$/ })
    .default(provider)
    .describe('Address of the provider, or of a gateway that stands in for it.')
}

/** Key of a provider: a reference to a secret, so that no file holds it. */
export function apiKey(secret: string) {
  return z.string().min(1).default(`\${secret:${secret}}`).describe('The key; write it as a reference to a secret.')
}
