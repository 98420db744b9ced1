// Callbacks that come with evsys.
import { csvMetrics } from './csv-metrics.ts'
import { debugLogger } from './debug-logger.ts'
import { earlyStopping } from './early-stopping.ts'
import { localLogger } from './local-logger.ts'
import { printProgress } from './print-progress.ts'
import { tensorboardLogger } from './tensorboard-logger.ts'

export const callbackPlugins = Object.freeze([
  csvMetrics,
  debugLogger,
  earlyStopping,
  localLogger,
  printProgress,
  tensorboardLogger,
])
