// Attackers that take more than they are given.
import { type Attack, daemon, scripted } from './attack.ts'

const longName = 'd'.repeat(200)

/** Fills the disk in a place that a script makes and enters; without a limit it would come to the end. */
function fills(name: string, place: string): Attack {
  const script = `cd /app; ${place}; for i in $(seq 40); do head -c 10000000 /dev/zero > f$i || exit 1; done; rm -f f*`
  return {
    name,
    async run({ environment, signal }, { mark }) {
      const { exitCode } = await environment.exec({ argv: ['bash', '-c', script, mark] }, signal)
      return exitCode === 0 ? 'HARM: the disk had no limit' : 'ended'
    },
  }
}

export const exhausting: readonly Attack[] = [
  scripted('forks until nothing is left', 'b() { b | b & }; b; b; while :; do :; done', 2),
  scripted('takes all memory', `${daemon('tail /dev/zero')} tail /dev/zero & x=xxxxxxxx; while :; do x=$x$x; done`, 4),
  scripted(
    'fills the disk',
    `for d in /logs/agent /app /dev/shm /tmp; do head -c 300000000 /dev/zero > $d/big; done
     for i in $(seq 30); do truncate -s 60000000 /logs/agent/hole$i /logs/artifacts/hole$i /logs/verifier/hole$i; done; true`,
    10,
  ),
  scripted(
    'makes thousands of files',
    'cd /logs/agent; for d in /logs/agent /logs/verifier /app; do cd $d; for i in $(seq 2000); do : > f$i; done; done',
  ),
  scripted('floods its output', 'yes "$(head -c 4000 /dev/zero | tr "\\0" x)" >&2 & yes 1; true', 3),
  scripted(
    'nests folders deeper than any path',
    `for d in /logs/agent /logs/verifier /logs/artifacts /app; do cd $d; for i in $(seq 60); do mkdir ${longName} && cd ${longName} 2> /dev/null || break; done; echo 1 > reward.txt; done
     mkdir -p /tests; cd /tests; for i in $(seq 400); do mkdir d && cd d || break; done; true`,
  ),
  scripted(
    'takes rights and owners from its folders',
    `cp /bin/bash /app/suid; chmod 6777 /app/suid; mkdir -p /tests /logs/agent/a/b /logs/artifacts/a; chown -R 65534:65534 /logs /app /tests 2> /dev/null; chown 12345 /app 2> /dev/null
     chmod 000 /logs/agent/a /logs/artifacts/a /logs/agent /logs/artifacts /logs/verifier /app /tests /logs /root /tmp; chmod 000 /`,
  ),
  fills('fills the disk below a name that is no text', `mkdir $'\\xff' && cd $'\\xff'`),
  fills('fills the disk in a folder without rights', 'mkdir -p a/b && cd a/b && chmod 000 ../../a'),
  fills('fills the disk in a folder that can only be listed', 'mkdir -p a/b && cd a/b && chmod 444 ../../a'),
  fills(
    'fills the disk below a path that is too long',
    `for i in $(seq 30); do mkdir ${longName}; cd ${longName}; done`,
  ),
]
