// What opening a container takes, and what it gives.
import type { DockerParams } from './docker.ts'
import type { EnvironmentDefinition } from './environment-definition.ts'

export interface DockerOptions {
  readonly definition: EnvironmentDefinition
  readonly stateDir: string
  readonly params: DockerParams
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/** A container that runs, and how it is taken away. */
export interface StartedContainer {
  readonly id: string
  remove(): Promise<void>
}
