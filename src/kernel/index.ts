// What other rooms may use of the kernel.

export { type AtomicWriteOptions, syncFolder, writeFileAtomic } from './atomic-file.ts'
export { blobPlace } from './blob-place.ts'
export { type BlobFolder, openBlobs } from './blobs.ts'
export { boundary } from './boundary.ts'
export { boundedText } from './bounded-text.ts'
export { type Clock, type ManualClock, manualClock, systemClock } from './clock.ts'
export {
  createEventBus,
  type Delivery,
  type EventBus,
  type EventBusOptions,
  type SubscribeOptions,
} from './event-bus.ts'
export { EvsysError, type EvsysErrorOptions, type Excerpt, type Problem, toRecord } from './evsys-error.ts'
export { fileError, isDiskFull, systemCode, tellsOfFullDisk } from './file-error.ts'
export { type FormatOptions, formatProblem, formatProblems } from './format-error.ts'
export { canonicalJson, hashOf, sha256 } from './hash.ts'
export { hubCacheFolder } from './hub-cache-folder.ts'
export { createIds, type Id, type Ids, isId, parseId } from './ids.ts'
export { type JsonFault, jsonFault } from './json-fault.ts'
export { jsonPlace, placeOf } from './json-place.ts'
export { type KeyedRandom, keyedRandom } from './keyed-random.ts'
export { type MapConcurrentOptions, mapConcurrent } from './map-concurrent.ts'
export { messageOf } from './message-of.ts'
export { onAbort } from './on-abort.ts'
// Plugins: registry, define* and loading, from ./plugins/.
export { builtInHash } from './plugins/built-in-hash.ts'
export {
  type Catalog,
  type CatalogOptions,
  openCatalog,
  type ParamsCheck,
  type PluginReference,
} from './plugins/catalog.ts'
export type { ParamsResult } from './plugins/check-params.ts'
export {
  defineAgent,
  defineAlgorithm,
  defineBackend,
  defineCallback,
  defineDataSource,
  defineDataStore,
  defineDeployer,
  defineEnvironment,
  defineInferenceClient,
  defineKeepRule,
  defineLogStore,
  defineMetric,
  defineProposer,
  defineProvider,
  defineRenderer,
  defineStrategy,
  defineTraceSource,
  defineTransform,
  defineVerifier,
  type NoParams,
} from './plugins/define.ts'
export { type EquippedPlugin, equipPlugin, type PluginServices } from './plugins/equip-plugin.ts'
export {
  type LoadedPlugins,
  type LoadPluginsOptions,
  loadExport,
  loadPlugins,
  loadValue,
} from './plugins/load-plugins.ts'
export { placeInStack } from './plugins/load-problem.ts'
export { type OpenRegistry, openRegistry } from './plugins/open-registry.ts'
export { isPlugin } from './plugins/plugin-brand.ts'
export { pluginCard } from './plugins/plugin-card.ts'
export { readPluginGraph } from './plugins/plugin-graph.ts'
export type { LoadedPlugin } from './plugins/prepare-plugin.ts'
export { createRegistry, type Found, type Origin, type Registry, unknownKind } from './plugins/registry.ts'
export { typeLabel, typePlural } from './plugins/type-label.ts'
export { typescriptFault } from './plugins/typescript-fault.ts'
export { problemsOf } from './problems-of.ts'
// Processes that hold foreign code: both of their sides, from ./processes/.
export {
  type GuardedProcess,
  type GuardedProcessOptions,
  type ProcessEnd,
  type StopReason,
  startGuardedProcess,
} from './processes/guarded-process.ts'
export { whyNotHidden } from './processes/hide-paths.ts'
export { killGroup } from './processes/kill-group.ts'
export { openParentLink, type ParentLink } from './processes/parent-link.ts'
export { identify, isAlive, type ProcessIdentity } from './processes/process-identity.ts'
export { type ProgramEnd, type ProgramRun, runProgram } from './processes/run-program.ts'
export { sourceLoader } from './processes/source-loader.ts'
export { startWatchdog, type Watchdog } from './processes/watchdog.ts'
export {
  bytesText,
  countText,
  durationText,
  numberText,
  rangeText,
  signedText,
  speedText,
  usdText,
} from './quantity-text.ts'
export { createRedactor, type Redact } from './redact.ts'
export { type RetryOptions, retry } from './retry.ts'
export { findSecrets, readSecretSource, resolveSecrets, type SecretSource, type SecretUse } from './secrets.ts'
export { shellWord } from './shell-word.ts'
export { closest, type SuggestOptions, suggest } from './suggest.ts'
export { systemRandom } from './system-random.ts'
export { sweepTemporary, temporaryPath } from './temporary-file.ts'
export { textWidth } from './text-width.ts'
export { visibleText } from './visible-text.ts'
export { type Checked, checkValue, formatZodIssue, type ValueIssue } from './zod-issues.ts'
