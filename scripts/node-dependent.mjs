// Which unit tests run again on the other supported Node versions in CI: those of code that leans on Node or V8 where versions
// may differ. Mathematics, parsing, schemas, and what others here cover already, run there in `npm run test:full`, which takes
// the whole suite. tests/node-dependent.test.ts finds test files that start something and are in neither list.

/**
 * `newest`: what takes long, over parts whose own tests run on every version, runs on the newest alone; the versions between
 * that one and the oldest, which runs all, seldom differ from both.
 * @type {{ files: string[], why: string, newest?: boolean }[]}
 */
export const nodeDependent = [
  {
    files: [
      'src/kernel/plugins/{catalog,load-plugins}.test.ts',
      'src/kernel/process-identity.test.ts',
      'src/kernel/processes/*.test.ts',
      'src/kernel/temporary-folder.test.ts',
      'src/kernel/{atomic-file,blobs,file-error}.test.ts',
    ],
    why: 'plugin loaders and their hooks, processes, threads, atomic files, locks',
  },
  {
    files: ['src/kernel/plugins/plugin-host.test.ts'],
    why: 'plugins that end their process, told with their line by the inspector',
    newest: true,
  },
  {
    files: ['src/kernel/{evsys-error,hash,json-fault,map-concurrent}.test.ts'],
    why: 'texts of JSON errors, foreign objects, signals that abort, Unicode tables',
  },
  {
    files: [
      'src/lab/workers/{core-leases,run-holder,segment,spare-worker}.test.ts',
      'src/runner/worker/notify-written.test.ts',
      'src/backends/local/trainer-spare.test.ts',
      'src/lab/experiment/hold-lease.test.ts',
    ],
    why: 'worker processes: pipes, limits of memory, signals, exit codes',
  },
  { files: ['src/rollout/proxy/serve-proxy.test.ts'], why: 'an HTTP server and clients that leave it' },
  { files: ['src/lab/trials/trial-scratch.test.ts'], why: 'a process that is gone, and its folders' },
  { files: ['src/store/sqlite/*.test.ts', 'tests/stores/*.test.ts'], why: 'SQLite by the driver of that Node' },
  {
    files: [
      'src/tinker/{connection-watch,heartbeat,rest-client,tinker-client}.test.ts',
      'tests/trainer/{engine-host,handshake}.test.ts',
    ],
    why: 'HTTP servers and fetch, worker threads',
  },
  {
    files: ['tests/trainer/{crashes,engines,hostile-requests,kernel-crash,openai,weights}.test.ts'],
    why: 'whole trainers over HTTP, compression, an engine that crashes',
    newest: true,
  },
  {
    files: ['src/engine/cpu/**/*.test.ts', 'tests/engine/{kernel-faults,open-runtime,reference-engine}.test.ts'],
    why: 'WebAssembly, the loading of native code, typed arrays, shared memory, Math of V8',
  },
  { files: ['tests/engine/cpu-wasm.test.ts'], why: 'a whole engine on WebAssembly', newest: true },
  {
    files: ['src/models/tokenizer/*.test.ts', 'src/models/folders/*.test.ts'],
    why: 'Unicode tables of regular expressions, files, downloads',
  },
  {
    files: [
      'src/data/files/read-jsonl.test.ts',
      'src/data/rows/row-stream.test.ts',
      'src/data/cache/open-rows.test.ts',
    ],
    why: 'streams of files',
  },
  {
    files: ['tests/cli/process.test.ts'],
    why: 'the start of the program, its streams and signals',
  },
  {
    files: ['tests/cli/{interrupt,mutated-process,serve,doctor}.test.ts'],
    why: 'commands as processes, interrupted while they load, serve or look around',
    newest: true,
  },
  {
    files: ['src/research/tasks/data/prepare-splits.test.ts'],
    why: 'downloads, archives, a process that makes the splits',
  },
  { files: ['src/sandbox/open-sandbox.test.ts'], why: 'processes with many open files, their pipes and signals' },
  {
    files: ['src/rollout/mcp/*.test.ts', 'src/rollout/agents/{shell-loop,terminal}.test.ts'],
    why: 'servers and shells as child processes, HTTP streams',
  },
  { files: ['src/rollout/environments/state-copy.test.ts'], why: 'files through open folders, links, rights' },
  {
    files: ['tests/lab/run-experiment.test.ts'],
    why: 'whole experiments over processes',
    newest: true,
  },
  {
    files: [
      'src/config/load-experiment.test.ts',
      'src/kernel/text-forms.test.ts',
      'src/contracts/browser-safe.test.ts',
      'tests/repository.test.ts',
    ],
    why: 'they start programs or machines of Node themselves',
  },
  { files: ['tests/{lane,needs}.test.ts'], why: 'whole runs of tests, started as programs', newest: true },
]

