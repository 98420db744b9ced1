// What crosses between a command and the process that works out by which code and data a run would be made today.
import * as z from 'zod'
import { ErrorRecord, PluginSpec, RunConfig } from '../../contracts/index.ts'

export const Recipe = z.strictObject({
  key: z.string(),
  config: RunConfig,
  /** Loggers and other callbacks of the experiment. */
  callbacks: z.array(PluginSpec),
})
export type Recipe = z.infer<typeof Recipe>

export const RecipeStart = z.strictObject({
  project_dir: z.string(),
  plugin_files: z.array(z.strictObject({ spec: z.string(), from: z.string() })),
  recipes: z.array(Recipe),
  cache_dir: z.string().optional().describe('Where rows are kept; absent: the cache of the project.'),
})
export type RecipeStart = z.infer<typeof RecipeStart>

export const RecipeHashes = z.strictObject({
  key: z.string(),
  code_hash: z.string().optional(),
  data_hash: z.string().optional(),
  data_key: z.string().optional().describe('Of the rows in the cache.'),
  /** Why a hash is missing. */
  error: ErrorRecord.optional(),
})
export type RecipeHashes = z.infer<typeof RecipeHashes>

export const FromRecipes = z.discriminatedUnion('type', [
  RecipeHashes.extend({ type: z.literal('hashes') }),
  z.strictObject({ type: z.literal('done') }),
])
export type FromRecipes = z.infer<typeof FromRecipes>
