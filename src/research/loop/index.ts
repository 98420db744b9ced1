// What other rooms may use of the controller. It brings the record and statistics, so it is imported when it is needed.
export { filesOf } from './candidate-files.ts'
export { findResearchSession } from './find-session.ts'
export { measureBaseline } from './measure-baseline.ts'
export { noiseOf } from './race-state.ts'
export { runResearch } from './run-research.ts'
export { openJournal } from './session-journal.ts'
export { startResearch } from './start-research.ts'
export { steerSession } from './steer-session.ts'
