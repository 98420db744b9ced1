// A text as the splits of a language task: nine tenths to train on, then val, then test. Each split is one file of bytes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param {Buffer} text
 * @param {string} out
 */
export function writeTextSplits(text, out) {
  const val = Math.floor(text.length * 0.9)
  const test = Math.floor(text.length * 0.95)
  writeFileSync(join(out, 'train', 'text.bin'), text.subarray(0, val))
  writeFileSync(join(out, 'val', 'text.bin'), text.subarray(val, test))
  writeFileSync(join(out, 'test', 'text.bin'), text.subarray(test))
}
