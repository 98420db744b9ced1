// Agents without tools: a conversation (the task's instruction, an answer, and where there is a user who continues, further turns);
// and two that need no model: they show whether a task can be solved, and whether its tests test anything.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { ChatMessage, HarborTask } from '../../contracts/index.ts'
import { defineAgent, EvsysError, messageOf } from '../../kernel/index.ts'
import { shellCommand } from '../environments/index.ts'
import { loadTaskFolder, resolveEnvTable } from '../task/index.ts'
import { loadProjectExport } from '../tools/tool.ts'
import { limitParams, openingMessages, promptParams, replyMessage, turnSeed } from './conversation.ts'

/** What a user says next; nothing: the conversation is over. */
export type SimulatedUser = (
  messages: readonly ChatMessage[],
  context: { task: Pick<HarborTask, 'task_id' | 'instruction' | 'metadata'>; turn: number; signal: AbortSignal },
) => string | undefined | Promise<string | undefined>

export const chat = defineAgent({
  kind: 'chat',
  summary: 'One chat turn, or a conversation with a user whose turns are written down or simulated.',
  params: z.strictObject({
    ...promptParams,
    ...limitParams({ maxTurns: 32 }),
    user_turns: z
      .array(z.string())
      .optional()
      .describe(
        'What the user says after the first answer, the second, ...; absent: `user_turns` of the task’s metadata.',
      ),
    user: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A function that plays the user, as `./user.ts#name`: it gets the messages and returns the next, or nothing.',
      ),
    output: z
      .enum(['last', 'all'])
      .default('last')
      .describe('What is scored: the last answer, or all answers with an empty line between them.'),
  }),
  async run({ task, policy, sampling, params, random, signal }) {
    const messages = openingMessages(params, task)
    const user = await userOf(params, task)
    const answers: string[] = []
    for (let turn = 0; ; turn++) {
      const answer = await policy.generate({ messages, ...sampling, seed: turnSeed(random, turn) }, signal)
      answers.push(answer.text)
      messages.push(replyMessage(answer))
      const next = await user(messages, { task, turn, signal })
      if (next === undefined) break
      messages.push({ role: 'user', content: next })
    }
    return { output: params.output === 'all' ? answers.join('\n\n') : (answers.at(-1) ?? '') }
  },
})

const UserTurns = z.looseObject({ user_turns: z.array(z.string()).optional() })

async function userOf(
  { user, user_turns }: { user?: string | undefined; user_turns?: string[] | undefined },
  { task_id, metadata }: HarborTask,
): Promise<SimulatedUser> {
  if (user !== undefined) return simulated(user)
  const written = UserTurns.safeParse(metadata)
  if (user_turns === undefined && !written.success) {
    throw new EvsysError('DATA_INVALID', `task "${task_id}": user_turns of its metadata is no list of texts`)
  }
  const turns = user_turns ?? written.data?.user_turns ?? []
  return (_messages, { turn }) => turns[turn]
}

async function simulated(reference: string): Promise<SimulatedUser> {
  const play = await loadProjectExport(reference)
  if (typeof play !== 'function') {
    throw new EvsysError('PLUGIN_INVALID', `${reference} is no function, and cannot play the user`)
  }
  return async (messages, { task, turn, signal }) => {
    const { task_id, instruction, metadata } = task
    let said: unknown
    try {
      said = await play([...messages], { task: { task_id, instruction, metadata }, turn, signal })
    } catch (cause) {
      throw new EvsysError('PLUGIN_FAILED', `the user ${reference}: ${messageOf(cause)}`, { cause })
    }
    if (said === undefined || said === null) return undefined
    if (typeof said === 'string') return said
    throw new EvsysError('PLUGIN_FAILED', `the user ${reference} said something that is no text`)
  }
}

export const oracle = defineAgent({
  kind: 'oracle',
  summary: 'Runs the solution of a task folder: shows that the task can be solved and its tests see it.',
  needs: { model: false },
  async run({ environment, folder, logsDir, signal }) {
    if (environment === undefined || folder === undefined) {
      throw new EvsysError('AGENT_FAILED', 'oracle needs a task folder: this task has no solution to run')
    }
    const task = await loadTaskFolder(folder.path, { withoutVerification: true })
    const step = task.steps.find(({ name }) => name === folder.step)
    const { solutionDir, solveScript } = step?.solveScript === undefined ? task : step
    if (solutionDir === undefined || solveScript === undefined) {
      throw new EvsysError('AGENT_FAILED', `${task.name} comes without a solution`, {
        fix: 'add solution/solve.sh, or use another agent.',
      })
    }
    await environment.upload(solutionDir, '/solution')
    const script = `/solution/${solveScript.split('/').at(-1) ?? 'solve.sh'}`
    const user = (step ?? task).agent.user === undefined ? undefined : 'root'
    await environment.exec({ argv: shellCommand(`chmod +x '${script}'`), user }, signal)
    const env = { DEBIAN_FRONTEND: 'noninteractive', ...resolveEnvTable(task.config.solution.env, process.env) }
    const argv = shellCommand(`'${script}' > /logs/agent/oracle.txt 2>&1`)
    const ended = await environment.exec({ argv, env }, signal)
    // A solution may end with any code: the tests decide.
    if (ended.exitCode !== 0 && logsDir !== undefined) {
      await writeFile(join(logsDir, 'exit-code.txt'), String(ended.exitCode ?? ended.signal))
    }
    return { output: '' }
  },
})

export const nop = defineAgent({
  kind: 'nop',
  summary: 'Does nothing: a task whose tests pass it tests nothing.',
  needs: { model: false },
  async run() {
    return { output: '' }
  },
})
