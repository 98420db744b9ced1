// The chapters of the package in their order, as one text.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeTextSplits } from '../shared/text-splits.mjs'

/** @param {{ source: string, out: string }} options */
export default function prepare({ source, out }) {
  const read = (file) => JSON.parse(readFileSync(join(source, 'data', file), 'utf8'))
  const chapters = read('file_list.json').map((file) => read(file.replace('txt', 'json')))
  const text = chapters.map(({ title, text: body }) => `${title}\n\n${body}\n\n`).join('')
  writeTextSplits(Buffer.from(text), out)
}
