// What other rooms may use of the trainer. Everything is loaded when it is called for: an engine starts while what answers requests is
// loaded.
import type { ArchiveFiles } from './archive/archive-files.ts'
import type { Trainer, TrainerOptions } from './create-trainer.ts'
import type { EngineModule } from './engine/engine-messages.ts'
import type { EngineHost, EngineHostOptions } from './engine/open-engine-host.ts'
import type { FolderCatalog } from './folder-catalog.ts'
import type { ServeOptions, TrainerServer } from './serve-trainer.ts'

export type { ArchiveFile, ArchiveFiles } from './archive/archive-files.ts'
export type { Trainer, TrainerOptions } from './create-trainer.ts'
export { type EngineChoice, engineFork, engineModule } from './engine/engine-module.ts'
export type { EngineHost } from './engine/open-engine-host.ts'
export type { FolderCatalog } from './folder-catalog.ts'
export type { ServeOptions, TrainerServer } from './serve-trainer.ts'
export type { CheckpointEntry, CheckpointFiles, RunRecord } from './state/checkpoint-files.ts'
export type { ModelCatalog, ModelText, ServedModel } from './state/served-model.ts'
export type { TrainerLimits } from './state/trainer-state.ts'

/** Starts an engine and waits until it can be used. */
export async function openEngineHost(module: EngineModule, options: EngineHostOptions = {}): Promise<EngineHost> {
  const { openEngineHost: open } = await import('./engine/open-engine-host.ts')
  return open(module, options)
}

/** Loads what answers requests, for whoever has time before he needs it. */
export async function loadTrainer(): Promise<void> {
  await Promise.all([import('./create-trainer.ts'), import('./serve-trainer.ts'), import('./folder-catalog.ts')])
}

/** Opens a trainer. Closing it ends what waits; the engine is the opener's to close. */
export async function createTrainer(options: TrainerOptions): Promise<Trainer> {
  const { createTrainer: create } = await import('./create-trainer.ts')
  return create(options)
}

/** Listens until it is disposed of. The trainer is the opener's to close. */
export async function serveTrainer(trainer: Trainer, options: ServeOptions): Promise<TrainerServer> {
  const { serveTrainer: serve } = await import('./serve-trainer.ts')
  return serve(trainer, options)
}

/** Finds the models of these names, or says which is missing. */
export async function openFolderCatalog(names: readonly string[], project: string): Promise<FolderCatalog> {
  const { openFolderCatalog: open } = await import('./folder-catalog.ts')
  return open(names, project)
}

/** Checkpoints of real models: an adapter as PEFT reads it, or the whole model where all of it was trained. */
export function peftFiles(folders: Readonly<Record<string, string>>): ArchiveFiles {
  return async (bytes, run) => {
    const { peftFiles: files } = await import('./archive/peft-files.ts')
    return files(folders)(bytes, run)
  }
}
