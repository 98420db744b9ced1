// Plugins of the research loop: who proposes, where the search continues, and what is kept.
import type * as z from 'zod'
import type { EditCatalog } from './edit-catalog.ts'
import type { Level, Mount, Usage } from './execution.ts'
import type { KnobSpec, Knobs } from './knob.ts'
import type { Direction } from './metadata.ts'
import type { Plan, PlannedRun } from './plan.ts'
import type { Context, Plugin, PluginType } from './plugin.ts'
import type { Metrics } from './quantity.ts'
import type { Lease } from './record.ts'
import type { Attempt, AttemptFailure, Idea, MeasuredGain, SearchMode, SeedScore } from './research-attempt.ts'
import type { TaskFile } from './task-file.ts'

/** All that a strategy may know. Equal states and draws give equal answers. */
export interface SearchState {
  readonly direction: Direction
  /** In the order of their numbers; those without a verdict are still raced. */
  readonly attempts: readonly Attempt[]
  /** Id of the attempt to beat. */
  readonly incumbent: string
  readonly space: Readonly<Record<string, KnobSpec>>
  /** Candidates are experiment files: what turning a knob writes. Absent: they are programs, and knobs are their literals. */
  readonly catalog?: EditCatalog | undefined
  /** Families that a person has banned. */
  readonly banned: readonly string[]
  /** Attempt that a person wants to continue from. */
  readonly pinned?: string | undefined
  /** Experiments that the budget still allows; absent: no cap. */
  readonly experimentsLeft?: number | undefined
  /** Version of the decisions that the session was begun with. Absent: the first. */
  readonly rules?: number | undefined
}

/** What to ask a proposer for. */
export interface SearchRequest {
  /** The first is the base; two are combined. */
  readonly parents: readonly string[]
  readonly mode: SearchMode
  /** How many ideas to ask for; few of them are run. */
  readonly ideas: number
  readonly avoidFamilies: readonly string[]
}

/** An idea that can be run: its files are made and it repeats nothing. */
export interface CandidateIdea {
  readonly idea: Idea
  readonly knobs: Knobs
  readonly fingerprint: string
}

/** Decides where the search continues. */
export interface Strategy<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'strategy', K, S> {
  next(state: SearchState, context: Context<z.output<S>>): SearchRequest
  /** Whether candidates that were tried are answered from memory. Absent: they are. */
  readonly repeats?: 'run again' | undefined
  /** Places of the candidates worth running, best first. Absent: in the order they were proposed. */
  rank?(
    candidates: readonly CandidateIdea[],
    state: SearchState,
    context: Context<z.output<S>> & { readonly request: SearchRequest },
  ): readonly number[]
}

/** Bounded, deterministic summary that a proposer decides from. */
export interface Brief {
  /** Of the session: which call this is; one that is sent again keeps it. */
  readonly call?: string | undefined
  /** For a model to read: goal, incumbent, wins, dead ends, open hypotheses, near misses, notes, backlog, failures. */
  readonly text: string
  readonly request: SearchRequest
  readonly state: SearchState
  /** Files of the base. */
  readonly files: CandidateFiles
  /** Takes out the values of secrets that the controller knows; whatever leaves for a model or a file goes through it. Absent: none is known. */
  readonly redact?: (<T>(value: T) => T) | undefined
  /** What this call may take, so that no cap is passed; absent: as much as it likes. */
  readonly limit?: { readonly usd?: number | undefined; readonly tokens?: number | undefined } | undefined
  /** Paths with hidden data, and the record of what was seen of it: a program that proposes must not read them. Absent: none. */
  readonly sealed?: readonly string[] | undefined
  /** Present in a repair turn: the idea that was turned down, and why. */
  readonly repair?: { readonly idea: Idea; readonly failures: readonly AttemptFailure[] } | undefined
}

export interface Proposal {
  readonly ideas: readonly Idea[]
  /** Absent: no model was asked. */
  readonly usage?: Usage | undefined
}

/** Thinks of the next changes: an LLM or an optimiser. */
export interface Proposer<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'proposer', K, S> {
  propose(brief: Brief, context: Context<z.output<S>>): Promise<Proposal>
  /** Its answers are recorded, or about to be: results count in the order in which work was begun, so that a session repeats with any number of workers. */
  readonly isRecorded?: true | undefined
}

/** What a keep rule reads after every seed. */
export interface Race {
  readonly direction: Direction
  readonly candidate: readonly SeedScore[]
  /** Scores of the incumbent, among them those of the same seeds. */
  readonly incumbent: readonly SeedScore[]
  /** Noise of one paired difference and its degrees of freedom; of one score over seeds, and the share of its variance that all candidates have in common on a seed. */
  readonly noise: {
    readonly sigma: number
    readonly degreesOfFreedom: number
    readonly seedSd?: number | undefined
    readonly shared?: number | undefined
  }
  /** Gain over the incumbent with its error, by the noise of both as it was learned. Absent: a rule works it out from `noise`. */
  readonly gain?: MeasuredGain | undefined
  /** Version of the decisions that the session was begun with. Absent: the first. */
  readonly rules?: number | undefined
  /** Runs are trainings: none is spent that decides nothing. */
  readonly isDear?: boolean | undefined
  /** Gains of the attempts that were judged so far, kept or not. Absent: not known. */
  readonly tried?: readonly MeasuredGain[] | undefined
  /** Moving average of kept gains, in sigmas. */
  readonly typicalGain: number
  /** Lines of code of the candidate less those of the incumbent. */
  readonly linesAdded: number
  readonly secondary: readonly { readonly metric: string; readonly direction: Direction; readonly tolerance: number }[]
}

