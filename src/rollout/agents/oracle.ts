// Agents that need no model: they show whether a task can be solved, and whether its tests test anything.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineAgent, EvsysError } from '../../kernel/index.ts'
import { shellCommand } from '../environments/index.ts'
import { loadTaskFolder, resolveEnvTable } from '../task/index.ts'

/** Runs the solution that a task folder comes with: it shows that the task can be solved. */
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
    const root = (step ?? task).agent.user === undefined ? {} : { user: 'root' }
    await environment.exec({ argv: shellCommand(`chmod +x '${script}'`), ...root }, signal)
    const ended = await environment.exec(
      {
        argv: shellCommand(`'${script}' > /logs/agent/oracle.txt 2>&1`),
        env: { DEBIAN_FRONTEND: 'noninteractive', ...resolveEnvTable(task.config.solution.env, process.env) },
      },
      signal,
    )
    // A solution may end with any code: the tests decide.
    if (ended.exitCode !== 0 && logsDir !== undefined) {
      await writeFile(join(logsDir, 'exit-code.txt'), String(ended.exitCode ?? ended.signal))
    }
    return { output: '' }
  },
})

/** Does nothing: tests that pass it test nothing. */
export const nop = defineAgent({
  kind: 'nop',
  summary: 'Does nothing: a task whose tests pass it tests nothing.',
  needs: { model: false },
  async run() {
    return { output: '' }
  },
})
