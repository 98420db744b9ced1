// What other rooms may use of data.
import { datasetSource, folderSource, hfDatasetSource } from './sources/dataset-sources.ts'
import { csvSource, inMemorySource, jsonlSource, jsonSource, noSource, parquetSource } from './sources/file-sources.ts'
import { inMemoryStore, localStore } from './stores/stores.ts'
import { cap, sort } from './transforms/arrange-rows.ts'
import { fewShot, jsonlToChat, mapTemplate, systemPrompt } from './transforms/chat-rows.ts'
import { dedupe } from './transforms/dedupe.ts'
import { mix } from './transforms/mix.ts'
import { dropReasoning, keepReasoning } from './transforms/reasoning.ts'
import { filter, identity, sample, shuffle, split } from './transforms/select-rows.ts'
import { toHarborTask, toPromptExample } from './transforms/to-tasks.ts'

export {
  checkedRowsFolder,
  collectCache,
  dropEntry,
  findEntry,
  leakCacheFolder,
  rowCacheFolder,
  taskCacheFolder,
  tokenCacheFolder,
  touchEntry,
  writeEntry,
} from './cache/cache-entry.ts'
export {
  isDamaged,
  type Lineage,
  type OpenRows,
  openCachedRows,
  openRows,
  type RowManifest,
} from './cache/open-rows.ts'
export { type RowCache, type RowRequest, sourceKind } from './cache/typed-rows.ts'
export { readCsv } from './files/read-csv.ts'
export { readJsonl } from './files/read-jsonl.ts'
export { type FoundLeaks, findLeaks, knownLeaks, type LeakTarget, leakOf } from './leaks/find-leaks.ts'
export { createLeakIndex, type LeakIndex } from './leaks/leak-index.ts'
export { createPreviewWriter, readPreview } from './preview.ts'
export { locationOf, nestedDeeperThan, placeOf, withPlace } from './rows/raw-row.ts'
export { parseRows, rowStream } from './rows/row-stream.ts'
export { requireStoredData } from './sources/dataset-sources.ts'
export { openNamedDatasets, type StoredDataset } from './sources/named-datasets.ts'
export { fetchStored } from './stores/stores.ts'
export { openTokenShards, type TokenShards } from './token-shards.ts'

const sources = [
  ...[jsonlSource, jsonSource, inMemorySource, csvSource, parquetSource, noSource],
  ...[folderSource, hfDatasetSource, datasetSource],
] as const
const rowTransforms = [
  identity,
  jsonlToChat,
  dedupe,
  filter,
  sample,
  shuffle,
  mapTemplate,
  mix,
  split,
  cap,
  sort,
] as const
const shapeTransforms = [dropReasoning, keepReasoning, systemPrompt, fewShot, toPromptExample, toHarborTask] as const

/** The built-in sources, stores and transforms. */
export const dataPlugins = [...sources, localStore, inMemoryStore, ...rowTransforms, ...shapeTransforms] as const