/**
 * Tests that start something and still run on the other versions in `npm run test:full` alone.
 * @type {{ files: string[], why: string }[]}
 */
export const leftToFull = [
  {
    files: ['tests/attacks/attacks.test.ts', 'tests/workers/{attacking-recipes,beside-workers}.test.ts'],
    why: 'namespaces of the system shut recipes in, not Node; src/sandbox/open-sandbox.test.ts runs on every version',
  },
  {
    files: ['tests/malformed-inputs.test.ts', 'src/kernel/foreign-files.test.ts'],
    why: 'parsers of ours, bounded by what they count; their files are read as those of other tests',
  },
  {
    files: ['tests/lab/killed-processes.test.ts', 'tests/research/experiment-research.test.ts'],
    why: 'experiments like those of run-experiment, whose processes end by the same signals',
  },
  {
    files: ['tests/kernel-builds.test.ts', 'tests/engine/native-build.test.ts', 'tests/cli/engine.test.ts'],
    why: 'what a compiler makes of the kernels does not depend on Node, and open-runtime loads it',
  },
  {
    files: ['src/lab/workers/worker-pool.test.ts'],
    why: 'plugin-host shows how processes end on that Node, run-experiment how runs in them do',
  },
  { files: ['src/evaluate/scorer/open-scorer.test.ts'], why: 'plugin-host holds processes by the same guard' },
  {
    files: ['src/rollout/{cli,python}/*.test.ts'],
    why: 'programs of agents over pipes and sockets, as the processes of other tests; serve-proxy tests the HTTP part',
  },
  {
    files: ['src/research/propose/cli/*.test.ts'],
    why: 'programs of agents over pipes, as those of src/rollout/cli',
  },
  {
    files: ['src/rollout/environments/docker.test.ts'],
    why: 'it starts a double of docker, as others start their programs',
  },
  {
    files: ['tests/research/{bundled-tasks,candidate-api}.test.ts', 'tests/cli/task.test.ts'],
    why: 'plain scripts; the executor that starts them is tested there',
  },
  {
    files: ['src/arena/tables/read-search-table.test.ts'],
    why: 'it packs small files; how files are unpacked is tested with the readers of data',
  },
  { files: ['tests/lab/sealed-answers.test.ts'], why: 'namespaces of the system hide the answers, not Node' },
  {
    files: [
      'tests/cli/{run,eval,helpdesk,run-signals,dry-run-forecast}.test.ts',
      'tests/lab/{arm-weights,data,folder-benchmarks}.test.ts',
      'tests/faults/faults.test.ts',
    ],
    why: 'run-experiment and interrupt start the same processes and end them by the same signals',
  },
  {
    files: [
      'tests/sandbox/*.test.ts',
      'src/sandbox/{choose-level,container,kept-level}.test.ts',
      'src/evaluate/verifiers/code.test.ts',
    ],
    why: 'namespaces of the system shut code in, not Node; src/sandbox/open-sandbox.test.ts runs on every version',
  },
  { files: ['tests/rollout/agent-axis.test.ts'], why: 'an experiment like those of run-experiment, with other agents' },
  {
    files: ['tests/cli/lost-trainer.test.ts', 'tests/lab/{external-models,failures}.test.ts'],
    why: 'experiments like those of run-experiment; connection-watch and interrupt test sockets and signals',
  },
  { files: ['tests/lab/full-disk.test.ts'], why: 'the record on a full disk is a test of tests/stores' },
  { files: ['tests/cli/scaffolded-run.test.ts'], why: 'no-compiler.test.ts runs the quickstart on every version' },
  {
    files: ['tests/rollout/*.test.ts'],
    why: 'trials and jobs start their processes through environments, whose own tests run on every version',
  },
  {
    files: ['src/research/execute/validate/check-code.test.ts'],
    why: 'it starts nothing: imports stand in the texts that it reads',
  },
  {
    files: ['tests/research/{executor,tampering,tamper-bundled,honest-candidates,adversary}.test.ts'],
    why: 'namespaces of the system shut candidates in, not Node; src/sandbox/open-sandbox.test.ts runs on every version',
  },
  {
    files: ['tests/research/{killed,chaos}.test.ts', 'tests/lab/{killed,killed-rl}.test.ts'],
    why: 'the system kills a controller, not Node; how its workers and holders find that out is tested in src/lab/workers',
  },
  {
    files: ['src/report/finalize/finalize-research.test.ts', 'src/research/diff/unified-diff.test.ts'],
    why: 'they start git alone, on patches that no version of Node makes otherwise',
  },
]
