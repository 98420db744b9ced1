// The preview of what a run was trained on. Kept in the folder of the run, so that it can be shown when data, plugins and model are gone.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DataPreview, type Datum, type TokenExample, type Tokenizer } from '../contracts/index.ts'
import { fileError, ifPresent, readForeignFile, writeFileAtomic } from '../kernel/index.ts'
import type { RowManifest } from './cache/open-rows.ts'

/** Examples of the first batch that are kept. */
const mostExamples = 3

const mostBytes = 64 * 1024 * 1024

interface PreviewWriter {
  /** Rows were loaded. Of several datasets the first is shown. */
  loaded(manifest: RowManifest): Promise<void>
  /** A batch is about to be trained on; the first one is shown. */
  batch(data: readonly Datum[], tokenizer: Tokenizer): void
}

/** Writes the preview of a run into its folder. */
export function createPreviewWriter(runDir: string): PreviewWriter {
  let preview: DataPreview | undefined
  return {
    async loaded({ rows, hash, lineage, before, after }) {
      if (preview !== undefined) return
      const { source, transforms } = lineage
      preview = {
        version: 1,
        rows,
        hash,
        source: { kind: source.kind, rows: source.rows },
        transforms: transforms.map(({ kind, rows: left }) => ({ kind, rows: left })),
        before,
        after,
        examples: [],
      }
      const path = previewFile(runDir)
      await mkdir(dirname(path), { recursive: true })
      await writeFileAtomic(path, textOf(preview))
    },
    // At once and not later: the batch belongs to the algorithm, which may change it after the step.
    batch(data, tokenizer) {
      if (preview === undefined || preview.examples.length > 0 || data.length === 0) return
      preview.examples = data.slice(0, mostExamples).map((datum) => tokenExample(datum, tokenizer))
      const path = previewFile(runDir)
      try {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(`${path}.part`, textOf(preview))
        renameSync(`${path}.part`, path)
      } catch (cause) {
        throw fileError('write', path, cause)
      }
    },
  }
}

/** The preview of a run; undefined where it has none, such as one that trains on no data. */
export async function readPreview(runDir: string): Promise<DataPreview | undefined> {
  const path = previewFile(runDir)
  const text = await ifPresent('read', path, async () =>
    new TextDecoder().decode(await readForeignFile(path, mostBytes)),
  )
  if (text === undefined) return undefined
  try {
    return DataPreview.parse(JSON.parse(text))
  } catch {
    return undefined // of another version of evsys
  }
}

function previewFile(runDir: string): string {
  return join(runDir, 'logs', 'data', 'preview.json')
}

function textOf(preview: DataPreview): string {
  return `${JSON.stringify(preview, null, 2)}\n`
}

// One example of a batch as people read it: its tokens in order, each with its text and its weight in the loss.
/** Tokens that are shown of an example. */
const most = 512

/** Position t predicts target t, so the sequence is the first input and then the targets, and a target has the weight of its position. */
function tokenExample({ tokens, lossInputs }: Datum, tokenizer: Tokenizer): TokenExample {
  const targets = lossInputs.target_tokens?.data ?? tokens.subarray(1)
  const given = lossInputs.weights ?? lossInputs.mask ?? lossInputs.advantages
  const all = [...tokens.subarray(0, 1), ...Array.from(targets, Number)]
  const weights = [0, ...Array.from(targets, (_, at) => Number(given?.data[at] ?? 1))]
  const shown = all.slice(0, most)
  return {
    tokens: shown,
    text: shown.map((token) => tokenizer.decode(Int32Array.of(token))),
    weights: weights.slice(0, most).map((weight) => (Number.isFinite(weight) ? weight : 0)),
    length: all.length,
  }
}