export type RaceStep =
  | { readonly action: 'run' }
  | { readonly action: 'keep' | 'discard' | 'park'; readonly reason: string }

/** Decides whether a candidate replaces the incumbent. */
export interface KeepRule<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'keep_rule', K, S> {
  decide(race: Race, context: Context<z.output<S>>): RaceStep
  /** Fresh seeds on which what was kept is measured again on the hidden split before it is called confirmed. Absent: never confirmed. */
  readonly confirmSeeds?: number | undefined
  /** Before a session ends, what may be better than its incumbent runs on more seeds, and the likeliest best is kept. Absent: it is not. */
  readonly finalRaces?: true | undefined
  /** `kept`: the incumbent is known by the runs it was kept for, on the same seeds for the whole session. Absent: every keep brings a fresh seed. */
  readonly incumbent?: 'kept' | undefined
}

// A task of the research loop, ready to run, and what running a candidate of it gives.
/** Files of a candidate by their path in the task folder. */
export type CandidateFiles = Readonly<Record<string, string>>

export interface ResearchTask {
  readonly name: string
  /** Folder of its `task.yaml`. */
  readonly dir: string
  readonly file: TaskFile
  readonly metric: string
  readonly direction: Direction
  readonly unit?: string | undefined
  /** What the metric can be. */
  readonly bounds?: { readonly least?: number | undefined; readonly most?: number | undefined } | undefined
  /** The metric measures time, which moves with the load of the machine. */
  readonly timed?: boolean | undefined
  /** Of search, in the order of use; confirmation draws fresh ones. */
  readonly seeds: readonly number[]
  /** Training time of one experiment. */
  readonly trainSeconds: number
  /** Metrics that must not get worse by more than this share of their value. */
  readonly secondary: readonly { readonly metric: string; readonly direction: Direction; readonly tolerance: number }[]
  readonly baseline: CandidateFiles
  readonly knobs: Readonly<Record<string, KnobSpec>>
  readonly prompt: string
  /** Which of the candidates that the file declares; absent: the first one. */
  readonly variant?: string | undefined
  /** Globs of the files that a candidate may change, and of those it may not. */
  readonly scope: readonly string[]
  readonly offLimits: readonly string[]
  /** Absent: nothing of it can be run (a table that is only looked up). */
  readonly program?: TaskProgram | undefined
  /** Results of finished trainings, in place of a program. A candidate is one file, `config.json`: an object of axis and value. */
  readonly table?: LookupTable | undefined
  /** Covers scorer, API, data and settings: scores compare only where it is equal. */
  readonly hash: string
}

/** How candidates are started, read and scored. Every path is absolute and lies on this machine. */
export interface TaskProgram {
  /** Which rules candidates are read by; `command`: none but those of files. */
  readonly language: 'node' | 'python' | 'command'
  /** Shell command in the folder of the candidate, the same for both phases. */
  readonly command: string
  /** Files that lie read-only beside the candidate, by their path there: the API module. */
  readonly api: CandidateFiles
  /** Module of the sealed scorer. */
  readonly scorer: string
  /** Folder that candidates see as EVSYS_DATA: the training split alone. */
  readonly trainData: string
  /** Folder that the scorer alone reads: `val/` and `test/` with their labels. */
  readonly sealedData: string
  /** Packages that candidates may import beside the API and the standard library of their language. */
  readonly packages: readonly string[]
  /** Functions of the API that a candidate has to call. */
  readonly requiredCalls: readonly string[]
  /** Further folders that candidates see, read-only: interpreters and packages outside /usr. */
  readonly mounts: readonly Mount[]
  /** Module of the embedded engine, for scorers that run a checkpoint themselves. Absent: the task has no use for it. */
  readonly engine?: string | undefined
  /** Shown to candidates. Absent: they compute on the CPU. */
  readonly accelerator?: Accelerator | undefined
  readonly env: Readonly<Record<string, string>>
  readonly memoryBytes: number
  /** Processes and threads. */
  readonly processes: number
  readonly diskBytes: number
  /** Time of a candidate beside its training: start and end. */
  readonly startSeconds: number
  /** Time for all answers to the scorer. */
  readonly answerSeconds: number
  /** The scorer itself, besides the answers that it waits for. */
  readonly scorerSeconds: number
}

