// The whole record of one experiment as a document: what `export` writes and `import` reads. Tables follow from events, so it
// holds events; beside them stands what no event tells.
import * as z from 'zod'
import { Artifact, Evidence, ExperimentEvent, Metrics, Plan, RunEvent } from '../../contracts/index.ts'

export const BUNDLE_FORMAT = 'evsys-experiment'
export const BUNDLE_VERSION = 1

const Id = z.string().regex(/^[A-Za-z0-9][\w.-]{0,99}$/, 'an id is 1 to 100 letters, digits, _, - and dots')

/** Points of a metric that no `step.finished` tells. */
const Points = z
  .strictObject({ key: z.string().min(1), step: z.array(z.int().min(0)), value: z.array(z.number()) })
  .refine(({ step, value }) => step.length === value.length, 'step and value have equal lengths')

const Notes = z.strictObject({
  parentRun: z.string().optional(),
  diff: z.string().optional(),
  category: z.string().optional(),
  mode: z.string().optional(),
  kept: z.boolean().optional(),
  description: z.string().optional(),
  claimed: Metrics.optional(),
})

const BundledRun = z.strictObject({
  id: Id,
  name: z.string(),
  events: z.array(RunEvent),
  points: z.array(Points),
  artifacts: z.array(Artifact),
  notes: Notes,
  invalid: z.string().optional(),
})
export type BundledRun = z.infer<typeof BundledRun>

export const ExperimentBundle = z.strictObject({
  format: z.literal(BUNDLE_FORMAT),
  version: z.literal(BUNDLE_VERSION, `this evsys reads version ${BUNDLE_VERSION}`),
  experiment: z.strictObject({
    id: Id,
    created_at: z.iso.datetime(),
    plan: Plan,
    provenance: z.record(z.string(), z.unknown()),
    events: z.array(ExperimentEvent).min(2).describe('From experiment.started to experiment.finished.'),
    evidence: Evidence.optional(),
    cost_usd: z.number().min(0).optional(),
    wall_s: z.number().min(0).optional(),
    words: z.array(z.strictObject({ at: z.iso.datetime(), author: z.string(), text: z.string() })),
  }),
  runs: z.array(BundledRun).min(1).describe('In the order of the plan.'),
})
export type ExperimentBundle = z.infer<typeof ExperimentBundle>
