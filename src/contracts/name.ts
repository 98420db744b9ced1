// What many schemas are made of, and names of experiments, arms and benchmarks: those become folder names and metric prefixes on
// every platform.
import * as z from 'zod'

// Separators and wildcards of some file system; control characters; halves of surrogate pairs, which no file system keeps;
// line separators and text direction marks, which make a name look like another.
const WELL_FORMED = /^(?![.\s])(?!.*[.\s]$)[^/\\:*?"<>|\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+$/u

// Windows opens a device instead of a file under these names, whatever the extension. No flag `i`: JSON Schema has none.
const DEVICE =
  /^(?!(?:[Cc][Oo][Nn](?:[Ii][Nn]\$|[Oo][Uu][Tt]\$)?|[Pp][Rr][Nn]|[Aa][Uu][Xx]|[Nn][Uu][Ll]|(?:[Cc][Oo][Mm]|[Ll][Pp][Tt])[0-9¹²³])\s*(?:\.|$))/u

// File systems allow 255 bytes; a time stamp before and a seed behind must fit too.
const MAX_BYTES = 200

/** Text that is not empty. */
export const Text = z.string().min(1)

/** A whole number from 0 on. */
export const Count = z.int().min(0)

export const Name = z
  .string()
  .min(1)
  .max(MAX_BYTES)
  .regex(
    WELL_FORMED,
    'a name is a folder name: no / \\ : * ? " < > | or control characters, no dot or space at either end',
  )
  .regex(DEVICE, 'Windows keeps this name for a device')
  .refine(
    (name) => new TextEncoder().encode(name).length <= MAX_BYTES,
    `a name has at most ${MAX_BYTES} bytes in UTF-8`,
  )
export type Name = z.infer<typeof Name>
