// What the controller and the evaluator send each other. The evaluator holds no recipe and no expected answer: it is told which
// weights to ask what, and says what they answered.
import * as z from 'zod'
import {
  AddressVariable,
  AgentOrder,
  AgentRecord,
  NamedWeights,
  PluginSpec,
  PluginType,
  PolicyQuestion,
  PolicyReply,
  Prediction,
  RunConfig,
  SealedBenchmark,
  SealedTask,
  Seed,
} from '../contracts/index.ts'

/** One evaluation: which weights are asked, as what, and in which words. */
export const Evaluation = z.strictObject({
  run_id: z.string(),
  benchmark: SealedBenchmark,
  seed: Seed,
  step: z.int().min(0).optional().describe('Absent: after training.'),
  weights: NamedWeights,
  config: RunConfig.describe('Of the run: its backend, its model, the renderer of its recipe.'),
  run_dir: z.string(),
  agent: PluginSpec.optional().describe('Leads the model through a task; absent: every task is asked once.'),
  agent_elsewhere: z.boolean().describe('The agent is code of the project: it runs where that runs.'),
  secrets: z.record(z.string(), z.string()),
  addresses: z.partialRecord(AddressVariable, z.string()),
  cassette_dir: z.string().describe('Where answers of a client that stands in place of the weights are kept.'),
})
export type Evaluation = z.infer<typeof Evaluation>

const evaluation = z.int()

export const evaluatorProtocol = {
  child: {
    open: {
      params: z.strictObject({
        project_dir: z.string(),
        plugins: z.array(z.strictObject({ type: PluginType, kind: z.string(), spec: z.string(), hash: z.string() })),
      }),
      result: z.null(),
    },
    /** Opens what answers. */
    begin: {
      params: z.strictObject({ evaluation, of: Evaluation }),
      result: z.strictObject({ takes_tools: z.boolean() }),
    },
    /** The answers to tasks, one for each task and sample, in order. */
    answer: { params: z.strictObject({ evaluation, tasks: z.array(SealedTask) }), result: z.array(Prediction) },
    /** One answer in a conversation that an agent elsewhere has. */
    generate: { params: z.strictObject({ evaluation, asked: PolicyQuestion }), result: PolicyReply },
    /** Closes what `begin` opened. */
    end: { params: z.strictObject({ evaluation }), result: z.null() },
    /** Closes what it keeps open between evaluations, such as a trainer of its own. */
    close: { params: z.null(), result: z.null() },
  },
  parent: {
    /** Has an agent of the project run where the project's code is. It asks by `generate`. */
    act: { params: z.strictObject({ evaluation, order: AgentOrder }), result: AgentRecord, most: 1000 },
    /** One more answer is there. */
    answered: { params: z.strictObject({ evaluation }) },
    /** What a person who waits should know, such as a service that does not answer. */
    warned: { params: z.string() },
  },
} as const

export type EvaluationPlugin = 'backend' | 'renderer' | 'inference_client' | 'agent'

/** The plugins that take part in answering. An agent that runs elsewhere is none of them. */
export function codeOf({
  benchmark: { inference },
  config,
  agent,
  agent_elsewhere,
}: Pick<Evaluation, 'benchmark' | 'config' | 'agent' | 'agent_elsewhere'>): [EvaluationPlugin, string][] {
  const used: [EvaluationPlugin, string][] = []
  if (inference !== undefined) used.push(['inference_client', inference.kind])
  else {
    used.push(['backend', config.backend.kind])
    for (const kind of renderersOf(config)) if (kind !== undefined) used.push(['renderer', kind])
  }
  if (agent !== undefined && !agent_elsewhere) used.push(['agent', agent.kind])
  return used
}

/** Kinds of the renderers that a run may use: the one that it names, or those that its model decides between. */
export function renderersOf({ model, algorithm }: Evaluation['config']): [plain: string, templated?: string] {
  const named = algorithm.params.renderer_name ?? model.renderer_name
  return typeof named === 'string' ? [named] : ['plain_chat', 'chat_template']
}
