// Runs and checkpoints as a person looks them up: direct answers, no promises.
import * as z from 'zod'

/** A moment with its zone, ISO 8601. Peers differ in how many digits they write, so it stays text. */
const Time = z.string()

export const AccessScope = z.enum(['owned', 'accessible'])
export type AccessScope = z.infer<typeof AccessScope>

export const Cursor = z.object({ offset: z.int(), limit: z.int(), total_count: z.int() })
export type Cursor = z.infer<typeof Cursor>

export const Checkpoint = z.object({
  /** `weights/name` or `sampler_weights/name`. */
  checkpoint_id: z.string(),
  checkpoint_type: z.enum(['training', 'sampler', 'external']),
  time: Time,
  tinker_path: z.string(),
  size_bytes: z.int().nullish(),
  public: z.boolean().default(false),
  user_metadata: z.record(z.string(), z.string()).nullish(),
  expires_at: Time.nullish(),
})
export type Checkpoint = z.infer<typeof Checkpoint>

export const TrainingRun = z.object({
  training_run_id: z.string(),
  base_model: z.string(),
  model_owner: z.string(),
  is_lora: z.boolean(),
  corrupted: z.boolean().default(false),
  lora_rank: z.int().nullish(),
  last_request_time: Time,
  last_checkpoint: Checkpoint.nullish(),
  last_sampler_checkpoint: Checkpoint.nullish(),
  user_metadata: z.record(z.string(), z.string()).nullish(),
})
export type TrainingRun = z.infer<typeof TrainingRun>

export const TrainingRunsResponse = z.object({ training_runs: z.array(TrainingRun), cursor: Cursor })

export const CheckpointsResponse = z.object({ checkpoints: z.array(Checkpoint), cursor: Cursor.nullish() })

/** Body of the TTL call, the one place where null is sent: it means that the checkpoint is kept. */
export const TtlRequest = z.object({ ttl_seconds: z.int().nullable() })

/** Where an archive lies: this body, or a redirect with `Location` and `Expires`. */
export const ArchiveUrlResponse = z.object({ url: z.string(), expires: Time.nullish() })

export const TraceExportResponse = z.object({
  status: z.enum(['pending', 'ready', 'failed']),
  url: z.string().nullish(),
  error: z.string().nullish(),
})

export const AuditResponse = z.object({
  entries: z.array(
    z.object({
      timestamp: Time,
      event: z.string(),
      event_details: z.record(z.string(), z.unknown()).nullish(),
      model_id: z.string().nullish(),
      tinker_path: z.string().nullish(),
      purpose: z.string().nullish(),
    }),
  ),
})

export const BillingUsageResponse = z.object({
  data: z.array(
    z.object({
      bucket_start: Time,
      bucket_end: Time,
      base_model: z.string().nullish(),
      user_id: z.string().nullish(),
      user_name: z.string().nullish(),
      session_id: z.string().nullish(),
      project_id: z.string().nullish(),
      event_info: z.looseObject({ type: z.string() }),
    }),
  ),
  sessions: z.record(z.string(), z.unknown()).nullish(),
})

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

// Dots alone would climb out of a folder, what cannot be seen cannot be told apart, and a segment is the name of a file.
function isSegment(text: string): boolean {
  if (text.length === 0 || /^\.+$/.test(text) || /[\p{C}\p{Z}?#%\\]/u.test(text)) return false
  return encodeURIComponent(text).length <= 255
}
