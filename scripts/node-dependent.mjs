// Which unit tests run again on the other supported Node versions in CI: those of code that leans on Node or V8. `npm run
// test:full` runs the whole suite there. tests/node-dependent.test.ts finds test files that belong here and are not.

/** @type {{ files: string[], why: string }[]} */
export const nodeDependent = [
  {
    files: ['src/kernel/**/*.test.ts', 'tests/mutated-plugins.test.ts'],
    why: 'plugin loaders and their hooks, processes, threads, atomic files, locks, streams',
  },
  {
    files: ['src/lab/worker/**/*.test.ts', 'src/evaluate/{scorer,judge}/**/*.test.ts', 'src/lab/record/**/*.test.ts'],
    why: 'worker processes: pipes, limits of memory, signals, exit codes',
  },
  { files: ['src/store/**/*.test.ts', 'tests/stores/**/*.test.ts'], why: 'SQLite by the driver of that Node' },
  {
    files: ['src/tinker/**/*.test.ts', 'src/backends/**/*.test.ts', 'tests/trainer/**/*.test.ts'],
    why: 'HTTP servers and fetch, worker threads, compression',
  },
  {
    files: ['src/engine/**/*.test.ts', 'tests/engine/**/*.test.ts', 'tests/kernel-builds.test.ts'],
    why: 'WebAssembly, typed arrays, shared memory',
  },
  {
    files: ['src/models/**/*.test.ts', 'tests/mutated-models.test.ts', 'tests/bundled-models.test.ts'],
    why: 'Unicode tables of regular expressions, files, downloads',
  },
  { files: ['src/stats/**/*.test.ts'], why: 'Math of V8, to the last digits' },
  {
    files: ['src/data/**/*.test.ts', 'tests/mutated-experiments.test.ts'],
    why: 'streams of files, texts of JSON errors',
  },
  {
    files: [
      'tests/cli/{process,interrupt,mutated-process,run,run-signals,serve,scaffolded-run,doctor,engine,eval}.test.ts',
    ],
    why: 'the start of the program, its streams and signals',
  },
  {
    files: [
      'tests/lab/{run-experiment,killed,full-disk,sealed-answers,baselines}.test.ts',
      'src/lab/experiment/hold-lease.test.ts',
    ],
    why: 'whole experiments over processes, their end by a kill or a full disk',
  },
  {
    files: [
      'src/config/load-experiment.test.ts',
      'src/cli/output/shell-word.test.ts',
      'src/contracts/browser-safe.test.ts',
      'tests/{lane,needs,repository}.test.ts',
    ],
    why: 'they start programs or machines of Node themselves',
  },
]
