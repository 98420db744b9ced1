// What this room loads when it is asked for. Apart from the index, so that asking loads nothing else of the room.

/** What starts a trainer before its run is known. Imported on demand: most commands start none. */
export function loadTrainerSpare(): Promise<typeof import('./local/trainer-spare.ts')> {
  return import('./local/trainer-spare.ts')
}

/** Trainers of this machine. Imported on demand: most commands start none. */
export function loadLocalTrainer(): Promise<typeof import('./local/index.ts')> {
  return import('./local/index.ts')
}

/** Starts a trainer process, or uses the spare one. */
export const startTrainer: typeof import('./local/start-trainer-process.ts').startTrainerProcess = async (options) =>
  (await import('./local/start-trainer-process.ts')).startTrainerProcess(options)
