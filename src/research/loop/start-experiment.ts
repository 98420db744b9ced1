// A session from an experiment file: what its `research:` block says and the command line says otherwise, then the same loop as for tasks.
import { relative, resolve } from 'node:path'
import type { CandidateFiles, PluginSpec, ResearchBlock, SessionSettings } from '../../contracts/index.ts'
import { canonicalJson, EvsysError, hashOf, openRegistry, readSecretSource } from '../../kernel/index.ts'
import type { SandboxChoice } from '../../lab/index.ts'
import { earlierWinners } from '../experiments/earlier-winners.ts'
import { documentEdits } from '../experiments/edits/index.ts'
import { canonicalDocument, DOCUMENT, type OpenExperiment, openExperiment } from '../experiments/open-experiment.ts'
import { type WrittenWinner, writeWinner } from '../experiments/write-winner.ts'
import { allBuiltins } from '../plugins.ts'
import { fingerprint } from '../search/fingerprint.ts'
import type { ResearchResult } from './research-options.ts'
import { runResearch } from './run-research.ts'
import { filesOf } from './session-views.ts'
import { hasAnthropicKey, type StartResearchOptions, sessionOf, settingsOf } from './start-research.ts'

export interface StartExperimentOptions extends Omit<StartResearchOptions, 'task' | 'trainSeconds'> {
  /** The experiment file. */
  readonly file: string
  /** How recipe code is shut in; default `auto`. */
  readonly sandbox?: SandboxChoice | undefined
}

/** Runs a session over an experiment file to its end, or until it is interrupted. */
export async function startExperimentResearch(options: StartExperimentOptions): Promise<ResearchResult> {
  const { projectDir, cwd, env, store, signal, workers, sandbox, onNotice } = options
  const secrets = await readSecretSource({ projectDir, env })
  const file = resolve(cwd, options.file)
  const asked = { file, projectDir, store, secretSource: secrets, workers, sandbox, signal, onNotice }
  const opened = await openExperiment(asked)
  await using executor = opened.executor
  const { registry, problems } = await openRegistry({ builtins: await allBuiltins(), projectDir, signal })
  for (const { message } of problems) onNotice?.(message)
  const hasKey = hasAnthropicKey(secrets)
  const settings = experimentSettings(opened, options, hasKey)
  const { catalog, block, model } = opened
  const baseline = documentEdits.readKnobs(opened.task.baseline, catalog)
  const isFirst = options.resume !== true && block.priors
  const first = isFirst ? await earlierWinners(store, { model, baseline, catalog }) : []
  let winner: WrittenWinner | undefined
  const result = await runResearch({
    ...sessionOf(opened.task, options, { registry, secrets, sealed: opened.sealed }),
    executor,
    settings,
    first,
    fingerprint: documentFingerprint,
    async onEnd({ experimentId, state }) {
      const best = state.attempts.find(({ id }) => id === state.incumbent)
      if (best === undefined || best.id === state.baseline) return
      const { name, objective } = opened
      const files = filesOf(state, best.id)
      winner = await writeWinner({ file, name, projectDir, store, experimentId, state, winner: best, files, objective })
    },
  })
  return { ...result, winner }
}

/** Candidates whose documents mean the same are the same, whatever their layout. */
function documentFingerprint(files: CandidateFiles): string {
  const { [DOCUMENT]: document = '', ...code } = files
  return hashOf({ document: canonicalJson(canonicalDocument(document)), code: fingerprint(code) })
}

/** Runs of the baseline that measure its noise: trainings are dear, and candidates show theirs as well. */
const NOISE_RUNS = 2

/** What a session over an opened file is begun with. */
export function experimentSettings(
  { task, block, catalog, hiddenTest, maxConcurrent, isRepeatable }: OpenExperiment,
  options: StartExperimentOptions,
  hasKey: boolean,
): SessionSettings {
  if (Object.keys(catalog.knobs).length === 0 && block.scope.length === 0) {
    throw new EvsysError('CONFIG_INVALID', `${options.file}: there is nothing that a candidate could change`, {
      fix: 'name what may change under `research.space` or `research.transforms`, or take something out of `research.off_limits`.',
    })
  }
  const asked = {
    ...options,
    task: relative(options.projectDir, resolve(options.cwd, options.file)),
    budget: { ...block.budget, ...options.budget },
    proposer: options.proposer ?? block.proposer?.kind ?? (hasKey ? 'hybrid' : 'optimizer'),
    strategy: options.strategy ?? block.strategy?.kind,
    keepRule: options.keepRule ?? block.keep_rule?.kind,
    workers: options.workers ?? maxConcurrent ?? 1,
  }
  const settings = settingsOf(task, asked, hasKey)
  return {
    ...settings,
    space: task.knobs,
    catalog,
    off_limits: [...block.off_limits],
    choice: block.objective,
    scope: block.scope.length === 0 ? undefined : [...block.scope],
    strategy: merged(settings.strategy, block.strategy),
    keep_rule: merged(settings.keep_rule, block.keep_rule),
    proposer: merged(settings.proposer, block.proposer),
    noise_runs: Math.min(NOISE_RUNS, settings.noise_runs),
    // Where equal trainings are equal to the byte, nothing drifts.
    control_every: isRepeatable ? 0 : settings.control_every,
    hidden_test: hiddenTest === undefined ? false : undefined,
  }
}

// Params of the file, under those of the command line, where both mean the same plugin.
function merged(chosen: PluginSpec, written: ResearchBlock['proposer']): PluginSpec {
  return written?.kind === chosen.kind ? { ...chosen, params: { ...written.params, ...chosen.params } } : chosen
}
