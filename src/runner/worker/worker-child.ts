// The process of a run worker. What takes long to start and needs nothing of ours, such as a trainer, its parent has it start before.
import { serveRuns } from './serve-runs.ts'

await serveRuns()
