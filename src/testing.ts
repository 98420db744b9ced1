// `evsys/testing`: what the tests of a plugin need.

export {
  type ContextOptions,
  pluginContext,
  runPlugin,
  type ScriptedModel,
  scriptedModel,
  type TestContext,
  type Trained,
  type TrainFixture,
  trainPlugins,
} from './testing/index.ts'
