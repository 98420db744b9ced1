// What recipes share that train on answers: drawing several of them to each task, and what is measured of answers and steps.
import type {
  Batch,
  Datum,
  FwdBwd,
  HarborTask,
  Metrics,
  PluginSpec,
  StepContext,
  TopKLogprobs,
  Trajectory,
  Weights,
} from '../../contracts/index.ts'
import { EvsysError, mapConcurrent } from '../../kernel/index.ts'
import { meanOf } from '../../stats/index.ts'

interface RolloutParams {
  readonly num_samples: number
  readonly max_tokens: number
  readonly temperature: number
  readonly n_concurrent: number
  readonly user_template: string
  readonly system_prompt?: string | undefined
}

/** Answers of the policy to each task, `num_samples` each, in order. `purpose` keys their draws. */
export async function drawAnswers(
  context: StepContext<RolloutParams, 'harbor_task'>,
  tasks: readonly HarborTask[],
  purpose: string,
): Promise<Trajectory[][]> {
  const { params, policy, rollout, signal, batchIndex, agent = chatAgent(params) } = context
  const { num_samples, max_tokens: maxTokens, temperature, n_concurrent: limit } = params
  const weights = await policy()
  const asked = tasks.flatMap((task, at) => Array.from({ length: num_samples }, (_, sample) => ({ task, at, sample })))
  const drawn = await mapConcurrent(asked, { limit, signal }, ({ task, at, sample }) => {
    const seedPath = [purpose, batchIndex, at, task.task_id]
    return rollout({ task, agent, policy: { weights }, sample, seedPath, sampling: { maxTokens, temperature } }, signal)
  })
  return tasks.map((_, at) => drawn.slice(at * num_samples, (at + 1) * num_samples))
}

/** The agent of a run that names none: one chat. */
export function chatAgent({ user_template, system_prompt }: Pick<RolloutParams, 'user_template' | 'system_prompt'>) {
  return { kind: 'chat', params: { user_template, system_prompt } } satisfies PluginSpec
}

/** Tokens that the policy drew. */
export function drawnTokens({ turns }: Pick<Trajectory, 'turns'>): number {
  return turns.reduce((sum, { tokens }) => sum + (tokens?.completion.length ?? 0), 0)
}

/** The mean loss of a supervised token, of a batch that counts them. */
export function meanNll({ built, result }: { built: Batch; result: FwdBwd }): Metrics {
  const supervised = built.metrics?.['data/supervised_tokens'] ?? 0
  const loss = result.metrics['loss:sum']
  return loss === undefined || supervised === 0 ? {} : { train_mean_nll: loss / supervised }
}

/** Of nothing: 0. */
export function mean(values: readonly number[]): number {
  return meanOf(values, 0)
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

/** Tokens of all examples. */
export function tokensIn(data: readonly Datum[]): number {
  return sumOf(data.map(({ tokens }) => tokens.length))
}

// What weights think of given tokens: the log-probability of each, or the likeliest tokens in its place.
type Service = Pick<StepContext<unknown>, 'service'>

// A service scores a prompt while it samples; one token is the least that it draws.
const asked = { numSamples: 1, maxTokens: 1, temperature: 0, seed: 0 }

/** Per token; NaN for the first, which nothing predicts. */
export async function tokenLogprobs({ service }: Service, model: Weights, prompt: Int32Array): Promise<Float64Array> {
  const [sample] = await service.sample({ model, prompt, ...asked, promptLogprobs: true })
  return sample?.promptLogprobs ?? missing('prompt_logprobs')
}

/** The `k` likeliest tokens in the place of each token. */
export async function likeliestInPlace(
  { service }: Service,
  model: Weights,
  prompt: Int32Array,
  k: number,
): Promise<TopKLogprobs> {
  const [sample] = await service.sample({ model, prompt, ...asked, topKPromptLogprobs: k })
  return sample?.topKPromptLogprobs ?? missing('topk_prompt_logprobs')
}

function missing(field: string): never {
  throw new EvsysError('BACKEND_FAILED', 'the service gives no log-probabilities of a prompt', {
    fix: `use a service with ${field}, such as the backend local; rl needs none with kl_coef: 0.`,
  })
}
