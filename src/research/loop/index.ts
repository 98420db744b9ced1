// What other rooms may use of the controller. It brings the record and statistics, so it is imported when it is needed.

export { openBank } from '../keep/seed-bank.ts'
export { findResearchSession } from './find-session.ts'
export { playSession } from './play-session.ts'
export { runResearch } from './run-research.ts'
export { openJournal, steerSession } from './session-journal.ts'
export { filesOf, noiseOf } from './session-views.ts'
export { startExperimentResearch } from './start-experiment.ts'
export { measureBaseline, startResearch } from './start-research.ts'
