// Trainers of this machine. Imported on demand: most commands start none.
export { exportCheckpoint, serveTrainer } from '../../trainer/index.ts'
export { type LocalTrainerOptions, openLocalTrainer } from './open-local-trainer.ts'
