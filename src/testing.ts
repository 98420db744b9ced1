// `evsys/testing`: what the tests of a plugin need.

// Tokens of the mock engine: one for each byte.
export { byteTokenizer } from './backends/index.ts'
export {
  type ContextOptions,
  pluginContext,
  researchBrief,
  researchRace,
  researchState,
  runPlugin,
  type ScriptedModel,
  scriptedModel,
  seedScores,
  type TestContext,
  type Trained,
  type TrainFixture,
  trainPlugins,
} from './testing/index.ts'
