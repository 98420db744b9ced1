// What other rooms may use of the engines. Import it where an engine is opened, not where plugins are declared.
export { createMockEngine, type MockEngineOptions } from './mock/mock-engine.ts'
