// What other rooms may use of data.
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
export { type SampledRows, sampleRows, splitsOf } from './cache/sample-rows.ts'
export { type RowCache, type RowRequest, sourceKind } from './cache/typed-rows.ts'
export { readCsv } from './files/read-csv.ts'
export { readJsonl } from './files/read-jsonl.ts'
export { type FoundLeaks, findLeaks, knownLeaks, type LeakTarget, leakOf } from './leaks/find-leaks.ts'
export { createLeakIndex, type LeakIndex } from './leaks/leak-index.ts'
export { dataPlugins } from './plugins.ts'
export { createPreviewWriter, readPreview } from './preview.ts'
export { locationOf, nestedDeeperThan, placeOf, withPlace } from './rows/raw-row.ts'
export { parseRows, rowStream } from './rows/row-stream.ts'
export { requireStoredData } from './sources/dataset-sources.ts'
export { openNamedDatasets, type StoredDataset } from './sources/named-datasets.ts'
export { fetchStored } from './stores/stores.ts'
export { openTokenShards, type TokenShards } from './token-shards.ts'
