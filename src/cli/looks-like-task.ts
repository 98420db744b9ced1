// Task files and experiment files are both YAML with a name. Their keys tell them apart, also while they are broken.
import { ExperimentFile, TaskFile } from '../contracts/index.ts'

/** Whether a text is meant to be a task file. In doubt it is an experiment. */
export function looksLikeTask(text: string): boolean {
  const keys = new Map<string, string>()
  for (const [, key = '', value = ''] of text.matchAll(/^["']?([A-Za-z_$]\w*)["']?[ \t]*:(?:[ \t]+(.*))?$/gm))
    keys.set(key, value)
  const run = keys.get('run')
  // A command is text; the run of an experiment is a mapping, in the lines below or in braces.
  const isCommand = run !== undefined && /^[^\s{[#&*!]/.test(run.trim())
  const names = [...keys.keys()]
  const isExperiment = names.some((key) => key in ExperimentFile.shape && !(key in TaskFile.shape))
  const isTask = names.some((key) => key in TaskFile.shape && !(key in ExperimentFile.shape))
  return isCommand ? !isExperiment : isTask && !isExperiment && run === undefined
}
