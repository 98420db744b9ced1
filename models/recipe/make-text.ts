// Text to train on: fetch, read, clean, drop duplicates, split by document, write with a manifest.
//   npx jiti models/recipe/make-text.ts [WORK]
// WORK (.tmp/model unless told) gets text/train.jsonl, text/heldout.jsonl and text/manifest.json; nothing of it is committed.
import { createHash } from 'node:crypto'
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { cleanParagraph } from './text/clean-paragraph.ts'
import { createDuplicateFilter } from './text/drop-duplicates.ts'
import { fetchSource } from './text/fetch-source.ts'
import { formats } from './text/formats.ts'
import { sources } from './text/sources.ts'

const work = process.argv[2] ?? '.tmp/model'
const minDocument = 200
// One document in forty is held out, chosen by the digest of its text: the same whatever else is in the corpus.
const heldoutShare = 1 / 40

mkdirSync(join(work, 'text'), { recursive: true })
const isDuplicate = createDuplicateFilter()
const out = {
  train: createWriteStream(join(work, 'text/train.jsonl')),
  heldout: createWriteStream(join(work, 'text/heldout.jsonl')),
}
const manifest: object[] = []
for (const source of sources) {
  const { folder, sha256 } = fetchSource(source, work)
  const counts = { documents: 0, train_bytes: 0, heldout_bytes: 0, dropped_paragraphs: 0, duplicate_paragraphs: 0 }
  for (const file of filesIn(folder).filter((path) => source.files.test(path))) {
    for (const document of formats[source.format](readText(join(folder, file)))) {
      const kept: string[] = []
      for (const raw of document) {
        const paragraph = cleanParagraph(raw)
        if (paragraph === undefined) counts.dropped_paragraphs++
        else if (isDuplicate(paragraph)) counts.duplicate_paragraphs++
        else kept.push(paragraph)
      }
      const text = kept.join('\n\n')
      if (text.length < minDocument) continue
      const split = isHeldOut(text) ? 'heldout' : 'train'
      counts.documents++
      counts[`${split}_bytes`] += Buffer.byteLength(text)
      out[split].write(`${JSON.stringify({ source: source.name, text })}\n`)
    }
  }
  const { from, name, version, licence } = source
  manifest.push({ from, name, version, licence, sha256, ...counts })
  console.log(
    `${name} ${version}: ${counts.documents} documents, ${((counts.train_bytes + counts.heldout_bytes) / 1e6).toFixed(2)} MB`,
  )
}
for (const stream of Object.values(out)) await new Promise<void>((done) => stream.end(done))
const files = ['train', 'heldout'].map((split) => {
  const bytes = readFileSync(join(work, `text/${split}.jsonl`))
  return { file: `${split}.jsonl`, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
})
writeFileSync(join(work, 'text/manifest.json'), `${JSON.stringify({ files, sources: manifest }, null, 2)}\n`)

function isHeldOut(text: string): boolean {
  return createHash('sha256').update(text).digest().readUInt32BE() < heldoutShare * 2 ** 32
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  return paths.sort()
}

function readText(path: string): string {
  const bytes = readFileSync(path)
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
  return (isPacked ? gunzipSync(bytes) : bytes).toString('utf8').replaceAll('\r\n', '\n')
}
