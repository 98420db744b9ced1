// What this room loads when it is asked for. Apart from the index, so that asking loads nothing else of the room.

/** Checks plugins, params, paths, rows, tasks, verifiers and secrets. Loaded when asked for: a shallow check starts without it. */
export const checkDeep: typeof import('./check-deep.ts').checkDeep = async (...args) =>
  (await import('./check-deep.ts')).checkDeep(...args)

/** The same for an experiment that is refused for another reason: what else is wrong with it. */
export const checkDraft: typeof import('./check-deep.ts').checkDraft = async (...args) =>
  (await import('./check-deep.ts')).checkDraft(...args)
