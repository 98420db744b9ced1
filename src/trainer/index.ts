// What other rooms may use of the trainer. Everything is loaded when it is called for: an engine starts while what answers requests is
// loaded.
export type { Trainer, TrainerOptions } from './create-trainer.ts'
export { type EngineChoice, engineFork, engineModule } from './engine/engine-module.ts'
export type { EngineHost } from './engine/open-engine-host.ts'
export type { ServeOptions } from './serve-trainer.ts'
export type { Quota } from './state/access.ts'
export type { CheckpointEntry, CheckpointFiles, RunRecord } from './state/checkpoint-files.ts'
export type { ModelCatalog, ModelText, ServedModel } from './state/served-model.ts'
export type { TrainerLimits } from './state/trainer-state.ts'

/** Loads what answers requests, before it is needed. */
export async function loadTrainer(): Promise<void> {
  await Promise.all([import('./create-trainer.ts'), import('./serve-trainer.ts')])
}

/** Starts an engine and waits until it can be used. */
export const openEngineHost: typeof import('./engine/open-engine-host.ts').openEngineHost = async (...args) =>
  (await import('./engine/open-engine-host.ts')).openEngineHost(...args)

/** Opens a trainer. Closing it ends what waits; the engine is the opener's to close. */
export const createTrainer: typeof import('./create-trainer.ts').createTrainer = async (...args) =>
  (await import('./create-trainer.ts')).createTrainer(...args)

/** Listens until it is disposed of. The trainer is the opener's to close. */
export const serveTrainer: typeof import('./serve-trainer.ts').serveTrainer = async (...args) =>
  (await import('./serve-trainer.ts')).serveTrainer(...args)

/** Writes a kept checkpoint as files that other programs read, into a new folder; returns their names. */
export const exportCheckpoint: typeof import('./serve-trainer.ts').exportCheckpoint = async (...args) =>
  (await import('./serve-trainer.ts')).exportCheckpoint(...args)

/** Finds the models of these names, or says which is missing. */
export const openFolderCatalog: typeof import('./serve-trainer.ts').openFolderCatalog = async (...args) =>
  (await import('./serve-trainer.ts')).openFolderCatalog(...args)

/** Checkpoints of real models: an adapter as PEFT reads it, or the whole model where all of it was trained. */
export const peftFiles: typeof import('./serve-trainer.ts').peftFiles = (folders) => async (bytes, run) =>
  (await import('./serve-trainer.ts')).peftFiles(folders)(bytes, run)
