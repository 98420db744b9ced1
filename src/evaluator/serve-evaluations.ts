// The evaluations that an evaluator has open, whatever process it lives in: tasks become prompts, prompts answers of exactly the
// weights that were named. It sees what is asked and never what is expected.
import type {
  AgentOrder,
  AgentRecord,
  OpenInferenceClient,
  PolicyQuestion,
  PolicyReply,
  Prediction,
  SealedTask,
} from '../contracts/index.ts'
import { answerWithAgent, answerWithClient, logprobFields, taskMessages } from '../evaluate/index.ts'
import { EvsysError, errorRecord, keyedRandom, mapConcurrent, type PluginServices } from '../kernel/index.ts'
import { answerQuestion } from '../rollout/index.ts'
import { codeOf, type Evaluation, type EvaluationPlugin } from './evaluator-protocol.ts'
import type { Answering, AnsweringPlaces } from './open-answering.ts'

export interface EvaluationServices extends Omit<PluginServices, 'secret' | 'address' | 'random'> {
  /** Loads what a kind stands for, where that is code of the project. */
  need(type: EvaluationPlugin, kind: string): Promise<void>
}

interface EvaluationOptions {
  /** Runs an agent of the project, elsewhere. */
  act(order: AgentOrder): Promise<AgentRecord>
  onAnswer(): void
}

/** An evaluation that was begun. */
export class OpenEvaluation implements AsyncDisposable {
  readonly takesTools: boolean
  readonly #of: Evaluation
  readonly #answering: Answering
  readonly #services: PluginServices
  readonly #options: EvaluationOptions
  readonly #sessions = new Map<string, OpenInferenceClient>()

  private constructor(of: Evaluation, answering: Answering, services: PluginServices, options: EvaluationOptions) {
    this.takesTools = answering.takesTools
    this.#of = of
    this.#answering = answering
    this.#services = services
    this.#options = options
  }

  static async begin(
    of: Evaluation,
    places: AnsweringPlaces,
    shared: EvaluationServices,
    options: EvaluationOptions,
  ): Promise<OpenEvaluation> {
    for (const [type, kind] of codeOf(of)) await shared.need(type, kind)
    const services: PluginServices = {
      ...shared,
      secret: (name) => secretOf(of.secrets, name),
      address: (name) => of.addresses[name],
      random: (...path) => keyedRandom(of.seed, ...path),
    }
    return new OpenEvaluation(of, await places.open(of, services), services, options)
  }

  /** One prediction per task and sample, in order. A failed sample is a prediction with its error; the others continue. */
  async answer(tasks: readonly SealedTask[], signal: AbortSignal): Promise<Prediction[]> {
    const { benchmark, seed, step = 'final', agent, agent_elsewhere } = this.#of
    const { act, onAnswer } = this.#options
    const { client } = this.#answering
    const asked = { benchmark, tasks, seed, signal, onAnswer }
    const runElsewhere = agent_elsewhere ? act : undefined
    const withAgent = agent && { agent, services: this.#services, runElsewhere }
    if (client !== undefined) return await answerWithClient({ ...asked, client, withAgent })
    const policy = () => this.#answering.policy()
    if (withAgent !== undefined) return await answerWithAgent({ ...asked, ...withAgent, step, policy })
    const pace = { limit: benchmark.n_concurrent, signal }
    return (await mapConcurrent(tasks, pace, (task) => this.#answerTask(task, signal))).flat()
  }

  /** One answer in a conversation. Each session has a separate policy, which keeps the tokens of its conversation. */
  async generate(asked: PolicyQuestion, signal: AbortSignal): Promise<PolicyReply> {
    const policy = this.#sessions.get(asked.session) ?? this.#answering.policy()
    this.#sessions.set(asked.session, policy)
    return await answerQuestion(policy, asked, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sessions.clear()
    await this.#answering[Symbol.asyncDispose]()
  }

  // All samples of a task are drawn together.
  async #answerTask({ task_id, instruction }: SealedTask, signal: AbortSignal): Promise<Prediction[]> {
    const { benchmark, seed, step = 'final' } = this.#of
    const { renderer, sample: draw } = this.#answering
    try {
      if (renderer === undefined) throw new EvsysError('INTERNAL', 'nothing renders the prompt')
      const began = performance.now()
      const prompt = renderer.prompt(taskMessages(instruction, benchmark))
      const request = {
        prompt,
        numSamples: benchmark.num_samples,
        maxTokens: benchmark.max_tokens,
        temperature: benchmark.temperature,
        stop: renderer.stop,
        seed: keyedRandom(seed, 'eval', benchmark.name, step, task_id).uint32(),
      }
      const drawn = await draw(request, signal)
      const latency_s = (performance.now() - began) / 1000 // until all samples of the task are there
      return drawn.map(({ tokens, logprobs }, sample) => {
        this.#options.onAnswer()
        const { message, complete } = renderer.parse(tokens)
        const output = typeof message.content === 'string' ? message.content : ''
        const took = { prompt_tokens: prompt.length, completion_tokens: tokens.length, latency_s }
        return { task_id, sample, output, complete, ...took, ...logprobFields({ logprobs }) }
      })
    } catch (error) {
      signal.throwIfAborted()
      const record = errorRecord(error)
      return Array.from({ length: benchmark.num_samples }, (_, sample) => ({ task_id, sample, error: record }))
    }
  }
}

function secretOf(secrets: Readonly<Record<string, string>>, name: string): string {
  const value = Object.hasOwn(secrets, name) ? secrets[name] : undefined
  if (value !== undefined) return value
  throw new EvsysError('SECRET_MISSING', `the secret ${name} is not set`, {
    fix: `set ${name} in the environment or in the project’s .env.`,
  })
}
