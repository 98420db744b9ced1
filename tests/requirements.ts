// What is promised, one id each. Tests cite ids in their names; tests/requirements.test.ts finds promises that no test cites.

export const requirements = {
  // Repository and CI
  'REPO-1': 'imports between rooms point to lower tiers only, through a room’s index',
  'REPO-2': 'installs with `npm ci --ignore-scripts`, without compiler or Python',
  'REPO-3': 'both README commands succeed on a fresh clone with only Node and git on the PATH',
  'REPO-4': 'the packed tarball passes publint and attw, holds no tests and installs with --ignore-scripts',
  'REPO-5': 'the suite passes on Node 20, 22 and 24',
  'REPO-6': 'a missing test component fails in CI and is a named, visible skip elsewhere',
  'REPO-7': 'every requirement is cited by a test, and every cited id is a requirement',
  'REPO-8': 'every error code has an entry in docs/reference/errors.md',
  'REPO-10': 'exported names use the words of the glossary',
  'REPO-11': 'a plugin of each type can be run against a fixture with evsys/testing',
  'REPO-12': 'the guides show a plugin of each type that compiles, passes its tests and is used, with the packed evsys',
  'REPO-13': 'every page of docs is reached from docs/README.md and uses the words of the glossary',
  'REPO-9':
    'a test that fails, or passes at its second try only, is named at the end of CI; more than two second tries fail a lane',

  // Contracts
  'CON-1': 'every field of the experiment file has a type, a default and a description',
  'CON-2': 'the task file is strict at every level; quoted sweep values take the parameter’s type',
  'CON-3': 'events form one discriminated union, and every event round-trips through JSON',
  'CON-4': 'reduceRun is a pure fold: replay equals live, duplicates and reordered tails change nothing',
  'CON-5': 'the --json documents (errors, plans, experiment results, history) have schemas',
  'CON-6': 'data rows have three strict shapes, detected in a fixed order',
  'CON-7': 'contracts import nothing but zod and run in a browser',
  'CON-8': 'plugin definitions infer their params from their schema',

  // Research over experiment files: what may change
  'CFG-600': 'a document that is made to say something else keeps every byte of what stays, its comments among them',
  'CFG-601': 'the space of an experiment holds what its file says today',
  'CFG-602': 'every point of the space of every bundled example is a document that the validator takes',
  'CFG-603': 'the edits between two documents, applied to the first, give the second; patches give bytes back',
  'CFG-604': 'an edit changes its place alone and has one sentence and an area',
  'CFG-605': 'an edit that may not or cannot be applied is refused by its number, with a code and words',
  'CFG-606':
    'no edits change benchmarks, metrics, verifiers, splits, seeds or budget, nor put an agent without the model in',
  'CFG-607':
    'a candidate writes files of its scope alone, and brings no plugin that judges or takes the place of another',
  'CFG-608': 'edits of different places give the same document in any order',
  'CFG-609': 'spaces follow from marks of plugin schemas; what is left out has a reason',
  'CFG-610':
    '`space`, `transforms` and `off_limits` narrow or widen a space; what the schemas do not have is refused at its place',
  'CFG-616':
    'every param of a built-in recipe, transform or harness is searched by its mark or its schema, or says why it is not',
  'CFG-617':
    'a stage that `research.stages` declares is put in and left out, with a readable diff, and brings no other rows',
  'CFG-611': 'one arm of a file, with what it extends, is a document that computes the same',
  'CLI-600': '`research space FILE` prints what may change and what stays and why, alike in words and as data',
  'PLG-600': '`cap` keeps at most so many rows of each class, in their order',
  'PLG-601': '`sort` orders rows by a field, equal ones as they came, and refuses what has no order',
  'PLG-602': '`few_shot` puts solved examples before every conversation',
  'LAB-600': 'training goes through the rows in the order of the data where `row_order` says so',

  // Kernel
  'KER-1':
    'a registry is an instance; a project plugin shadows a built-in with a notice; two of one project are an error naming both files',
  'KER-2': 'an unknown kind is an error with a suggestion and the known kinds',
  'KER-3':
    'plugins in TypeScript load without a build from src/plugins, `plugins:` and npm packages; `evsys/*` is the host',
  'KER-4': 'a plugin’s hash covers everything it imports from the project and changes with it',
  'KER-5': 'a plugin that throws, exits, hangs or floods at load is a typed error with file and line, never a crash',
  'KER-6': 'errors have a code, a place, a fix; they are recognised by brand across copies',
  'KER-7': 'code that scores is loaded as it was before any recipe ran, from its source, or not at all',
  'KER-8': 'retry honours retryable, backs off with a cap, and stops at the signal',
  'KER-9': 'mapConcurrent keeps order, bounds concurrency, aborts siblings and settles all before it returns',
  'KER-10': 'randomness is keyed by a seed path: equal keys give equal draws, whatever else was drawn',
  'KER-11': 'an atomic write leaves the old or the new file, also under kill -9 and on a full disk',
  'KER-12': 'blobs are content-addressed, shared between writers, and pinned by name before they appear',
  'KER-13': 'secrets resolve at use and are removed from everything that is emitted',
  'KER-14': 'every define* returns a frozen plugin that the registry can list and describe',
  'KER-41':
    'time in which a process has no processor, since others have it or it is suspended, does not count as being stuck',
  'KER-430':
    'in folders that foreign code writes a link leads nowhere and a pipe is not waited for: what is read is a regular file of bounded size, what is written lands where it belongs',

  // Configuration
  'CFG-1': 'run, runs and matrix: exactly one, after root shorthand and sibling base_run are applied',
  'CFG-2': 'matrix axes apply before validation, in declaration order, with default or templated names',
  'CFG-3': 'extends merges deeply through a chain; cycles and missing files are located errors',
  'CFG-4': '--set overrides any path in every arm and is located when wrong',
  'CFG-5': 'n_repeats and base_seed make named replicate runs grouped by arm',
  'CFG-6': 'continual and stages become chains of runs with weights from the stage before',
  'CFG-7': 'objective and success_metric name a benchmark metric; selecting on test is an error',
  'CFG-8': 'claims name arms that exist, by name, axis values or base_model',
  'CFG-9': 'benchmark entries are typed, checked and defaulted the same for in-loop and final scoring',
  'CFG-10': 'first-generation keys are translated, with one notice each',
  'CFG-11': 'budgets and durations are parsed with units',
  'CFG-12': '--dry and --steps cap every arm and stage',
  'CFG-13': 'the JSON Schema accepts what the loader accepts and describes every field',
  'CFG-14': 'validate --deep checks every params block, plugin, path, metric and verifier before anything starts',
  'CFG-15': 'every fragment of the seed documents loads, or errs as its comment says',
  'CFG-16': 'paths are relative to the file that wrote them',
  'CFG-17': 'the config hash depends on meaning alone: not on comments, key order, file place or extends layout',

  // Errors that people read
  'ERR-1': 'every problem of a file is reported at once, in file order, with file:line:col, excerpt, caret and fix',
  'ERR-2': 'locations go through extends, --set and matrix axes to the text that was written',
  'ERR-3': '1,000 mutated experiment files: exit 2, no stack trace, a line at the mutation or its parent',
  'ERR-4':
    '300 mutated plugin files (60 in the fast lane): exit 2, no stack trace, a line at the mutation or its parent',

  // Command line
  'CLI-1': 'init makes a project whose experiment validates deeply; new-experiment adds one; nothing is overwritten',
  'CLI-2': '--json prints one document on stdout for results and errors; logs go to stderr',
  'CLI-3': 'exit codes: 0 done, 1 failed, 2 wrong input, 130 interrupted',
  'CLI-4': 'help shows examples; unknown commands and options are exit 2 with a suggestion',
  'CLI-5': 'list and schema describe built-in and project plugins alike',
  'CLI-6': 'doctor reports what the machine has, what is missing and how to get it',
  'CLI-7': 'completion scripts work in bash, zsh and fish',
  'CLI-8':
    'a project with custom transform, verifier, metric and algorithm works from the packed tarball without a local copy of evsys',

  // Command line: experiments and their record
  'CLI-9':
    'run takes an experiment to its conclusion: a live view on a terminal, lines elsewhere; verdict, arms, files and next step',
  'CLI-10': 'run --json prints the result of the experiment and nothing else; exit 1 when no run completed',
  'CLI-11':
    'the first Ctrl-C saves and says how to go on, exit 130; --resume ends in the same record; the second ends at once',
  'CLI-12': '--dry prints plan, power and forecast, then runs a trial that counts as no evidence',
  'CLI-13': 'history is compact, newest first and no longer than asked for; words find experiments',
  'CLI-14':
    'show tells arms, runs, scores, conclusion, authors’ words and files of an experiment by id, prefix or name',
  'CLI-15':
    'compare sets experiments side by side; only scores of equal scorers are compared, and the others are named',
  'CLI-16':
    'conclude adds an author’s word beside the computed conclusion; invalidate takes a run out and computes it again',
  'CLI-17': 'repro writes a file that repeats the very plan, and says which of code, data, scorers and machine differ',
  'CLI-18':
    'export and import carry an experiment to another record, equal to the last number; a broken file changes nothing',
  'CLI-19':
    'import of a log: every row a run, scores that are claimed and never count, kept gains below the log’s own noise counted',
  'CLI-20': 'gc, du and db: nothing that a conclusion rests on is dropped; a copy is whole and never replaces a file',
  'CLI-21': 'runExperiment() in code, as the run.ts of a new experiment has it, writes the same record as `evsys run`',

  // Built-in plugins
  'PLG-1': 'transforms stream, stop at the signal, keep the row’s other keys and the place it came from',
  'PLG-2':
    'templates are checked with the params; a field that a row lacks is an error with the row’s place and a suggestion',
  'PLG-3': 'dedupe keeps the first of equal rows and is idempotent; filter keeps what meets every condition',
  'PLG-4': 'sample is of exact size, in order and decided by the seed; shuffle is a permutation decided by the seed',
  'PLG-5': 'JSON and JSON Lines: every malformed row is a typed error with file, line and column, all told at once',
  'PLG-6': 'a data store never leaves its folder and replaces a file as a whole or not at all',
  'PLG-7':
    'metrics count every task and sample; pass@k and pass^k are unbiased; unknown usage is undefined, never zero',
  'PLG-8': 'verifiers follow their stated rule; no answer, however hostile, makes one throw or hang',
  'PLG-9': 'a benchmark folder is read with located errors; its hash depends on the meaning of its tasks alone',
  'PLG-10': 'sft trains on exactly the tokens that the chosen assistant messages produced',
  'PLG-11': 'learning rate, checkpoints and number of steps are exact functions of the params',
  'PLG-12':
    'the mock engine’s gradients are those of its losses, which are sums over tokens; it learns what there is to learn',
  'PLG-13':
    'the mock engine gives equal bytes for equal seeds, whatever is computed beside it; its checkpoints are checked',
  'PLG-14':
    'the mock backend takes requests in the order in which they are made, pipelines them, and resumes to the same weights',
  'PLG-15':
    'plain_chat marks exactly the produced tokens, a prompt is a prefix of its conversation, no content forges a turn',
  'PLG-16':
    'every built-in has a summary, described params and a JSON Schema, and is declared without loading an engine',
  'PLG-20': 'batches by tokens hold every row once per epoch within their budget, in an order that the seed decides',
  'PLG-21': 'dpo has the gradient of its loss, asks for the reference once per row, and makes chosen answers likelier',
  'PLG-22': 'rejection_sft trains on the policy’s own answers that the tasks’ verifiers accept, and on nothing else',
  'PLG-23': 'combo chains recipes in one run: weights go on, optimiser and learning rate start anew',
  'PLG-24':
    'prompt_search chooses a system prompt on validation alone, moves no weight, and answers with what it found',

  // Data
  'DATA-1':
    'rows after their transforms are cached by source, transforms, code and drawn seed; a hit reads nothing of the raw data',
  'DATA-2': 'a cache entry is whole or not used: after a kill, with several writers, cut short or altered',
  'DATA-3': 'training rows that repeat questions of a benchmark, exactly or nearly, are found with both places',
  'DATA-4':
    'such a leak is an error before any run starts, unless the benchmark allows it; then the result tells of it',
  'DATA-5': 'CSV by RFC 4180: quoted separators and line breaks, header and types checked, faults with their lines',
  'DATA-6': 'Parquet as rows of JSON, one row group at a time; a damaged file is a typed error',
  'DATA-7': 'Hugging Face datasets from a folder or the hub cache, by card or file names; folders of files with labels',
  'DATA-8': 'named datasets have versions that never change, hold content once, and refuse what cannot be read',
  'DATA-9': 'dedupe near drops texts above the threshold, as comparing all pairs would, in bounded memory',
  'DATA-10': 'split keeps equal rows and groups in one part, whatever the seed',
  'DATA-11': 'mix has the shares asked for, of exact size, decided by the seed',
  'DATA-12': 'reasoning is dropped, or kept in one form, wherever it was written',
  'DATA-13': 'rows as tokens are cached by rows, renderer and tokenizer, made in parallel, whole or not used',
  'DATA-14': 'run --dry and show --data tell rows before and after, and the tokens that are trained on',
  'DATA-15':
    'training rows are rendered once for all runs of a project, by threads where they are many, to the same tokens',
  'DATA-16': 'gc removes cache entries that were not used for a while, and nothing else',

  // The record
  'STO-1': 'one interface over SQLite and PostgreSQL: one contract suite passes on both',
  'STO-2': 'an experiment is recorded whole before anything starts; recording it again changes nothing',
  'STO-3': 'numbered items arrive exactly once, however they are cut, repeated and overlapped; a gap is refused',
  'STO-4': 'events commit with the rows they tell of: replay equals live, and what the fold takes back the tables do',
  'STO-5':
    'points are written in batches, the last of a step counts, none is lost when a write fails; a curve keeps its peaks',
  'STO-6':
    'search finds words and their beginnings in names, hypotheses and conclusions, best first; no text is a syntax error',
  'STO-7': 'experiments and runs are found by id, by name, and by an unambiguous beginning of an id',
  'STO-8': 'an author’s words and invalidations stand beside what was computed, never over it',
  'STO-9': 'a lease has one holder; a late one cannot write; a clock that is set back locks nobody out',
  'STO-10':
    'durable jobs: each ends, each step’s output counts once, also when workers are killed; backoff, dead, cancel',
  'STO-11':
    'a newer record is refused untouched; an older one is copied, then migrated, by one of however many processes',
  'STO-12': 'many processes write at once and any may be killed: nothing acknowledged is lost, the file stays sound',
  'STO-13':
    'a full disk, a damaged or foreign file, a server that is away: a typed error with a fix, and work goes on afterwards',
  'STO-14':
    'a backup is a consistent copy made while others write; gc drops only what no conclusion rests on; du counts all',
  'STO-15': 'the canonical record is equal for equal research, whatever the times, attempts, costs and ids',
  'STO-16': 'every text and every number that a schema admits comes back as it went in',

  // The lab: processes
  'LAB-1':
    'a segment holds numbered items of its run alone; a torn last line is ignored, a gap refused, a full disk a typed error',
  'LAB-2':
    'workers and scorers have a scrubbed environment and the secrets that plugins declare, which reach no event, log or error',
  'LAB-3':
    'a worker that exits, throws where nobody catches or runs out of memory fails its run alone, with the last lines it printed',
  'LAB-4': 'a worker that hangs is told from one that computes for long, and is ended with the line it was at',
  'LAB-5': 'a worker that prints or reports without end is ended, and its run is a flood',
  'LAB-6': 'nothing that a plugin writes or replaces is taken for a message of its worker',
  'LAB-7': 'workers are used again while they stay clean and their plugins unchanged, so many at a time, in order',
  'LAB-8': 'what plugins log becomes events, so many and no more',
  'LAB-9': 'workers and all they started end with their controller; the next attempt waits until they have',
  'LAB-10': 'a run that is asked to stop saves and leaves; one that is aborted is killed at once',
  'LAB-11': 'cores are shared by all processes of a user, in order, and come back when their holder is killed',
  'LAB-12': 'a worker sees instructions and no expected answer; a scorer runs no code of the recipe',
  'LAB-13': 'the hash of a scorer covers tasks, verifiers, metrics and their code, and nothing else',
  'LAB-14':
    'an answer that could not be scored is null: it stays in the denominator, bounds the score and never lifts it',
  'LAB-15': 'a scorer that dies is started again; an answer that takes it down again has no reward',
  'LAB-16': 'scores are broken down by task metadata; unknown usage is never zero',

  // The lab: experiments
  'LAB-20': 'an experiment file becomes runs, scores, a verdict, a record and files',
  'LAB-21': 'the same file, seeds and engine give the same canonical record',
  'LAB-22': 'a run that fails, or whose plugin ends its process, is named and leaves the others alone',
  'LAB-23': 'stages and continual datasets chain weights: a later run starts from the one before',
  'LAB-24': 'an experiment killed at any moment and resumed ends in the same canonical record',
  'LAB-25':
    'a matrix of arms and seeds has a score with interval per arm; an arm that fails is named and leaves the rest',
  'LAB-26': 'an experiment on a full disk ends with an error that says so, and in the same record once there is space',
  'LAB-27': 'Ctrl-C saves; what is saved then is not in the record of the resumed experiment',
  'LAB-28':
    'experiments of one project run side by side; one experiment has one controller, and a second one is told of it',
  'LAB-29': 'a plugin that exits, throws unheard, spins or takes all memory fails its own run with a code of its own',
  'LAB-30': 'a budget is a hard stop over all runs; a step that is done again is charged once, also after a resume',
  'LAB-31': 'runs start in order, so many at a time, chains one after another; an error waits for what still runs',
  'LAB-32':
    'the lease of a dead controller is taken over at once, that of a living one never; who lost it cannot write',
  'LAB-33':
    'the verdict is that of the claim’s interval; the words hold effect, interval, n, failures and what would decide',
  'LAB-34': 'an attempt has a folder, a number and a segment of its own, whatever the one before left',

  // The lab: training and callbacks
  'LAB-40':
    'the rows of a step follow from seed and number alone: every row once per epoch, each epoch in its own order',
  'LAB-41': 'the best checkpoint is the best on validation, ties to the earlier; the newest few and the best are kept',
  'LAB-42':
    'a loss that is no number or far above the usual rolls the run back at half the rate; after three times it has diverged',
  'LAB-43': 'csv_metrics has every step once, in whole rows, also after a resume',
  'LAB-44': 'early_stopping counts evaluations on validation without improvement, in either direction',
  'LAB-45': 'local_logger writes the tree of a run, by split and step, without a loss or a repeat after a resume',
  'LAB-46': 'print_progress and debug_logger log what happens as lines',
  'LAB-47': 'tensorboard_logger writes event files with true checksums, one for each start of training',
  'LAB-48':
    'every step is told and saved when due, also one without a batch; the end that is a checkpoint is saved once',
  'LAB-49': 'an algorithm that drives the whole run reports, saves, is scored, stopped and failed like any other',
  'LAB-50': 'score_only and base_model: a model is scored as it is, reads no data and saves nothing',
  'LAB-51': 'callbacks hear every hook in order, in whatever way a run ends; one that throws is told and skipped',
  'LAB-52': 'the reference of a run is what it started from, in every step, stage and attempt',
  'LAB-53':
    'known weaknesses of orchestration, scoring, training and checking are beaten, each by a test that names it',
  'LAB-54': 'rows, models, answers and plugins of a run: checked, hashed, addressed and let go of',
  'LAB-55':
    'evaluations go on beside training, on the weights of their step; what follows from them happens at fixed steps',
  'LAB-56': 'the guard of a resumed run knows the losses that it knew, and sees the same collapse at the same step',
  'LAB-57': 'the gradients of several batches add up to the update of one large batch',
  'LAB-58': 'every recipe resumes to the step: the metrics that follow are equal to the bit',
  'LAB-59': 'a chain of datasets tells what every benchmark lost, beside one arm that trained on all at once',
  'LAB-60': 'the data of an example is what its committed script makes; its benchmarks hold out what they ask',

  // Evaluation
  'EVL-1':
    'the final answer of a text is found by one rule, the last mark counting; numbers are read as people write them',
  'EVL-2': 'math compares what notation means, exactly where it can; nothing is executed and no answer makes it hang',
  'EVL-3': 'json_schema checks every keyword that a schema has, or refuses the schema before anything is scored',
  'EVL-4':
    'a judge sees the answer as data, gives a verdict in one strict form or none, is asked once per question, and its cost and agreement with labels are told',
  'EVL-5': 'a verifier that needs what is not there is refused when the benchmark is opened',
  'EVL-6': 'every score has an interval over tasks; majority@k, latency and the other metrics follow their definitions',
  'EVL-7':
    'expected answers are in no file, environment, memory or port that recipe code reaches where the machine can hide them; else the record says so',
  'EVL-8':
    'the untrained model and named models are scored on the same tasks by the same scorer, beside the arms; none is ever taken for an arm',
  'EVL-9':
    'named benchmarks have versions by content; eval scores a model with intervals and counts looks; stored answers are scored anew, and replaced for all runs or none',
  'EVL-10':
    'a benchmark made of a stored dataset reads the version that it names, and its answers are hidden like any others',

  // Attacks: the lists of tests/attacks
  'ATK-1': 'no attack of the lists gains anything: score, record, files and processes are as without it',
  'ATK-2': 'no honest recipe or input of the lists is hindered',
  'ATK-430':
    'a run names and reports weights of its own alone: checkpoints of other runs, files elsewhere and earlier runs that it claims to repeat are refused, and a system prompt is asked by recipes that try them',
  'ATK-3': 'no recipe raises a score that counts, whatever it does to its process, its messages and its files',

  // Models
  'MOD-1': 'tokenizers give the ids of the reference implementation, or refuse the file',
  'MOD-2': 'decoding is exact, also of bytes that are no text; what is no token is refused',
  'MOD-3': 'content never becomes a special token',
  'MOD-4': 'tokens with a role, added tokens and rows of the model beyond the vocabulary are known',
  'MOD-5': 'a malformed file of a model is a typed error with file, line and column, all problems at once',
  'MOD-6': 'what could not be followed exactly, or could run without end, is refused by name',
  'MOD-8': 'damaged tokenizers, configs and templates are typed errors or work; none crashes or hangs',
  'MOD-10': 'a conversation becomes the tokens of the model’s own chat template',
  'MOD-11':
    'each token is known by its message and by whether an assistant produces it, in templates of several habits',
  'MOD-12': 'a template that fails, runs away, refuses a conversation or cannot be split is a typed error',
  'MOD-13': 'no content forges a turn, whatever it spells and wherever the template puts it',
  'MOD-14': 'an answer is read back as the message that it was written from',
  'MOD-20': 'a name leads to a folder of the project, to the Hugging Face cache or to a bundled model',
  'MOD-21': 'a model that is not here is a typed error that says how to get it; no name leads out of the cache',
  'MOD-30': 'bundled models have the files that their shape says, and the promised sizes',
  'MOD-31': 'files of bundled models are checked by digest; damaged or missing ones are a typed error',
  'MOD-32': 'bundled models are trained: they need few bits for new English text, answer and end their turn',
  'MOD-33': 'the first experiment of a project trains evsys/tiny on this machine and supports its claim',
  'MOD-40':
    'the recipe of the bundled models: clean text without duplicates, seeded dialogues, tokens, and an n-gram peer',
  'MOD-41':
    'tasks that check a bundled model are functions of a seed; what is tested was neither trained nor chosen on',
  'MOD-50': 'each named renderer writes what the chat template of its family writes, token by token',
  'MOD-51': 'the mask of a named renderer covers what an assistant produces and what ends it, and nothing else',
  'MOD-52':
    'a named renderer reads its own answers back: text, reasoning, calls; what is cut off or malformed is not complete',
  'MOD-53':
    'a renderer refuses what its format cannot say, and tokenizers of another family; an unknown name gets near ones',
  'MOD-55':
    'tools are declared in the words of the model’s family or by its template; where they cannot be, that is told',
  'MOD-54': 'a renderer says whether earlier answers stand as they were produced',
  'MOD-60': 'a chat template is bounded in steps, text and lists: one that never ends is a typed error within seconds',
  'CFG-60': 'of a hundred thousand unknown keys the first hundred are explained, at once',

  // Inference clients
  'INF-1': 'every client answers with text, finish reason, usage and cost, whatever its wire format',
  'INF-2':
    'conversations, images, tools and their results are written as each API wants them; what it cannot say is refused',
  'INF-3':
    'overload, timeouts, broken connections and broken bodies are tried again in one layer, as long as the provider asks',
  'INF-4':
    'what is refused is told at once, with the provider’s words and a fix; what is no answer is not taken for one',
  'INF-5': 'calls, reasoning, cuts and refusals are read out of every wire format',
  'INF-6':
    'tokens and dollars are counted with frozen prices, cache and length included; an unknown price is never zero',
  'INF-7': 'clients are found by kind, params are checked, secrets are put in where they are used and come out nowhere',
  'INF-8': 'a model that is known by its name has a client; no other is guessed',
  'INF-9': 'the mock client answers from a template',
  'INF-10': 'a cassette replays by request, offline; a miss is an error, and it holds neither secrets nor failures',
  'INF-11': 'models of a training service, here or elsewhere, answer as clients do',

  // The trainer
  'TRN-1': 'any client is answered its configuration; unknown fields are taken; keys are compared in constant time',
  'TRN-2': 'sessions have ids and heartbeats; a silent one loses its models, a heard one keeps them',
  'TRN-3': 'a request sent twice is done once; results are held, read again, announced, and told lost from unknown',
  'TRN-4': 'passes are JSON or protobuf, packed or not, with equal results; what cannot be read is refused',
  'TRN-5': 'work is done in the order of its numbers; passes are sums, one record per datum; a gap fails what waits',
  'TRN-6': 'steps follow AdamW with their own settings and use up the gradient',
  'TRN-7': 'a wrong request is told at once with its place, and the model goes on',
  'TRN-8': 'many adapters train at once, each as if alone',
  'TRN-9': 'saved weights go on as if nothing had happened; names are not reused by accident',
  'TRN-10': 'samples come from sessions, paths and base models, with the log-probabilities of a forward pass',
  'TRN-11': 'runs and checkpoints are listed, published, given a time to live, downloaded and deleted',
  'TRN-12': 'a checkpoint is there as a whole or not at all, and known after a restart; lost results are told so',
  'TRN-13': 'many requests of one client delay another by one',
  'TRN-14': 'polls and heartbeats are answered while the engine computes; an engine that dies takes no trainer down',
  'TRN-15': 'any base model and any checkpoint answers OpenAI’s clients: completions, chat, streams, log-probabilities',
  'TRN-16': 'malformed requests get answers of the 400s, and the trainer goes on',
  'TRN-17': 'the same experiment gives the same metrics on mock, local and tinker',
  'TRN-18': 'official clients of four versions train, save, resume and sample against `evsys serve`',
  'TRN-19':
    'a kernel that crashes fails what was asked with a typed error; the trainer goes on, natively from checkpoints',
  'TRN-20':
    'a key sees, samples, trains, downloads and deletes only what it made; an owner key everything, a read key changes nothing; keys have their turns',
  'TRN-21': 'each key has a quota of models, checkpoints, bytes and waiting samples; beyond it others are not affected',
  'TRN-22': 'work whose client is gone is taken out of the queue or stopped',
  'TRN-23':
    'numbers, names and bodies are bounded before they are used; one bad record breaks no list, no answer names a file',
  'TRN-24':
    'training waits for no one’s long answers, nor answers for training: the engine divides its time, and one request for many samples holds up no other',

  'HAR-460': 'folders deeper than any path, which an agent left, are removed after its trial and after a killed job',
  'REL-460': 'whatever reads what others wrote refuses what is malformed with a typed error, within 5 s and 500 MB',
  'TRN-460':
    'what keys leave behind is bounded: sessions, runs without checkpoints, results, bodies; one key uses up no room of another',

  // Statistics
  'STA-1': 'special functions agree with 40-digit references: 1e-12 for central, 1e-11 for noncentral distributions',
  'STA-2':
    'means and variances keep their digits (NIST StRD); t intervals (one sample, paired, Welch) match published examples',
  'STA-3':
    'bootstrap intervals (of any statistic, over seeds and tasks) repeat with their seed and match a published one',
  'STA-4': 'the sign-flip test is exact up to 20 pairs, drawn beyond, and says the smallest p that it can reach',
  'STA-5': 'Holm matches published examples',
  'STA-6': 'Wilson and exact intervals of a proportion match published tables',
  'STA-7': 'pass@k and pass^k are unbiased; pass@k never falls as k grows',
  'STA-8': 'evidence may be looked at after every seed: luck reaches 20 in at most 5 %',
  'STA-9': 'shrinkage takes back the luck of effects that were picked among many',
  'STA-10': 'power, smallest detectable effect and seeds needed match simulation',
  'STA-11': 'noise is pooled over the baseline’s seeds and the differences of every candidate',
  'STA-12': 'a race drops bad candidates early, keeps on strong evidence, parks near misses',
  'STA-13':
    'a paired comparison reports effect, interval over seeds, interval over seeds and tasks, the three variances, and which one limits',
  'STA-14':
    'what cannot be paired is named; lost scores stay in the comparison as bounds and widen it to all they may have been',
  'STA-15':
    'a verdict follows the interval; one seed, or seeds that only repeat each other, support nothing by themselves',
  'STA-16': 'several arms are judged by Holm, so that luck supports one no more often than a single claim',
  'STA-17': 'the 90 % interval holds the truth in 88 to 92 % of simulated experiments at 3, 5 and 8 seeds',
  'STA-18':
    'under the null, the 95 % upper bound of false “supported” in 2,000 simulated experiments is at or under 6 %',
  'STA-19': 'statistics are pure: no dependency, no Node, no chance or clock of their own',

  // Training protocol: wire and client
  'TNK-1':
    'protobuf of the training protocol: golden vectors byte for byte, every message survives encoding and decoding',
  'TNK-2': 'hostile protobuf bytes are a typed error: no crash, no hang, no allocation that they merely announce',
  'TNK-3': 'tinker:// paths have exactly run, kind and name; anything else is refused',
  'TNK-4': 'requests tolerate unknown fields and nulls; absent fields take the defaults of the protocol',
  'TNK-10': 'a client keeps the path of its URL, sends its key or a fresh token, no nulls, and ignores unknown fields',
  'TNK-11': 'one layer repeats what may go away, for a bounded time, as headers ask; conflicts and refusals are final',
  'TNK-12': 'signals and deadlines end every wait; what is being sent is sent to its end',
  'TNK-13': 'requests of a model keep the order of their calls, pipeline, and are repeated under the same number',
  'TNK-14':
    'a large batch is split in order within the limits of the service; its metrics are reduced by name and datum',
  'TNK-15': 'errors say what failed, with request id, category, number and the words of the service',
  'TNK-16':
    'results are asked for at once while pending, with growing pauses when nobody answers, within a byte budget',
  'TNK-17': 'a refused request leaves the model usable; a request that may have been lost ends it, and says so',
  'TNK-18': 'protobuf and JSON give equal results; the client takes the form that the service takes',
  'TNK-19': 'presets: the differences of hosted Tinker, SkyRL, TuFT and Fireworks are handled and tested on a double',
  'TNK-20': 'a loss computed by the caller moves the weights as if the service had computed it',
  'TNK-21': 'samples, log-probabilities of prompts and top-k; a forgotten request is sent anew, failed work never',
  'TNK-22': 'samplers respect the limits of the service and back off together when it asks for that',
  'TNK-23': 'datums and sample requests are checked before they are sent; errors name datum and position',
  'TNK-24': 'runs, checkpoints, archives, lifetimes and publishing by REST',
  'TNK-25': 'a model goes on from a saved one, by its shape or by loading alone',
  'TNK-26': 'the heartbeat goes on while the main thread computes, and tells when nobody hears it',
  'TNK-27': 'a client offers the contract of the training loop, in the order of its calls',
  'TNK-28': 'the client completes training, saving, loading and sampling against a server that others wrote',
  'TNK-30': 'operators on log-probabilities have the gradients that finite differences measure',
  'TNK-31': 'losses made of operators (DPO, IPO, KTO-like) have right gradients and train through the service',
  'TNK-32': 'the guide to the client shows code that is compiled and run',

  // Engines
  'ENG-1':
    'safetensors of float64, float32, float16 and bfloat16 round-trip, whole or in parts; a malformed file is a typed error',
  'ENG-2':
    'config.json becomes a shape, or every problem of it at its place; what would change the numbers is never ignored',
  'ENG-3':
    'the reference engine has the logits of transformers and the gradients of float64 PyTorch, for Llama, Qwen2 and Qwen3, within 1e-5',
  'ENG-4': 'every loss of the protocol is a sum over tokens, with the derivative that finite differences give',
  'ENG-5':
    'an adapter follows from its seed, changes nothing until it is trained, and trains the parts that were asked for',
  'ENG-6': 'gradients of every tensor and loss agree with finite differences, without torch',
  'ENG-7': 'decoding with a cache gives every bit of the full pass',
  'ENG-8':
    'gradients add up over calls until a step uses them up; AdamW takes the steps of PyTorch, with decay, clipping and changing rates',
  'ENG-9':
    'samples repeat with their seed, carry the log-probabilities that training sees, and end at tokens, texts and bounds',
  'ENG-10': 'a saved state goes on as if nothing had happened; what is damaged or of another model is refused',
  'ENG-11': 'a request that cannot be carried out is refused by name and leaves the model as it was',
  'ENG-12': 'a trained model is exported as a PEFT adapter and as merged weights, complete or not at all',
  'ENG-13': 'equal seeds give equal bytes, whatever is computed beside them',

  // CPU engine: kernels
  'CPU-1':
    'places in the memory of the engine do not overlap and are given back; when there is no more, the error says how much',
  'CPU-2':
    'every operation of the kernels agrees with float64 arithmetic in plain TypeScript, at odd sizes and edges, as WebAssembly and natively',
  'CPU-3':
    'a row has the same bits alone, in any batch, on any number of threads, with packed weights and with a cache of keys',
  'CPU-4': 'the committed header and modules of the kernels are those of their sources; a malformed program is refused',
  'CPU-5':
    'kernels are compiled once for a machine, and said so; without a compiler, or when asked, they are WebAssembly',
  'CPU-6':
    'a program that would leave the memory is refused; a kernel that is lost fails its program with a typed error, and the next program runs',
  'CPU-7': 'a pass of training that is aborted ends between two of its layers',

  // CPU engine: models
  'CPU-22':
    'the CPU engine has the gradient of the reference engine within 1e-5 for every tensor, and its logits within 1e-4: all families, odd sizes, rank 1 to 64, 1 to 2048 tokens',
  'CPU-23': 'a pass takes bounded memory and gives the same numbers; what a request took is given back',
  'CPU-24': 'samples of many requests and adapters are drawn together, and are those of each request alone',
  'CPU-25': 'weights that are stored as bfloat16 are computed with as such',
  'CPU-26': 'a row of logits has the same bits alone, in any batch, and with a pass cut in any way',
  'CPU-27': 'a step that fails halfway loses its model alone, and says so until a checkpoint is loaded',
  'CPU-28':
    'no weights are held twice without need; memory that is full cuts passes smaller, then is told with its size, purpose and remedy',

  // CPU engine: what a user meets of it
  'CPU-40':
    '`engine info` tells which kernels are used and why, their id, threads and speed, and compiles nothing; so does `doctor`',
  'CPU-41': '`engine build` compiles the native kernels, says so, and tells time, compiler, processor and place',
  'CPU-42':
    'native kernels are kept by source, compiler and processor; processes that build at once are safe; a build that fails is told, and WebAssembly used',
  'CPU-43':
    'with Node alone, on every supported version, the packed program concludes the quickstart and trains a real model on WebAssembly; it holds the kernels and their sources',
  'CPU-44':
    'the record of an experiment tells the engines of its runs, their threads and, where it was measured, their speed',
  'CPU-45':
    'what the first step of training needs starts while the experiment is checked, and is closed where there is no run',

  // Agents
  'AGT-1':
    'an agent is run with every answer kept as a turn, exact tokens where known, and the usage summed; limits of turns, tokens, context and time end it with its turns kept',
  'AGT-2':
    'what fails in an attempt is typed: models, environments and missing parts are infrastructure, the agent’s own fault is not; neither failing nor cancelling loses turns or touches siblings',
  'AGT-3':
    'a policy in tokens never makes tokens of its history again: what was drawn stands in every later prompt as it was drawn',
  'AGT-4':
    'agent chat: one turn, or a conversation with user turns of the task or a user that is a function of the project',
  'AGT-5':
    'agent tool_loop: tools of the project, declared or told in words, called together; every call that goes wrong is told to the model',
  'AGT-6':
    'MCP tools on standard streams and by streamable HTTP: listed, called, cancelled; servers end with the attempt, and those that fail say why',
  'AGT-7':
    'agent shell_loop: one command for each answer in the environment of the task, its output shortened and told',
  'AGT-8':
    'agent terminal: a shell that stays, keystrokes as JSON or XML, what is new is shown, the end is confirmed, slips are forgiven',
  'AGT-9':
    'a recipe rolls out with any agent: the run’s, one of a file, or one chat turn; it is answered by the weights of the step, token by token, over all turns',
  'AGT-10':
    'a benchmark is answered through the agent of the benchmark or of the run, in training and after it, by checkpoints and by models behind an API, and no answer is in reach of the agent',
  'AGT-11': 'an agent may be named by its kind alone, also in an axis: harnesses are compared with a verdict',
  'AGT-12':
    'task folders are training data: an attempt acts in the environment of its task, its tests give the reward, turns keep exact tokens, failures are typed, nothing is left',
  'AGT-13':
    'a benchmark of task folders is attempted where no code of the project runs, with answers of the policy alone; tests and solutions are out of reach of a recipe',
  'AGT-14':
    'the environment of a run or of a benchmark, with its params, holds the task folders; a benchmark is held by none that is code of the project',
  'AGT-15':
    'any agent attempts a benchmark of task folders: one that brings code, programs or servers runs where the code of the project does, over an environment that the controller holds, and reaches neither tests nor files of the machine by it',
  'AGT-16':
    'an attempt at a task folder that infrastructure ended is made again, a few times, with the failed ones kept; what an agent failed at is not, and when most fail by infrastructure the rest are not made',
  'AGT-17':
    'results and trajectories of the trials of a benchmark are kept in the folder of their run, without what the tests printed',
  'AGT-18':
    'files of trials whose process was killed are removed by the next process, by owner and age, and never those of one that lives',
  'AGT-19':
    'secrets in the params of an agent are resolved where it is run, and the files that it brings (itself, tools, a user) are part of the code hash of the run',

  // Rollouts: conformance statements of a Harbor-compatible engine, by their numbers
  'HAR-59': 'a trajectory that is written validates as ATIF v1.7, and keys that it does not know are refused',
  'HAR-60':
    'ATIF: gaps in step ids, foreign calls, fields of agents on other steps, metrics without a call and refs without a target are refused',
  'HAR-61': 'ATIF documents of versions 1.0 to 1.6 load',
  'HAR-62': 'the trajectory on disk holds all finished turns, whatever ended the trial',
  'HAR-63': 'the final metrics of a trajectory are the sums over its steps and subagents',
  'HAR-64': 'ids, log-probabilities and the count of a completion agree in every trainable step',
  'HAR-65': 'copied context carries its flag and no metrics, and is not exported to training',
  'HAR-66': 'a linear chat of 20 turns is one training sequence, and its unmasked tokens are the completions',
  'HAR-67': 'a rewritten history makes a new sequence, with the reason of the break',
  'HAR-68': 'text that was decoded is never tokenized again: recorded ids are those that were drawn',
  'HAR-69': 'an answer that was cut by its length is given no stop token to train on',
  'HAR-70': 'a turn without log-probabilities is not trained on, and its zeros never count',
  'HAR-71': 'a member of a group whose sandbox fails leaves the others alone, and is made again while that may help',
  'HAR-72': 'a rollout that is cancelled while the model answers keeps its turns and leaves no sandbox',
  'HAR-73': 'the policy version of each call is recorded; turns that are too old are masked',
  'HAR-74': 'several rewards without one that counts are an error, never a number',
  'HAR-75': 'equal seeds, policy versions and requests give the same token record',
  'HAR-76': 'a thousand rollouts at a time bear one verifier that fails',
  'HAR-77': 'an agent that speaks plain chat completions to the capture proxy has the token record of a native session',
  'HAR-78': 'turn spans tell the last token that is trained on, where the reward of the whole goes',

  // Agents that are programs of their own
  'EXT-1':
    'a program that speaks to OpenAI or Anthropic is an agent: from inside an environment it reaches the policy without any network, on the host only where that is allowed by name; it is ended with its rollout',
  'EXT-2':
    'a program that fails is told by the exception that Harbor names, by the match nearest to the end of its output',
  'EXT-3':
    'a Harbor agent class in Python acts in the environment of the task and asks the policy; without Python, the module or the class the error says what is missing',

  // Rollouts: numbers are those of the conformance list for Harbor's task folders
  'HAR-1': '`version` at the top of a task.toml is read as `schema_version`; no version is refused',
  'HAR-2': 'a task.toml has the defaults of schema 1.4, and everything wrong in it is told at once, with its line',
  'HAR-3': 'old sizes (`memory = "2G"`) become megabytes; a contradiction is an error',
  'HAR-4': '`allow_internet` becomes a network mode, unless there is one',
  'HAR-5': 'unknown keys of a task.toml and its metadata are left alone',
  'HAR-6': 'a task is named `org/name`; anything else is refused',
  'HAR-7': 'allowed hosts are normalised; URLs, ports, paths, and hosts without the mode for them are refused',
  'HAR-8': 'transports of MCP servers, their alias, and what each needs',
  'HAR-9': 'the mode of the verifier follows from its fields; a shared one with an environment of its own is refused',
  'HAR-10': 'canary lines at the start of an instruction are kept from the agent, and only those',
  'HAR-11': 'variables that are templates resolve from the host; a missing one is named',
  'HAR-12': 'a dataset of folders is read one level deep, and what is no task is told',
  'HAR-13': 'the digest of a task folder is that of Harbor',
  'HAR-14': 'a command runs under bash, where it says, else in the workdir of task.toml, else in that of the image',
  'HAR-15': 'the workdir of task.toml is where agent and tests start',
  'HAR-16': 'variables of the environment are under those of a command, and those of one command are gone in the next',
  'HAR-17': 'a command that runs out of time leaves no process behind',
  'HAR-18': 'stdout and stderr are apart, and cut at the limit with a mark',
  'HAR-19': 'without network neither connections nor names work; loopback does',
  'HAR-20': 'a network policy that an environment cannot enforce is refused before it starts, with its name',
  'HAR-21': 'failures in the start period of a healthcheck do not count; after it, `retries` in a row end the start',
  'HAR-22': 'an environment that is stopped twice, or whose start failed, leaves nothing behind',
  'HAR-23': 'neither the home of the host nor the folders of other trials can be read from the local sandbox',
  'HAR-24': 'limits of memory and processes stop what would harm the engine',
  'HAR-25': 'the phases of a trial run in their order, and each has a start and an end, also when it failed',
  'HAR-26': 'the tests are not there while the agent runs; the solution is there for the oracle alone',
  'HAR-27':
    'the solution of a task of several steps scores 1 in each of them and in all; doing nothing scores 0 in the first',
  'HAR-28':
    'the exit code of the tests means nothing; without a reward file there is no reward but an error with a name',
  'HAR-29': 'reward.json wins over reward.txt, and a disagreement is told',
  'HAR-30': 'reward.txt is one finite number; empty and anything else are errors with their names',
  'HAR-31': 'reward.json is a flat object of finite numbers; anything else is an error',
  'HAR-32':
    'what an agent wrote, linked or planted before its verification never becomes its reward, and leads nowhere outside',
  'HAR-33': 'nothing that an agent left running, and no call it makes later, changes its reward',
  'HAR-34': 'an agent that runs out of time is recorded and verified all the same, also one that never returns',
  'HAR-35': 'a verifier that runs out of time leaves no result',
  'HAR-36': 'a limit is min(base, max) x multiplier; a specific multiplier replaces the general one',
  'HAR-37': 'a trial that runs out of time, or is cancelled, ends in any phase and still leaves its result',
  'HAR-38': 'another failure of the agent skips verification and keeps logs, artifacts and turns',
  'HAR-39': 'result.json has the fields and values of Harbor',
  'HAR-40': 'a trial is named by 32 characters of its task and 7 that are its own',
  'HAR-41': 'values of secret variables are in no file of a trial; variables of the agent do not reach the verifier',
  'HAR-42': 'artifacts are collected to their places with a manifest; a missing one is told and fails nothing',
  'HAR-43': 'artifacts that would leave their folder are refused when the task is read',
  'HAR-44': 'files of a step are there before its agent; a setup script that fails ends the steps',
  'HAR-45': 'a step below its gate ends the steps; a missing key is below every gate',
  'HAR-46':
    'the mean leaves out steps without a result and counts missing keys as 0; `final` takes the last step that ran',
  'HAR-47': 'outputs of steps lie apart, their files stay, and logs and tests are emptied in between',
  'HAR-48': 'tests of the task are put in place before those of the step, which win',
  'HAR-49':
    'a job makes n_attempts x tasks x agents trials, no more at once than it may; a cap of an agent holds for its runs alone',
  'HAR-50': 'the deprecated block `orchestrator` holds',
  'HAR-51': 'only failures by their names are repeated; every attempt is kept, and the last one is the result',
  'HAR-52': 'the wait before a repetition holds no place of a trial',
  'HAR-53': 'a trial that cannot be made is a result with an error, and its siblings end',
  'HAR-54': 'statistics of a job, their keys, and means with missing rewards as 0 are those of Harbor',
  'HAR-55': 'pass@k is the unbiased estimator over tasks, and absent for rewards that are not 0 or 1',
  'HAR-56':
    'a job that was killed goes on: finished trials are untouched, the others run, nothing counts twice; another plan is refused',
  'HAR-57': 'trials of a kind of error, or without a reward, can be run again',
  'HAR-58': 'result.json of a job is whole at every moment',
  'HAR-79': 'task folders of the network-free shapes are solved in the local sandbox, as root and as an ordinary user',
  'HAR-80': 'the plan of an environment says before a run what needs an image, and why',
  'HAR-81':
    'a trial that cannot be scored because of what its agent left counts as a failure of the agent; one that a fresh environment fails as well stays open',
  'HAR-82':
    'skills, earlier turns, sidecars, simulated users and other things of Harbor that nothing here does are refused by name and with a reason, before anything starts',
  'HAR-83': 'a job file of Harbor is run where its fields are ours, and refused by name where they are not',

  // Agents

  // Rollouts: conformance statements of a Harbor-compatible engine, by their numbers

  // Agents that are programs of their own
  'CPU-46':
    'a trainer that started early serves the run whose engine and model it was started for; any other run starts its own, and it ends',
  // The sandbox
  'BOX-1':
    'a sandbox has the level that was asked for, or the strongest that works here; never a weaker one, and none that isolates nothing unless it is named',
  'BOX-2':
    'a command sees the userland read-only, its mounts at their targets and its own files, which stay from one command to the next; nothing else of the machine',
  'BOX-3': 'a command has the environment that it was given, and no file, key or variable of its parents',
  'BOX-4':
    'time, memory, processes, disk and output of a command are limited, and its result says which limit ended it',
  'BOX-5': 'nothing that a command started outlives it, its cancellation, its sandbox, or the death of our own process',
  'BOX-6': 'hostile code harms neither the machine nor a sibling: at every level, as root and as an ordinary user',
  'BOX-7': 'a command can go on while its caller writes to it and reads what it says',
  'BOX-8': 'a sandbox that cannot be made is an error of its own, never the result of a command',
  'BOX-9': '`doctor` shows the level of this machine and who keeps its limits',
  'BOX-10':
    'the verifier `code` runs an answer with the tests of its task in a sandbox; what keeps it from running leaves the answer without a reward',
  'BOX-11': 'a command uses the devices of the machine that its sandbox was opened with, a GPU for one, and no other',
  'BOX-400':
    'a run worker sees its own folder, the code and the data of its project, and nothing else of it: neither the record nor answers nor other runs; it can write its folder alone',
  'BOX-401':
    'what a run worker started ends with its run, and what it takes of memory, processes, disk and shared memory is limited as a whole; a limit that is hit is an error which names it',
  'BOX-402':
    'how recipe code is shut in stands in the record, put there by the controller; weaker than asked is an error',

  'BOX-403':
    'wherever code of a project is loaded or called (checks, hashes, hooks of an experiment, evaluations) it is shut in as in a run worker; it can write a folder that is named for it, and an error about another says which',
  'BOX-404':
    'how recipe code was shut in is shown with an experiment; `--seal required` refuses runs that cannot be shut in',
  'BOX-405':
    'what shuts processes in here is kept between starts for this machine, user and programs alone; a process that is not shut in as was kept runs nothing, and the kept answer is gone',
  'BOX-406':
    'a run that is shut in gets sandboxes for answers from the controller: it reaches those that it opened and no other, by files and commands alone, within its own limits, and none outlives it',

  // Research
  'RES-101':
    'strategies, keep rules and proposers of the research loop are plugins like all others, listed and described',
  'RES-102':
    'a strategy asks for changes to attempts that were made, keeps to pins and bans, ranks each candidate at most once, and answers equal states and draws alike',
  'RES-103': 'strategies reference, greedy and greedy-dedup do what their names say',
  'RES-104':
    'the memory model ranks ideas by what knobs, families, categories and changes did before, whatever the metric',
  'RES-105':
    'on a plateau other bases and near misses are tried; a family that keeps nothing waits after three in a row',
  'RES-106': 'candidates that differ in layout, comments or local names alone have one fingerprint, others do not',
  'RES-107': 'tables of the bench are checked like all input: sizes, names and bytes, with a typed error',
  'RES-108': 'target, flat tables, missing seeds and the start of the bench are as documented',
  'RES-109': 'the bench compares strategies on equal chance, counts a miss as twice the budget, and repeats exactly',
  'RES-110': 'worlds of the bench propose and run like a loop; what was tried is answered from memory',
  'RES-111': '`research bench` prints a row per table and strategy, for people and as data',
  'RES-112': 'the default strategy learns from the scores which knobs matter, and runs what promises the largest gain',
  'RES-113': 'tables that the bench makes repeat exactly, are not flat, and have the shape that they are named after',
  'RES-114':
    'on a plateau the default strategy goes on from the attempt around which its model imagines the largest gain',
  'RES-201':
    'noise of a session pools the seeds of its baseline with all later pairs; scores that are missing or no number make no pair',
  'RES-202':
    'candidates race on shared seeds in one order; at every keep the oldest seed goes and a fresh one comes, and after drift all are fresh; fresh seeds were never used',
  'RES-203':
    'the keep rule `default` drops bad candidates early, keeps what is beyond the noise, parks near misses, and is stricter when gains are smaller',
  'RES-204':
    'keep rules judge alike whether larger or smaller is better and whatever the order of seeds; NaN and missing scores are never good',
  'RES-205': 'shorter code is kept when what it may lose is below half the noise',
  'RES-206': 'a candidate that breaks a guard, or does not report a guarded metric, is not kept',
  'RES-207':
    'a look at the hidden split runs on fresh seeds alone, half of them first; what fails on a fresh seed is not confirmed',
  'RES-208': 'looks are few and share one chance of being wrong, which a confirmed look gives back',
  'RES-209': 'the search learns of a hidden score only when it beats the last one by a step',
  'RES-210':
    'every fifteen experiments the incumbent runs on a fresh seed; more than three sigma away is drift, by the spread as far as it is known',
  'RES-211': 'a kept change that the final stack does not miss is dropped when that saves lines; unmeasured ones stay',
  'RES-212':
    'runs far behind the incumbent on their training curve are ended after a warm-up, one in ten goes on, and the regret is told',
  'RES-213': 'kept gains are shrunk, expected false keeps are counted, and p-values of claims count every look',
  'RES-214': 'verdicts are told in words: seeds, noise, seeds still needed and their cost',
  'RES-215':
    'null world, 2,000 sessions: at most 6 % confirm anything, what is reported on fresh seeds is right on average, and its interval covers as it says',
  'RES-216': 'gains that are beyond the noise are confirmed',
  'RES-217':
    'in worlds of known effects `default` overstates its gain less than `reference` and `greedy`, and fewer of its keeps help nothing',
  'RES-218': 'a simulated session repeats exactly, and is the mirror of itself when smaller is better',
  'RES-219':
    'a keep says how likely it is to help, by what all ideas of the session did: some help, some do nothing, some hurt',
  'RES-220':
    'a gain counts all seeds of the incumbent, those that were not shared the less the more seeds have in common',
  'RES-221':
    'the seed of a control run is the first of the next races, and controls count from the last keep or control, whichever is later',
  'RES-222': 'where effects shrink, `default` gains as much per run as `reference`, within 3 %',
  'RES-223': 'what a session says of its idle keeps and of their gains is near the truth in worlds of many kinds',
  // Research
  'RES-301': 'the tasks shakespeare, cifar10, moby, digits and table-search come with evsys and are valid',
  'RES-302': 'digits: plain Node, and the same score for the same seed whatever else the machine does',
  'RES-303':
    'a candidate in Node trains on the embedded engine inside its sandbox, and the scorer runs its checkpoint itself',
  'RES-304': 'table-search looks finished trainings up: its own table needs no data, others come by name',
  'RES-305': 'a task whose interpreter or packages are missing says what to install and which variant does without',
  'RES-306':
    'a language model in PyTorch is scored step by step: no question holds a byte that is still to be predicted',
  'RES-307':
    'data of a task comes by npm package, address or folder, checked against its digest and unpacked safely; splits are made once',
  'RES-308': 'data that cannot be had names every alternative; other bytes than those that were meant are refused',
  'RES-309': 'splits that were changed in the cache are made again, and their hash is part of the hash of the task',
  'RES-310': 'a task is loaded with its baseline, API, scorer, splits, seeds, knobs and limits',
  'RES-311': 'everything that is wrong with a research task is told at once, with file, line, column and fix',
  'RES-312':
    'tasks are found by name, variant and path; those of the project hide bundled ones, and broken ones hide none',
  'RES-313': 'the API of candidates seeds all draws at import: Math.random, random, numpy and PyTorch',
  'RES-314': 'reports and answers of a candidate stand on lines of their own, whatever else it prints',
  'RES-315': '`task init` makes a task that validates, trains and is scored as it is',
  'RES-316':
    'a task that asks for a GPU shows its candidates the one of this machine; without one they train on the CPU, which is told',
  'RES-401':
    'a candidate is trained in a sandbox and scored by the sealed scorer in another process; what it says of itself is a claim and never the score',
  'RES-402':
    'a run that has no score says why by one of eight classes, with a reason and the quoted end of its log; what is not the fault of the candidate is tried twice and is `infra`',
  'RES-403': 'a candidate tells of its curve while it trains, and `watch` ends it',
  'RES-404':
    'a candidate is read before it runs: syntax, imports, calls of the API, scope, sizes, forbidden code; each problem has its file, line and fix',
  'RES-405': 'honest candidates are never turned down: 160 of them pass reading and dry run, and are scored',
  'RES-406': 'of 100 candidates that tamper, every one is turned down, ended, or scored truly',
  'RES-407': 'a dry run of a step or two finds what cannot start, and tells the memory that it took',
  'RES-408': 'a candidate of a table is looked up; one that names no configuration is told what there is',
  'RES-409': 'a score says which GPU its candidate was shown',
  'RES-410':
    'a dry run asks the first questions of the scorer: a candidate that cannot answer is found before it is trained',
  'RES-411':
    'bits per byte are those of a distribution, whatever weights or logits a candidate left; questions come in an order that no run can know',
  'RES-412': 'what a candidate prints after it was asked is told as an error with its places, and not otherwise',
  'RES-413': 'splits and scorer are hidden from candidates also where they lie in a folder that every sandbox shows',
  'RES-414': 'who starts candidates is told what the sandbox of this machine does not hold',
  'RES-501':
    'knobs are found as literals with names in capitals, or as the task declares them, never in comments and texts',
  'RES-502': 'an idea becomes files: knobs turned in code, whole files, a patch; what cannot be done is said in words',
  'RES-503': 'a patch applies where its lines stand; only its line numbers may be wrong',
  // Research: reports
  'RES-701':
    'the report of a session is one HTML file that loads nothing, runs no script and shows progression, noise band, best attempts with diffs, failures, categories, cost and insights',
  'RES-702': 'whatever a model wrote stands in a report as text: no tag, no attribute, no control character of it acts',
  'RES-703': 'a report stays below a megabyte and a half for 1,000 attempts, however long their texts are',
  'RES-704':
    'a report tells noise, the smallest visible gain, raw and shrunken gains, expected false keeps, confirmations, looks and the cost per confirmed gain; what is unknown is said to be unknown',
  'RES-706':
    'a session exports as a table with tabs that `evsys import` reads back with equal scores and statuses; a missing score is empty',
  'RES-707':
    'every kept change becomes a patch that `git apply` takes on the baseline, after the patches it says it needs; all of them together are what the session ended with',
  'RES-708':
    '`next` ranks what to try by what it settles for its cost: runs that are missing, undecided claims, near misses, unconfirmed winners, open hypotheses, untried arms, ideas of people',
  'RES-709':
    '`research report` and `research export` write the newest session of the record, or of a task, or a named one',
  'RES-711':
    '`export ID --html` writes any experiment as a report of the same look; of a log it says that scores are claims',
  'RES-712': '`research baseline --patch` measures a kept change again, without a change to any file',
  'RES-713': 'patches are the steps from the baseline to the best as their races measured them',
  'RES-714': 'the line beside a patch gives the scores that the session measured, on the same seeds',
  'RES-710': 'a report opens in Chromium, by day and by night, with no error and no request',
  'RES-601':
    'a research session measures the noise of its baseline, races candidates, keeps what is better, and ends with a look at the hidden split',
  'RES-602':
    'a session whose controller is killed at any moment goes on to the same canonical record; at most one call per worker is sent again, and charged',
  'RES-603':
    'a session is an experiment of the record: every attempt an arm, every seed a run with parent, diff, category, mode and verdict',
  'RES-604': 'the state of a session is a pure fold over its journal, and survives JSON',
  'RES-605': 'a session that was interrupted, or whose caps were raised, goes on',
  'RES-606': 'two controllers cannot run one session',
  'RES-607': 'an idea that was tried is answered from memory; a proposer with nothing new ends the session',
  'RES-608': 'a candidate that may not run is repaired twice at most, then parked with the reason',
  'RES-609': 'failures of the machine are tried once more; those of a candidate are its verdict, with their class',
  'RES-610': 'a baseline that fails, or a proposer that fails again and again, ends the session and says why',
  'RES-611': 'no cap of a session is passed: money and tokens are forecast before every call',
  'RES-612': 'the cap on time stops what is running',
  'RES-613': 'several workers run at a time; the order of the journal is the truth and nothing runs twice',
  'RES-614': 'people pause a session and let it go on, through the record',
  'RES-615': 'people veto and override verdicts; an incumbent that is taken away gives its place to the one before',
  'RES-616': 'people add ideas that run without a call, and ban families',
  'RES-504': 'the optimizer turns knobs by TPE and CMA-ES, finds gains within ten experiments, and repeats nothing',
  'RES-505': 'the optimizer learns from failures where memory runs out',
  'RES-506': 'the brief tells goal, incumbent, wins, dead ends, near misses, notes, backlog and failures',
  'RES-507': 'the brief is bounded, equal for equal input, free of secrets, and quotes what others wrote as data',
  'RES-508': 'the prompt has the code of the base, what is asked for, and in a repair turn what was wrong',
  'RES-509':
    'the ledger adds up to the cent, charges unknown calls their forecast, and names the cap that the next call would break',
  'RES-510':
    'answers of models are read in fences, between words, cut off or malformed; what is not understood is said',
  'RES-511':
    'the proposers `anthropic` and `openai-compatible` give labelled ideas and their cost; keys come from declared secrets alone',
  'RES-512':
    'a provider that answers 429, 529, late, cut off or malformed is survived; an answer that cannot be used is asked for once more, and a failure tells the bill',
  'RES-513': 'in a repair turn a proposer gives the same idea put right',
  'RES-514':
    'the proposer `cli-agent` lets a program edit the files in a folder of its own; it has a deadline and no secrets beyond those declared',
  'RES-515':
    'the proposer `hybrid` asks the optimizer on every turn and a model on a share of them, and goes on when the model fails',
  'RES-516':
    'the proposer `replay` plays a cassette with its recorded cost, or records one; a missing proposal is an error',
  'RES-517': 'the proposer `bank` gives the next untried idea of a wanted family',
  'RES-518':
    '`cli-agent` starts Claude Code and Codex with the options of their manuals, and reads what they used from their output',
  'RES-519':
    '`cli-agent` drives sessions with Claude Code and Codex as they are published: ideas, labels, tokens and dollars are theirs',
  'RES-520':
    'a coding agent that is not installed, too old, refused, overloaded, cut off, without end or without an edit fails with a code, a way out and its bill',
  'RES-521': 'commands that a coding agent runs see no key and write nothing outside its folder',
  'RES-522':
    'the official SDKs of Anthropic and OpenAI take the provider that tests start for a true one: answers, usage, failures, waits',
  'RES-523': 'a program that proposes does not see the hidden data of the task, nor the record of looks at it',
  'RES-530': 'noise is learned by the level of a score while a session goes on, and is as large as it is at each level',
  'RES-531':
    'two candidates are compared by all seeds that either ran, each with the noise of its level and what seeds have in common',
  'RES-532': '`research bench --sessions` judges whole sessions by the true worth of what they end with, and repeats',
  'RES-533':
    'where noise is a share of the loss, a session ends with at most half of the regret that sessions of the first rules have',
  'RES-534': 'where nothing can be gained, whole sessions confirm no more than they may, with noise of each kind',
  'RES-535':
    'before a session ends what may be better than its incumbent runs again, and the likeliest best is kept; sessions of the first rules end as they did',
  'RES-536': 'the default strategy explores while nothing gets better',
  'RES-537': 'the most promising places of a mixed space are found, and none that was tried',
  'RES-538': 'on a plateau the default strategy goes step by step to where its model expects most, however far',
  'RES-539': 'a change of knobs is one by what it changes, whatever its author calls it',
  'RES-541': 'seeds before the end of a session go where the choice of its best gains most by them',
  'RES-540':
    'where items are right or wrong and no seed has changed a score, as at a score of 0, noise is that of half an item and not none',
  'RES-617':
    'a cassette drives a session of ten experiments, with a ledger that is right to the cent, per call and per experiment',
  'RES-618':
    'a run whose training curve falls far behind the incumbent of its seed is ended early; audits show what that costs',
  'RES-619':
    'research runs from the command line in any folder and with no key; a wrong name or cap stops it before anything starts',
  // Reinforcement learning and distillation
  'RL-101':
    '`rl` draws groups of answers with the weights of its step, trains on those that differ in reward, and resumes to the bit',
  'RL-401':
    'a verifier that the reward does not use scores every rollout as well; a run that goes well is left alone by its guards',
  'RL-402':
    'entropy collapse, KL blow-up, length explosion and reward hacking are detected, recorded, rolled back or ended by rule',
  'RL-403': 'a run that was killed trips its guards where it would have tripped, and ends in the same record',
  'RL-404':
    'guards trip in fewer than one in a hundred honest noisy runs, and see runs that turn bad within twenty steps',
  'RL-405': '`show` and the conclusion tell of trips in words; `validate` checks guards and the held-out verifier',
  'RL-102':
    'advantages of a group sum to zero, are 0 for equal rewards, do not change when all rewards are raised, and keep the order of rewards',
  'RL-103':
    'a reward counts for the whole attempt, or for the turns that led to it, with rewards of turns and a discount',
  'RL-104':
    'every token that was drawn and is sound is trained on exactly once, no other token is, and sequences of one attempt keep one advantage',
  'RL-105': 'advantages are normalised per token, per sequence, per attempt, or not at all, as is written',
  'RL-106':
    'a KL penalty in the reward is coef (mean - difference) over the drawn tokens; its reference is the start of the run or the base model',
  'RL-107': 'params of `rl` that would train on nothing are refused before a run starts, with their place and a fix',
  'RL-108':
    'answers that infrastructure ended are drawn again, then masked, or drop their group, or fail the run: never a reward of 0',
  'RL-109': 'answers that were cut off are kept, masked or penalised, and length has a price, as is written',
  'RL-110':
    'the curriculum by success prefers tasks whose outcome is open, gives up none, and is drawn by keyed randomness',
  'RL-111': 'rollouts of all steps share one bound on concurrency; those of the earliest step go first',
  'RL-112':
    'every loss of `rl`, named or computed here, with and without a KL penalty, has the gradient that the reference engine and finite differences give',
  'RL-113':
    'constant groups are dropped, kept, or replaced by other tasks, and counted; a run in which nothing is ever judged fails at once',
  'RL-114':
    'with max_steps_off_policy and num_substeps rollouts begin ahead: which weights answer follows from the step alone; 0 and 1 are on-policy to the bit',
  'RL-501': '`rl` makes the bundled model better at sums that it was not trained on, from a weakly tuned start',
  'RL-502': '`rl` teaches the bundled model to use the tool of a harness of the project',
  'RL-503': 'the harness of the example answers calls of its calculator, readable or not, and ends',
  'RL-201':
    'rollouts of a later step begin ahead of it, are told of with the step that trains on them, and carry the version of the weights that drew them',
  'RL-202':
    'rollouts that were begun ahead are ended and awaited, and weights released, at a roll-back, the end of a phase, a stop and a failure',
  'RL-203': 'a run that draws ahead and is resumed says in its record what was lost',
  'RL-204': 'a run that is to leave does not wait for rollouts: the step is done by the next attempt',
  'RL-205':
    'an on-policy run that is killed in rollouts and in updates, several times, ends in the record of an undisturbed one',
  'RL-301':
    'soft targets weigh one in every place that is trained on and nothing elsewhere; no token of a prompt is trained on',
  'RL-302': 'a discount adds to a token what comes after it, over trained tokens alone',
  'RL-303':
    'reverse KL over likeliest tokens is a lower bound of the whole one, equal over the whole vocabulary, finite, and has the gradient of finite differences',
  'RL-304': 'the losses of distillation have the gradient that finite differences give on the reference engine',
  'RL-305':
    'sdft learns from its own start with the wanted answer in sight, and tells what its teacher made of its answers',
  'RL-306':
    'opd moves a student towards its teacher on its own attempts: by drawn tokens, likeliest tokens or the vocabulary, reverse or forward',
  'RL-307': 'distill learns the text of a teacher, or its distributions over its own answers or those of rows',
  'RL-308':
    'a teacher is exactly one of checkpoint, base model, prompt and client; one whose tokens are of no use is refused with the way out',
  'RL-309': 'a teacher that follows its student is the same one after a resume at the step where it was taken',
  'RL-310':
    'answers of a teacher behind a client are asked for once, kept for a resume, and its secrets are handed to the run alone',
  'RL-311':
    'weights of another arm are written as arm:NAME: that run of the same seed comes first, and its failure is told',
  'RL-312': 'examples/distill shows a student that solves more held-out tasks after learning from its teacher',
  'RES-620':
    'people pin and free the base of the search, override verdicts, ban and allow families, add ideas in words, ask for a look; what could have no effect is refused',
  'RES-621': 'a control run shows that the machine has changed; from then on races use fresh seeds alone',
  'RES-623':
    'every call is told what the caps leave for it; the bill is told by experiment and by confirmed gain, with a forecast',
  'RES-624': 'secrets that the controller knows reach no brief, no prompt and no cassette, whatever their form',
  'RES-625':
    'a call gives several labelled ideas; a model of what helped before ranks them, few are run, the others are turned down with a reason',
  'RES-622': 'workers fire and advance: a slow run holds nobody up',
  'RES-640':
    'every change that the best is made of is left out once at the end of a session; knobs go back to what was kept last, not to what was discarded',
  'RES-801':
    'worlds of curves hold steady, cooled, slow and rare families; who ends runs early is measured by time, winners lost, and true beside audited regret',
  'RES-802':
    '`research bench --worlds adversary` runs attacks and honest candidates on the real executor, names the isolation, and sees what gets through',
  'RES-803':
    '`research bench --worlds chaos` kills, doubles, jumps the clock of and fills the disk of sessions, whose record equals an undisturbed one; what cannot be done is named',
  'RES-804': 'worlds of the bench are chosen by name or all; an unknown name is refused with what was meant',
  'RES-626':
    'the most memory that a run held is measured, and known of every attempt with the other numbers of its scorer',
  'RES-627': 'an interruption is heard between two steps of a session, however fast its work is done',
  'RES-628': '`--resume` goes on with the newest session whose task is the same as now, or names those that there are',
  'RES-560':
    '`evsys research run FILE` trains candidates as runs of one experiment of the record, scores the test benchmark in confirmation alone, and is listed, shown and resumed like any session',
  'RES-561':
    'research over an experiment file ends in the folder of the winner, which another project reproduces to the digit',
  'RES-562': 'a cap on runs holds to one training',
  'RES-563': 'research over an experiment file that is killed ends in the same record when it is resumed',
  'RES-564':
    'an experiment file that research cannot begin with is refused with a way out, before anything is recorded',
  'RES-565': 'a candidate that changes what judges it is refused before it trains',
  'RES-598': 'a session over an experiment file ends at Ctrl-C, says how to resume, and resumes to the same end',
  'RES-590':
    'the end of a validation curve is predicted with a stated error, and a training that stays far behind is ended',
  'RES-591': 'of what is within a tolerance of the best, the cheapest is chosen, and confirmed',
  'RES-592': 'candidates that no other beats by all metrics are shown alike in text, JSON and report',
  'RES-593':
    'a session ends in a computed claim, the same in its conclusion, JSON, report, `history`, `show` and `compare`',
  'RES-594': 'a training that the record holds already is not done again in a session, which says so',
  'RES-595':
    'a test evaluation of trainings ends with its first seeds where they suffice, at the same chance of being wrong',
  'RES-597': 'a session begins with what won in earlier experiments of the same base model, and says so',
  'RES-596': '`next --run` does what a step proposes',
  'RES-566':
    'of candidates with code written by a model, the one that helps is kept and confirmed, and those that cheat (memorise validation, read its folder, report a constant) are not, each with its reason',
  'RES-567':
    'code of candidates runs in the sandbox of run workers, passes a trial of two steps before it costs a training, and is in the record with its diff and the level of the sandbox',
  'RES-568':
    'a winner with code is written out with its plugin files and reproduces from its folder in another project',
  'RES-569':
    'malformed ideas, code with syntax errors, edits outside of the scope and patches of a benchmark are typed and counted, and the session goes on',
  'RES-570':
    'over an experiment file the proposer is hybrid where there is a key, and its brief holds training rows, wrong answers on validation by cluster and curves, and nothing of a test benchmark',
  'RES-571': 'candidates of a file with stages are trained stage after stage, and the winner reproduces like any other',
  'RES-572':
    'typed edits of an experiment file and of plugin files in scope make a candidate; what they may not touch is refused by class',
  'RES-573':
    'a coding agent over an experiment file gets its brief beside the file and the plugin files of the scope; what it changes is the candidate',
  'RES-629': 'a proposer whose key is missing is refused before anything is measured, with the way out',
  'USE-20':
    'research confirms a gain exactly where the interval that it prints lies above zero: one test over seeds and items decides both',
  'USE-21':
    'a scorer may give outcomes by item; races and confirmations count the noise of items, and no gain is claimed that their number cannot carry',
  'USE-22':
    'null worlds with few items and no seed noise: at most 5 % and the error of the simulation confirm anything',
  'USE-23':
    'a research task of one number says in its claims what they do not cover; a table claims neither fresh seeds nor a hidden test set',
  'USE-24':
    'a kept research step is described by its difference from what it was raced with, and the gain is credited to all kept steps',
  'USE-140':
    'a test evaluation of a scorer that gives one number says "better on these items" at most, and is never called confirmed, in text, JSON and report',
  'USE-141': 'no verdict of a test evaluation contradicts the interval beside it, in text, JSON and report',
  'USE-142': 'a gain that passed its test is also given shrunken for having passed',
  'USE-143': '`next` proposes no confirmation that cannot confirm',
  'USE-144':
    'a research scorer that hangs is announced within five seconds, ended within its time, and not run again; the failure names it and the limit',
  'USE-145': 'waiting for cores of the machine is announced within five seconds, with who holds them',
  'USE-146': 'cores of a process that is gone or hangs are given to others',
  'USE-147': 'a research session says within five seconds what is in progress',
  'USE-148': 'of a metric of time the best so far is measured again beside each candidate, one experiment at a time',
  'USE-149': 'the chart of a research session labels every kept step, and no label stands over a dot or another label',
  'USE-150': 'the report of research shows which knobs scores move with',
  'USE-151': 'the noise band of the chart ends where the metric does: at `bounds` of the task, or of shares at 0 and 1',
  'USE-152': 'the report of research shows loss curves, and every attempt seed by seed against the best of its time',
  'USE-153':
    'memory without a name is refused to a sandboxed command where no control group counts it, also on a busy machine',
  'USE-25': 'a wall budget of a research session keeps the time that confirming its best needs',
  'RL-206': 'a rollout has a deadline: one that never ends is cut off, and what it left is judged',
  'RL-207':
    'whoever leads the model, the tokens that are trained on are those that the weights of the step drew, each once, with their log-probabilities',
  'RL-208':
    'snapshots that a step let go of leave the trainer’s disk, and samples that nobody waits for any more are stopped',
  'RL-209':
    'the same file with `rl` gives the same numbers on `local` and on `tinker` over HTTP, on-policy and one step off-policy',
  'USE-80':
    'a training service that cannot be reached is an error within ten seconds, with its address and the fix; the wait is announced within five',
  'USE-81':
    'a service that stops answering in the middle of a run is announced, and that it answers again; it is an event of the run',
  'USE-82': 'TINKER_BASE_URL, of the environment or of .env, is the address wherever none is written',
  'USE-83':
    'the first signal ends a run cleanly, also while its service is away; the second ends it at once, and both are said',
  'USE-84':
    'every file that init, new-experiment and task init write is as its template is and runs, from the packed tarball',
  'USE-60': 'without `num_samples`, a benchmark takes as many samples as the largest k of its metrics needs',
  'USE-61':
    'without a benchmark, a training metric may rank arms and be claimed; the conclusion says so when no run has it',
  'USE-62': 'problems of all layers are reported at once: a wrong field hides no unknown plugin and no missing file',
  'USE-63': 'kinds and parameters of the first generation name their successors',
  'USE-64': 'names that every object inherits are no kinds',
  'USE-65': '`--resume` is safe to repeat: it starts what was not started, and shows what has finished',
  'USE-66': 'what is refused before its first run, as for a leak, leaves no experiment in the record',
  'USE-67': 'a stored dataset or benchmark whose bytes changed under its id is refused, and cached rows with it',
  'USE-68': '`data_store`, and `store` of a data block, is where paths are read from, for training and for benchmarks',
  'USE-69': '`inference` of a benchmark, a plugin of the project too, answers instead of the trained checkpoint',
  'USE-70': '`log_store` of a project gets the configuration, the metrics and the checkpoints of every run',

  // What users meet: failures, judges, baselines, budgets
  'USE-40':
    'an agent that fails, in TypeScript or Python, is counted with its first message and share in text, JSON and experiment.md; on every task it fails the run',
  'USE-41': 'a run whose every sample failed at the service has failed, with the first error',
  'USE-42': 'a run whose groups of answers were all constant, or whose rollouts all failed, has failed and says why',
  'USE-43': 'a run whose batches were all empty has failed; some empty ones are counted in the conclusion',
  'USE-44': 'rows that max_seq_len cut or left nothing of are counted in the conclusion and in JSON',
  'USE-46': 'a malformed verdict of a judge is asked for again and never kept; failed verdicts on labels are counted',
  'USE-47': 'where people labelled answers, the agreement of the judge stands in the conclusion and in JSON',
  'USE-48':
    '`models` of a benchmark takes a client of any server, { kind, base_url, model }; one that fails says why in the conclusion',
  'USE-49': '`eval` and `benchmark run` take such a client; OPENAI_BASE_URL and ANTHROPIC_BASE_URL are honoured',
  'USE-50': 'answers of another system, in a CSV or JSONL file, are scored as an arm and by `eval`',
  'USE-45': 'failures of steps that are done again after a resume or a roll-back count once',
  'USE-100':
    'a benchmark with `run_every` is scored on the selected checkpoint too, unless it was scored at that step already',
  'USE-101':
    'scores on val and test of the selected checkpoint stand side by side for each arm, with intervals and marked which selected, in conclusion, arm table, experiment.md, HTML report and JSON',
  'USE-1':
    'intervals of scores and effects are over seeds and tasks, of every metric: on tasks like these decides and is the headline, seeds alone is the detail, and what an interval leaves out is said',
  'USE-2': 'intervals stay within what the metric can be, and those of effects within what it can differ',
  'USE-3': 'equal scores are called a tie, in text and JSON',
  'USE-4':
    'what each task adds to a metric is kept with an evaluation, by the jackknife where the metric is no mean over tasks, at a bounded cost',
  'USE-5': 'a run without a benchmark has its seeds counted in the arm table, and no column of scores',
  'USE-6': 'a plan that is printed before plugins are loaded says that less is better of what answers take',
  'USE-102':
    '`run --json` and `show --json` hold runs with their scores by seed, hypothesis, effect of the claim, words of authors, tags, parent, files and notices; `history --json` holds words, tags, effect, status and parent',
  'USE-103':
    'answers of evaluations are kept with instruction, expected answer and reward, where recipe code does not see them; rollout files hold instruction and reward',
  'USE-104': '`artifacts` of run_result.json and of the JSON of runs hold checkpoints and what algorithms left',
  'USE-220':
    'metrics see expected, metadata, answers, log-probabilities and token counts, take params and give several numbers and a table; accuracy, macro_f1, per_class and confusion are built in',
  'USE-290': '`serve --model` takes a run or EXPERIMENT/ARM, and clients name it so',
  'USE-291': 'a trainer on loopback needs no key unless one is set, and answers no page of another site',
  'USE-292': '`research baseline` measures noise unless one seed is asked for, and says so then',
  'USE-293': '`evsys help` explains commands below a command',
  'USE-294': 'the package holds docs, examples and AGENTS.md',
  'USE-295': '`checkpoint list` and `checkpoint export` show and take out what local runs saved, as a PEFT folder',
  'USE-296': '`task validate --deep` runs the baseline of a research task once, with its scorer',
  'USE-297': '`research run --model` is refused where no model would be asked',
  'USE-310':
    'a benchmark whose engine takes one completion is answered without the agent of the run, and has none of its own',
  'USE-311': 'what a data source yields in another form than { row, place } is an error that names the source',
  'USE-312': 'a CSV or Parquet file is read as what its name says, without `source_kind`',
  'USE-313':
    '`validate --deep` and `run` refuse a base model that is not on the machine before anything starts, with its fix',
  'USE-314': 'pages show no function that users cannot import',
  'USE-315': 'a guide goes from a CSV of tickets to a served model and to the next month, and its commands are run',
  'USE-330':
    'every field of an experiment file changes the plan, the training, the scores or what is written, or is refused',
  'USE-85': 'temporary folders are deleted by the process that made them, and those of a killed one by the next start',
  'USE-250':
    'an experiment may have several `claims`, each on any benchmark; verdicts are adjusted by Holm, and text and JSON hold raw and adjusted p-values and intervals',
  'USE-252': 'the conclusion names the budget that ended runs, and how many',
  'USE-110':
    'lost scores widen intervals, on tasks like these as on these very tasks, to all that any filling of them gives',
  'USE-111': 'an interval on tasks like these is never narrower at an end than that on these very tasks',
  'USE-112':
    'seeds that differ by no more than single cells make them differ are pooled with these: whatever the variance of seeds, an interval over seeds covers 87 to 95 %',
  'USE-113':
    'what a task adds to a metric is its own value only where the metric is a mean over tasks, not where it equals one by coincidence',
  'USE-114': 'a resumed experiment reports the time of all its executions, in text and JSON',
  'USE-115':
    'a forecast after the first run or trial is within a factor of two: starts, steps, evaluations and pauses are measured apart, and all evaluations are counted',
  'USE-116':
    '`evsys next` proposes no command that does nothing: files are as they were run, what was taken up already is left out, caps in the way are raised, and a session that runs or has nothing new is left alone',
  'USE-117': '`compare` takes arms as EXPERIMENT/ARM, with intervals, paired by tasks where both know theirs',
  'USE-118':
    '`run --dry` plans over seeds and tasks, as claims are judged: the smallest effect, seeds and tasks needed, and where more seeds cannot help, in text and JSON',
  'USE-119':
    '`compare RUN/ARM@val RUN/ARM@april` gives the difference of an arm between benchmarks with an interval, unpaired over tasks and paired over seeds, and how much of it is the mix of classes, in text and JSON',
  'USE-221':
    'a run that the record holds, completed, under the same hashes of configuration, data, code, plugins, engine and scorers is not trained again: it is linked to its origin, shown as reused and costs nothing; `--fresh` trains it',
  'USE-222':
    'a run is never reused where it was marked invalid, failed, was a trial, or where anything differs or is not known; fresh seeds are trained',
  'USE-223':
    '`leaks: drop | warn | refuse` of an experiment: rows that repeat questions are left out, with counts in lineage and conclusion, kept and recorded, or refused; all pairs are in JSON',
  'USE-224': '`validate --deep` compares training rows with the benchmarks and checks the bytes of stored datasets',
  'USE-225':
    '`prompt_search` proposes, scores on validation and keeps, by optimiser over instructions, examples and templates or by a model; each try is recorded and the best prompt is an artifact',
  'USE-226': '`score_only` and `prompt_search` need no `data`',
  'USE-227':
    '`evsys eval` keeps answers with instruction, expected answer and reward; `evsys gc` drops old answers except those of selected checkpoints',
  'USE-228':
    'the report, experiment.md and JSON hold all benchmarks and metrics, tables by class, wrong answers with their texts, curves and several claims; texts are escaped, bounded and without secrets',
  'USE-251': '`claims` beside `claim`, and claims of different confidence, are refused',
  'USE-170':
    'of everything that a command depends on, being absent, slow, dying or answering nonsense is said in text, JSON, exit code and record, and the first signal ends a wait',
  'USE-171': 'an environment, params of an agent or a metric that no trial could use is refused before the first trial',
  'USE-172': '`validate --deep` refuses what `run` refuses before its first step, with the same codes',
  'USE-173': 'a command that writes nothing for five seconds says what it is at, whatever it waits for',
  'USE-174': 'a run that was interrupted and reports nothing more is ended, and resumes at its last checkpoint',
  'USE-175': 'a run that neither trains nor is scored on anything has failed',
  'USE-176':
    'an experiment whose every answer to the ranking benchmark could not be scored has failed and says why; its runs are kept to be scored again',
  'USE-177':
    'OPENAI_BASE_URL and ANTHROPIC_BASE_URL are honoured for clients that answer a benchmark and for proposers of research',
  'USE-316':
    'a checkpoint to start from or to learn from is named as a run or EXPERIMENT/ARM: the address of the selected checkpoint is recorded, and a name that leads nowhere or to several runs is a located error',
  'USE-317':
    '`evsys next` proposes the seeds, or the number of tasks, that would settle each inconclusive claim, also where another claim of the experiment is supported',
  'USE-318':
    'the story of the help desk needs no address copied by hand: the next month continues from the arm by its name, and the report holds what its guide says',
  'USE-319': 'the README names every command of evsys, and flags that there are',
  'USE-320': 'an effect of exactly 0 is called a tie in `compare`, and where all arms tie none is called chosen',
  'USE-321': 'an experiment that its budget stopped before any run completed is not sent to look for a fault',
  'USE-322': 'a command that `next` proposes runs as it stands and does what its step says',
  'USE-530':
    'a claim between two benchmarks is falsely supported or refuted in 5 of 100 cases at most, and its verdict, interval and p-value agree',
  'USE-531':
    'sides of a claim may name benchmarks, ARM@BENCHMARK, and `max_drop` what may be lost; what makes no sense is a located error',
  'USE-532':
    'a claim between benchmarks is in the plan with its power, and its verdict, Holm-adjusted, with the part that is class mix, in text, JSON, experiment.md, report and show',
  'USE-540':
    '`run --dry` counts the runs that a run takes from the record by the comparison that the run makes, and forecasts the others, in text and JSON',
  'USE-541':
    'the forecast of a plan, once one run was measured, is within a factor of two of what it takes of processors',
  'USE-542':
    'a conclusion is shown line by line: claims, best arm, tests, what failed and what to beware of, in terminal and report',
  'USE-480':
    '`repro` leaves out rows that repeat questions where the experiment did, so that its data are compared as they were',
  'USE-481': 'a checkpoint of a client, wherever it stands, takes EXPERIMENT/ARM or a run by name',
  'USE-482': 'what models beside the one in training cost is in the record of the run and counts against budget.usd',
  'USE-483':
    'a run whose worker, trainer or engine was killed is begun again at its last checkpoint, once, and ends in the same record',
  'USE-484':
    'an experiment of which any process is killed ends in the same record, with no process running and no temporary file',
  'USE-485': 'the folder of a reused run has the logs of the run that it repeats',
  'USE-486': 'weights by name of another base model are refused before anything starts',
  'USE-533':
    'an interval of a score over classes says that it is not calibrated where a class has fewer than three tasks: text, JSON, experiment.md and report',
} as const
