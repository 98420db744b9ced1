// What attacks and honest recipes are made of: rows of data, each with what is expected of it. `play-recipes.ts`, `play-requests.ts` and
// `play-inputs.ts` play them against the product.

/** Where the code of a recipe runs. `load`: while its file is imported. */
export type Target =
  | 'load'
  | 'transform'
  | 'source'
  | 'callback'
  | 'algorithm'
  | 'loss'
  | 'train'
  | 'agent'
  | 'renderer'
  | 'metric'
  | 'verifier'

export interface RecipeRow {
  readonly name: string
  readonly target: Target
  /**
   * Body of an async function that has `say`, `save` (a text of the arm, kept for later hooks), `place` (where things lie), `node` (built-in
   * modules by name), and what its hook is given as `given`. A loss is a plain function.
   */
  readonly code: string
  /** Beside the plugin, by path in the project. */
  readonly files?: Readonly<Record<string, string>> | undefined
  /** Imports of the plugin file, as lines. */
  readonly imports?: string | undefined
  /** Of the arm, laid over the usual one. */
  readonly arm?: Readonly<Record<string, unknown>> | undefined
}

export interface AttackRow extends RecipeRow {
  /** The arm does to the end without gain, ends with an error, or either, by which limit comes first. */
  readonly expected: 'without gain' | 'stopped' | 'either'
  /** It is a burden to its neighbours while it lasts: played by itself. */
  readonly alone?: true | undefined
}

export interface HonestRow extends RecipeRow {
  /** What it says when all of it worked; every honest recipe says `done` at the end. */
  readonly says?: string | undefined
}

/** A request, or several, to a trainer server. The body is that of an async function that has `world` (see play-requests.ts). */
export interface RequestRow {
  readonly name: string
  readonly does: string
  /** Returns what was seen; throws `harm(...)` when it got through. */
  readonly code: string
  readonly alone?: true | undefined
}

/** An experiment file, dataset, model folder, benchmark or task folder that is hostile, and the command that reads it. */
export interface InputRow {
  readonly name: string
  readonly target: 'experiment file' | 'data file' | 'model folder' | 'benchmark' | 'task folder'
  /** Body of a function that writes files: `dir`, `node` and `write(path, text)`; returns changes of the experiment. */
  readonly make: string
  readonly command: 'validate' | 'dry' | 'run'
  /** The exit code. `any`: whatever it says, within the bounds. */
  readonly exit: 0 | 1 | 2 | 'any' | 'refused'
  readonly seconds?: number | undefined
  readonly memoryMb?: number | undefined
}

/** What came of a row. */
export interface Played {
  readonly name: string
  readonly list: 'attacks' | 'honest'
  readonly target: string
  /** `stopped`: it ended with an error. */
  readonly outcome: 'stopped' | 'without gain' | 'unhindered' | 'harm' | 'hindered'
  readonly detail?: string | undefined
}
