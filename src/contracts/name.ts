// Names of experiments, arms and benchmarks. They become folder names and metric prefixes on every platform.
import * as z from 'zod'

export const Name = z
  .string()
  .min(1)
  .max(200)
  .regex(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it keeps out
    /^(?![.\s])[^/\\:*?"<>|\x00-\x1f\x7f]*[^/\\:*?"<>|\x00-\x1f\x7f.\s]$/,
    'a name is a folder name: no / \\ : * ? " < > | or control characters, no dot or space at either end',
  )
export type Name = z.infer<typeof Name>
