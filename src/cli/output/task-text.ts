// A task as people read it before it is queued.
import type { TaskFile } from '../../contracts/index.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'

export function taskText(task: TaskFile, { width }: Pick<Output, 'width'>): string {
  const { sweeps, parameters } = task
  const axes = Object.entries(sweeps?.sweep_config ?? {})
  const jobs = axes.reduce((product, [, values]) => product * values.length, 1)
  const rows: string[][] = [
    ['name', task.name],
    ['run', task.run.trim().replace(/\s*\n\s*/g, '; ')],
    ...(Object.keys(parameters).length === 0 ? [] : [['parameters', JSON.stringify(parameters)]]),
    ...axes.map(([name, values]) => [`sweep ${name}`, values.map((value) => JSON.stringify(value)).join(', ')]),
    ...(sweeps === undefined
      ? []
      : [['jobs', `${jobs}, judged by ${sweeps.sweep_metric} (${sweeps.lower_is_better ? 'min' : 'max'})`]]),
    ...(task.metric === undefined ? [] : [['metric', `${task.metric} (${task.direction ?? 'no direction given'})`]]),
  ]
  return table(rows, { width })
}