/** A GPU of this machine as candidates see it. */
export interface Accelerator {
  /** As its driver calls it. */
  readonly name: string
  /** Device nodes. */
  readonly devices: readonly Mount[]
  /** Libraries of the driver that lie outside /usr. */
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
}

/** A header (axes, direction, seeds) and its values: absolute paths. */
export interface LookupTable {
  readonly header: string
  /** Gzip of float32, little-endian, row-major over the axes, seeds innermost; NaN: not known. */
  readonly values: string
}

/** What the scorer made of one run of a candidate. `peakMemoryBytes`: most that its processes held together, where the machine reports it. */
export type RunOutcome =
  | {
      readonly status: 'scored'
      readonly value: number
      readonly secondary: Metrics
      /** Outcome of each item of the split, in its order; their mean is the value. `fresh`: new ones by seed. Absent: the scorer gave none. */
      readonly items?: readonly number[] | 'fresh' | undefined
      /** What the candidate said of itself; never counts. */
      readonly claimed?: Metrics | undefined
      readonly wallS: number
      readonly level: Level | 'in-process'
      /** Who keeps the limit of memory: a control group, an engine, or limits of processes and a watch. Absent: no sandbox. */
      readonly memoryBy?: string | undefined
      /** GPU that it was shown; absent: none. */
      readonly accelerator?: string | undefined
      readonly peakMemoryBytes?: number | undefined
      /** What a service charged for it; absent: nothing, or unknown. */
      readonly costUsd?: number | undefined
      /** Experiment and run of the record that it was taken from: nothing was trained. */
      readonly reusedFrom?: string | undefined
    }
  | {
      readonly status: 'failed'
      readonly failure: AttemptFailure
      readonly wallS: number
      readonly peakMemoryBytes?: number | undefined
    }
  /** Ended early by `watch`. */
  | { readonly status: 'killed'; readonly wallS: number; readonly peakMemoryBytes?: number | undefined }

/** A value of the training metric while a candidate trains. */
export interface CurveSample {
  readonly seconds: number
  readonly value: number
}

/** What a dry run says of the memory of a run. Absent: the machine does not report it. */
export interface MemoryEstimate {
  readonly peakMemoryBytes?: number | undefined
  readonly memoryLimitBytes: number
}

/** What a proposer may see of an experiment beside the journal. Nothing of a test benchmark is among it. */
export interface ExperimentMaterial {
  /** Training rows as they come, spread over those that were read; absent: plugins of the project read them. */
  readonly rows?: { readonly samples: readonly unknown[]; readonly read: number; readonly isAll: boolean } | undefined
  /** Of the incumbent on validation. `reward`: null where infrastructure failed. */
  readonly answers: readonly {
    readonly task: string
    readonly instruction: string
    readonly expected?: unknown
    readonly output?: string | undefined
    readonly reward: number | null
  }[]
  readonly curves: readonly {
    readonly attempt: string
    readonly metric: string
    readonly points: readonly (readonly [step: number, value: number])[]
  }[]
  /** Transforms and recipes that there are. */
  readonly kinds: readonly { readonly type: PluginType; readonly kind: string; readonly summary: string }[]
  readonly offLimits: readonly string[]
  /** Plugin files that a candidate may write; none: the file alone. */
  readonly scope: readonly string[]
}

/** How a session stands in the record whose candidates are trainings of experiment files. */
export interface TrainingRecord {
  /** With the baseline on this seed as its only run; candidates are added to it. */
  plan(seed: number): Promise<Plan>
  readonly provenance: Readonly<Record<string, unknown>>
  /** The run of a candidate. Throws where its file is refused. */
  planned(of: {
    run: string
    arm: string
    seed: number
    split: 'val' | 'test'
    files: CandidateFiles
  }): Promise<PlannedRun>
  /** What a proposer may see. `runs`: scored on validation, by the ids of their attempts; the first is that of the incumbent. */
  material(runs: readonly { readonly attempt: string; readonly run: string }[]): Promise<ExperimentMaterial>
  /** The session has begun, or was resumed: its runs are written under this lease. */
  begun(experimentId: string, lease: Lease): void
}

/** Runs candidates of one task. */
export interface Executor extends AsyncDisposable {
  readonly task: ResearchTask
  /** Absent: candidates are programs, and the controller writes their runs. */
  readonly trainings?: TrainingRecord | undefined
  /** Everything that is wrong with a candidate, by reading it and by a dry run of a step or two. Empty: it may run. */
  check(
    files: CandidateFiles,
    signal: AbortSignal,
    onEstimate?: (estimate: MemoryEstimate) => void,
  ): Promise<readonly AttemptFailure[]>
  run(
    request: {
      readonly files: CandidateFiles
      readonly seed: number
      /** `test` is the hidden split: reads of it are metered. */
      readonly split: 'val' | 'test'
      readonly trainSeconds: number
      /** Name of the run in the record. */
      readonly run?: string | undefined
      /** Called with every point of the curve; answers whether to continue. */
      watch?: ((sample: CurveSample) => 'continue' | 'kill') | undefined
    },
    signal: AbortSignal,
  ): Promise<RunOutcome>
}
