// What other rooms may use of data.
import { datasetSource, folderSource, hfDatasetSource } from './sources/dataset-sources.ts'
import { csvSource, inMemorySource, jsonlSource, jsonSource, parquetSource } from './sources/file-sources.ts'
import { inMemoryStore, localStore } from './stores.ts'
import { jsonlToChat, mapTemplate, systemPrompt } from './transforms/chat-rows.ts'
import { dedupe } from './transforms/dedupe.ts'
import { mix } from './transforms/mix.ts'
import { dropReasoning, keepReasoning } from './transforms/reasoning.ts'
import { filter, identity, sample, shuffle, split } from './transforms/select-rows.ts'
import { toHarborTask, toPromptExample } from './transforms/to-tasks.ts'

export {
  type CacheEntry,
  checkedRowsFolder,
  dropEntry,
  findEntry,
  leakCacheFolder,
  rowCacheFolder,
  taskCacheFolder,
  tokenCacheFolder,
  touchEntry,
  writeEntry,
} from './cache/cache-entry.ts'
export { collectCache } from './cache/collect-cache.ts'
export {
  isDamaged,
  type Lineage,
  type OpenRows,
  openCachedRows,
  openRows,
  type RowManifest,
} from './cache/open-rows.ts'
export { type RowCache, type RowRequest, sourceKind, type TypedRow } from './cache/typed-rows.ts'
export { type ReadJsonlOptions, readJsonl } from './files/read-jsonl.ts'
export { type FoundLeaks, findLeaks, knownLeaks, type LeakPair, type LeakTarget } from './leaks/find-leaks.ts'
export { createLeakIndex } from './leaks/leak-index.ts'
export { createPreviewWriter, readPreview } from './preview.ts'
export { locationOf, nestedDeeperThan, placeOf, withPlace } from './rows/raw-row.ts'
export { parseRows, rowStream, type TransformStep } from './rows/row-stream.ts'
export {
  type AddedDataset,
  type NamedDatasets,
  openNamedDatasets,
  type StoredDataset,
} from './sources/named-datasets.ts'
export { openTokenShards, type TokenShards, type TokenShardsOptions } from './token-shards.ts'
export {
  csvSource,
  datasetSource,
  dedupe,
  dropReasoning,
  filter,
  folderSource,
  hfDatasetSource,
  identity,
  inMemorySource,
  inMemoryStore,
  jsonlSource,
  jsonlToChat,
  jsonSource,
  keepReasoning,
  localStore,
  mapTemplate,
  mix,
  parquetSource,
  sample,
  shuffle,
  split,
  systemPrompt,
  toHarborTask,
  toPromptExample,
}

/** The built-in sources, stores and transforms. */
export const dataPlugins = [
  jsonlSource,
  jsonSource,
  inMemorySource,
  csvSource,
  parquetSource,
  folderSource,
  hfDatasetSource,
  datasetSource,
  localStore,
  inMemoryStore,
  identity,
  jsonlToChat,
  dedupe,
  filter,
  sample,
  shuffle,
  mapTemplate,
  mix,
  split,
  dropReasoning,
  keepReasoning,
  systemPrompt,
  toPromptExample,
  toHarborTask,
] as const
