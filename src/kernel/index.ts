// What other rooms may use of the kernel.

export { type AnnouncedWait, announceWait, longWaits, sayWarnings } from './announce-wait.ts'
export { sweepTemporary, syncFolder, temporaryPath, writeFileAtomic } from './atomic-file.ts'
export { blobPlace, putBlob, requireBlob } from './blobs.ts'
export { readBoundedText } from './bounded-file.ts'
export { type Clock, manualClock, systemClock } from './clock.ts'
export {
  boundary,
  EvsysError,
  type EvsysErrorOptions,
  type Excerpt,
  errorRecord,
  messageOf,
  type Problem,
  problemsOf,
  toRecord,
} from './evsys-error.ts'
export { fileError, fileWork, ifPresent, isDiskFull, isDiskFullError, systemCode } from './file-error.ts'
export { readForeignFile, writeForeignFile } from './foreign-files.ts'
export { formatProblem, formatProblems } from './format-error.ts'
export { canonicalJson, hashOf, isMapping, sha256, withoutUndefined } from './hash.ts'
export { hubCacheFolder } from './hub-cache-folder.ts'
export { createIds, type Id, type Ids } from './ids.ts'
export { jsonFault, jsonPlace, placeOf } from './json-fault.ts'
export { type KeyedRandom, keyedRandom, systemRandom } from './keyed-random.ts'
export {
  createRateBound,
  createSlots,
  mapConcurrent,
  onAbort,
  type RateBound,
  type Slots,
  unlessAborted,
} from './map-concurrent.ts'
export { type PlainYaml, plainYaml } from './plain-yaml.ts'
export {
  type Catalog,
  type CatalogOptions,
  openCatalog,
} from './plugins/catalog.ts'
export { isPlugin, typePlural } from './plugins/check-plugin.ts'
export * from './plugins/define.ts'
export {
  type EquippedPlugin,
  equipPlugin,
  type ParamsCheck,
  type ParamsResult,
  type PluginServices,
  pluginCard,
} from './plugins/equip-plugin.ts'
export type { PluginReference } from './plugins/find-plugin-files.ts'
// Plugins: registry, define* and loading, from ./plugins/.
export { builtInHash } from './plugins/host-modules.ts'
export {
  type LoadPluginsOptions,
  loadExport,
  loadPlugins,
  loadValue,
  type OpenRegistry,
  openRegistry,
} from './plugins/load-plugins.ts'
export { placeInStack, typescriptFault } from './plugins/load-problem.ts'
export { areUnchanged, readPluginGraph, stampPlugins } from './plugins/plugin-graph.ts'
export type { LoadedPlugin } from './plugins/prepare-plugin.ts'
export { pluginCacheDir } from './plugins/prepare-plugin.ts'
export { createRegistry, type Found, type Origin, type Registry, unknownKind } from './plugins/registry.ts'
export { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
// Child processes: both sides of a conversation, from ./processes/.
export type { Handlers, Protocol, Result } from './processes/channel.ts'
export {
  type Child,
  howEnded,
  isOutOfMemory,
  lastPrinted,
  openChild,
  type ProcessEnd,
} from './processes/child.ts'
export { forkedProcess, ownThread } from './processes/forked-process.ts'
export { guardedProcess, type ProcessChannel, type ProcessPlace } from './processes/guarded-process.ts'
export { whyNotHidden } from './processes/hide-paths.ts'
export { killGroup, killTree } from './processes/kill-group.ts'
export { runProgram } from './processes/run-program.ts'
export { type Parent, serve } from './processes/serve.ts'
export { dropSpares, type ForkSpec, spareArgs, startSpare } from './processes/spare.ts'
export { createRedactor, type Redact } from './redact.ts'
export { retry } from './retry.ts'
export { findSecrets, readSecretSource, resolveSecrets, type SecretSource } from './secrets.ts'
export { closest, suggest } from './suggest.ts'
export { sweepTemporaryFolders, temporaryFolder } from './temporary-folder.ts'
export {
  boundedText,
  bytesText,
  countText,
  durationText,
  numberText,
  rangeText,
  shellWord,
  signedText,
  speedText,
  textWidth,
  usdText,
  visibleText,
} from './text-forms.ts'
export { type Checked, checkValue, formatZodIssue, type ValueIssue } from './zod-issues.ts'
export { unpackZstd } from './zstd/unpack-zstd.ts'
export { ZstdFault } from './zstd/zstd-fault.ts'
