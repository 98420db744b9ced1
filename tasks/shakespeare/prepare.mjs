import { readFileSync } from 'node:fs'
import { writeTextSplits } from '../shared/text-splits.mjs'

/** @param {{ source: string, out: string }} options */
export default function prepare({ source, out }) {
  writeTextSplits(readFileSync(source), out)
}
