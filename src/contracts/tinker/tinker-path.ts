// `tinker://<run>/<kind>/<name>`: the address of a checkpoint. The run id may contain colons, so no URL class reads it.

/** What a checkpoint is good for, as its path spells it. */
export const checkpointFolders = Object.freeze({
  weights: 'training',
  sampler_weights: 'sampler',
  external_weights: 'external',
} as const)
export type CheckpointFolder = keyof typeof checkpointFolders

export interface TinkerPath {
  readonly runId: string
  readonly folder: CheckpointFolder
  readonly name: string
}

const prefix = 'tinker://'

/** Reads a path; undefined for anything that is not exactly run, kind and name. */
export function parseTinkerPath(path: string): TinkerPath | undefined {
  if (!path.startsWith(prefix)) return undefined
  const [runId = '', folder = '', name = '', ...rest] = path.slice(prefix.length).split('/')
  if (rest.length > 0 || !isSegment(runId) || !isSegment(name) || !isFolder(folder)) return undefined
  return { runId, folder, name }
}

export function formatTinkerPath({ runId, folder, name }: TinkerPath): string {
  return `${prefix}${runId}/${folder}/${name}`
}

/** The id of a checkpoint within its run, as the REST calls spell it. */
export function checkpointId({ folder, name }: TinkerPath): string {
  return `${folder}/${name}`
}

function isFolder(text: string): text is CheckpointFolder {
  return Object.hasOwn(checkpointFolders, text)
}

// Dots alone would climb out of a folder, and what cannot be seen cannot be told apart.
function isSegment(text: string): boolean {
  return text.length > 0 && text.length <= 255 && !/^\.+$/.test(text) && !/[\p{C}\p{Z}?#%\\]/u.test(text)
}
