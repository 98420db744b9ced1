// A task folder after it was read and checked: what its task.toml says, its texts, and where its files are.
import type { Problem } from '../../kernel/index.ts'
import type { NetworkPolicy } from './network-policy.ts'
import type {
  AgentConfig,
  Artifact,
  EnvironmentConfig,
  Healthcheck,
  TaskConfig,
  VerifierConfig,
} from './task-config.ts'

/** What is done for one instruction: the whole task, or one of its steps. Paths are absolute; absent: no such file. */
export interface TaskPart {
  /** Text for the agent, without canary lines. */
  readonly instruction: string
  /** What the agent's phase may take: the step's own, else the task's. */
  readonly agent: AgentConfig
  /** What the agent's phase may reach. */
  readonly agentNetwork: NetworkPolicy
  readonly verification: Verification
  readonly artifacts: readonly Artifact[]
  /** Folder of tests. With a separate verifier it is the build context of its environment. */
  readonly testsDir?: string | undefined
  /** The script in `testsDir` that verifies: test.sh, on windows test.bat. */
  readonly testScript?: string | undefined
  readonly solutionDir?: string | undefined
  /** The script in `solutionDir` that the oracle runs. */
  readonly solveScript?: string | undefined
  /** Prior context for the agent, as ATIF. */
  readonly trajectoryPath?: string | undefined
}

/** How a part is verified: the step's fields, else the task's, else the defaults. */
export interface Verification {
  readonly mode: 'shared' | 'separate'
  /** Definition of the environment of a separate verifier. */
  readonly environment?: EnvironmentConfig | undefined
  readonly timeoutSec: number
  /** Task's variables under those of the step. Templates are not resolved: `resolveEnvTable` does that, at use. */
  readonly env: Readonly<Record<string, string>>
  readonly user?: string | number | undefined
  /** What the verifier's phase may reach. */
  readonly network: NetworkPolicy
  readonly collect: VerifierConfig['collect']
}

export interface LoadedStep extends TaskPart {
  readonly name: string
  readonly path: string
  /** Files that are put into the working directory before the agent starts. */
  readonly workdirDir?: string | undefined
  /** `setup.sh` in `workdirDir`: run before the agent. */
  readonly setupScript?: string | undefined
  /** The reward, or the rewards by key, below which no further step runs. */
  readonly minReward?: number | Readonly<Record<string, number>> | undefined
  readonly healthcheck?: Healthcheck | undefined
}

/** A task folder that can be attempted. A task of several steps has an empty `instruction`; its `testsDir` is shared by the steps. */
export interface LoadedTask extends TaskPart {
  /** Absolute folder. */
  readonly path: string
  /** `[task].name`, else the name of the folder. */
  readonly name: string
  /** `sha256:<hex>` over the files of the task: equal to Harbor's. */
  readonly digest: string
  /** task.toml with all defaults. */
  readonly config: TaskConfig
  readonly environmentDir: string
  /** What the environment may reach while nothing else is said. */
  readonly network: NetworkPolicy
  /** In order; empty: the task is one step, described by the task itself. */
  readonly steps: readonly LoadedStep[]
  /** Deprecated fields and other things that are worth knowing; nothing that prevents a run. */
  readonly notices: readonly Problem[]
}

export interface LoadTaskOptions {
  /** Nothing is verified: scripts of tests may be missing. */
  readonly withoutVerification?: boolean | undefined
}
