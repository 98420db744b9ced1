// `evsys/testing`: runs plugins of any type against fixtures, for the tests of their authors and for our own.
export { type ContextOptions, pluginContext, type TestContext } from './plugin-context.ts'
export { researchBrief, researchRace, researchState, seedScores } from './research-fixtures.ts'
export { runPlugin } from './run-plugin.ts'
export { type ScriptedModel, scriptedModel } from './scripted-model.ts'
export { type Trained, type TrainFixture, trainPlugins } from './train-plugins.ts'
