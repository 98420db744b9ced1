// Hashes of what a configuration means. Comments, key order, defaults written out, the layout of `extends` and the place of the
// project change nothing; neither do labels, nor where and how fast results are written.
import { durationSeconds, type Experiment, type RunConfig } from '../contracts/index.ts'
import { hashOf } from '../kernel/index.ts'

/** A path as it reads wherever the project lies. */
export type Portable = (path: string) => string

/** Hashes runs; parts that runs share are hashed once. */
export class ConfigHasher {
  readonly #portable: Portable
  readonly #known = new WeakMap<object, string>()

  constructor(portable: Portable) {
    this.#portable = portable
  }

  /** What a run computes: not its name or tags. `after` is the hash of the run whose weights it starts from. */
  run(config: RunConfig, after?: string): string {
    const { data, mix, model, algorithm, backend, agent, environment, seed } = config
    return hashOf({
      data: this.#part(data),
      mix: mix?.map((each) => this.#part(each)),
      model: this.#part(model),
      algorithm: this.#part(algorithm),
      backend: this.#part(backend),
      agent: agent === undefined ? undefined : this.#part(agent),
      environment: environment === undefined ? undefined : this.#part(environment),
      seed,
      after,
    })
  }

  experiment(experiment: Experiment): string {
    const { $schema, output_dir, max_concurrent_arms, runs, budget, research, ...rest } = withSecondsBudget(experiment)
    return hashOf({
      ...this.#withPortable(rest),
      budget,
      runs: runs.map(({ name, tags, ...run }) => ({ name, tags, hash: this.run({ name, tags, ...run }) })),
    })
  }

  #part(part: object): string {
    const known = this.#known.get(part) ?? hashOf(this.#withPortable(part))
    this.#known.set(part, known)
    return known
  }

  // Every text that was resolved as a path is known by its absolute form, so no list of fields is needed here.
  #withPortable<T>(value: T): T
  #withPortable(value: unknown): unknown {
    if (typeof value === 'string') return this.#portable(value)
    if (Array.isArray(value)) return value.map((item) => this.#withPortable(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, this.#withPortable(child)]))
  }
}

/** An experiment with its time budget in seconds: `30m` and `1800` are one budget. */
export function withSecondsBudget<E extends Pick<Experiment, 'budget'>>(experiment: E): E {
  const { budget } = experiment
  if (budget?.wall === undefined) return experiment
  return { ...experiment, budget: { ...budget, wall: durationSeconds(budget.wall) } }
}
