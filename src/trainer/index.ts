// What other rooms may use of the trainer. Import it where a trainer is opened, not where plugins are declared.
export { type ArchiveFiles, plainFiles } from './archive/adapter-files.ts'
export type { ArchiveFile } from './archive/tar-file.ts'
export { createTrainer, type Trainer, type TrainerOptions } from './create-trainer.ts'
export { type EngineChoice, engineModule } from './engine/engine-module.ts'
export { type EngineThread, openEngineThread } from './engine/open-engine-thread.ts'
export { type ServeOptions, serveTrainer, type TrainerServer } from './serve-trainer.ts'
export type { ModelCatalog, ModelText, ServedModel } from './served-model.ts'
export type { TrainerLimits } from './trainer-limits.ts'
