// What is used of the CPU engine from outside.
export { buildCpuEngine, inspectCpuEngine } from './inspect-cpu-engine.ts'
export { openCpuEngine } from './open-cpu-engine.ts'
