// Whether a candidate may run: read first, then tried for a step or two.
import { randomBytes } from 'node:crypto'
import type { AttemptFailure, CandidateFiles } from '../../contracts/index.ts'
import { openCandidateSandbox } from './candidate-sandbox.ts'
import { dryAnswers } from './dry-answers.ts'
import type { Opened } from './run-candidate.ts'
import { makeRunFolder } from './run-folder.ts'
import { trainPhase } from './train-phase.ts'
import { checkCode } from './validate/check-code.ts'
import { checkFiles } from './validate/check-files.ts'
import { checkSyntax } from './validate/check-syntax.ts'
import { asFailures } from './validate/finding.ts'

/** What is wrong with it; rejects with a RunFailure where the dry run shows it. */
export async function checkCandidate(
  opened: Opened,
  files: CandidateFiles,
  signal: AbortSignal,
): Promise<readonly AttemptFailure[]> {
  const { task, program, options, limits, workDir } = opened
  const refused = checkFiles(task, program, files)
  if (refused.length > 0) return asFailures(refused) // they are never written
  const findings = checkCode(program, files)
  await using folder = await makeRunFolder(workDir, files, program, options.keepFolders === true)
  const common = {
    ...{ program, folder, limits, seed: task.seeds[0] ?? 0, trainSeconds: limits.dryRunSeconds, dry: true },
    nonce: newNonce(),
    ...(options.level === undefined ? {} : { level: options.level }),
  }
  {
    await using held = await openCandidateSandbox({ ...common, phase: 'answer' })
    findings.push(...(await checkSyntax(held, program, files, signal)))
  }
  if (findings.length > 0) return asFailures(findings)
  const begin = performance.now()
  const timeoutSeconds = limits.dryRunSeconds + limits.graceSeconds
  const trained = await trainPhase({ ...common, timeoutSeconds }, signal)
  // One that was still busy has left nothing to answer with.
  const answering = trained.cut ? undefined : await dryAnswers(opened, { ...common, nonce: newNonce() }, signal)
  const { peakMemoryBytes: training } = trained
  options.onDryRun?.({
    wallS: (performance.now() - begin) / 1000,
    memoryLimitBytes: limits.memoryBytes,
    ...(training === undefined ? {} : { peakMemoryBytes: Math.max(training, answering ?? 0), trainingBytes: training }),
    ...(answering === undefined ? {} : { answeringBytes: answering }),
  })
  return []
}

function newNonce(): string {
  return randomBytes(16).toString('hex')
}
