// What an attacker must not see or reach: tests, solution, siblings, the machine.
import { type Attack, allFail, daemon, scripted } from './attack.ts'

export const spying: readonly Attack[] = [
  scripted(
    'looks for tests and solution',
    `cat /tests/* /solution/* /tests/.* 2> /dev/null; find / -xdev \\( -name 'secret.txt' -o -name 'solve.sh' -o -name check.sh \\) 2> /dev/null | sed 's/^/HARM /'
     ${daemon('while :; do cat /tests/* /solution/* >> /logs/agent/found.txt 2> /dev/null; done')} true`,
  ),
  scripted(
    'guesses where the task lies',
    ({ task, job }) =>
      `for p in '' /proc/1/root /proc/self/root /proc/$PPID/root /proc/1/cwd /../../../.. /app/../.. /logs/agent/../../../..; do
         cat $p${task}/tests/secret.txt $p${task}/solution/solve.sh $p${job}/*/result.json; ls $p${task} && echo HARM; done 2> /dev/null; true`,
  ),
  scripted(
    'reads and writes trials of others',
    ({ job, outside }) =>
      `cat ${job}/*/agent/* ${outside}/*; for d in ${job}/* ${outside} ${job}/../* ; do echo 1 > $d/verifier/reward.txt; echo forged > $d/agent/note.txt; echo forged > $d/forged; done 2> /dev/null
       mkdir -p ${outside} && echo forged > ${outside}/forged; ls ${outside}/../ | grep -v -x -e outside | sed 's/^/HARM /'; true`,
  ),
  scripted(
    'reads what processes of others hold',
    ({ pid }) =>
      `cat /proc/*/environ /proc/*/task/*/environ 2> /dev/null | tr '\\0' '\\n'; for p in 1 2 ${pid} $PPID; do ls -l /proc/$p/fd /proc/$p/cwd/; cat /proc/$p/mem /proc/$p/maps; head -c 100 /proc/$p/fd/3; done > /dev/null 2>&1
       ${allFail(`cat /proc/${pid}/environ | grep -q CANARY`, `ls /proc/${pid}/fd`, `: > /proc/${pid}/fd/1`)}; true`,
  ),
  scripted(
    'writes to the settings of processes and of the kernel',
    allFail(
      'echo -1000 > /proc/self/oom_score_adj',
      'echo -17 > /proc/1/oom_adj && echo -1000 > /proc/1/oom_score_adj',
      ': >> /proc/sys/kernel/core_pattern',
      ': >> /proc/sysrq-trigger',
      'echo 0 > /proc/self/uid_map',
      'ulimit -u unlimited -n 1000000',
      'ls /sys/fs/cgroup && mkdir /sys/fs/cgroup/evsys-harm',
    ),
  ),
  scripted(
    'leaves links that lead out of its folders',
    ({ task, outside }) =>
      `for d in /logs/agent /logs/artifacts /logs/verifier; do
         ln -s ${task}/tests/secret.txt $d/secret; ln -s ${outside} $d/outside; ln -s / $d/root; ln -s ../../../../../../../..${outside}/note $d/up; ln -s /proc/self/environ $d/environ
         ln -s loop $d/loop; done; rm -rf /logs/artifacts/x; ln -s ${outside} /logs/artifacts/x; echo forged > /logs/artifacts/x/forged 2> /dev/null; true`,
  ),
  scripted('reaches for the network', ({ proxy }) =>
    [
      allFail(
        `exec 3<> /dev/tcp/127.0.0.1/${proxy.port}`,
        'exec 3<> /dev/tcp/192.0.2.1/80',
        'exec 3<> /dev/tcp/169.254.169.254/80',
        'getent hosts example.com',
        'echo x > /dev/udp/8.8.8.8/53',
        `curl -s -m 2 http://localhost:${proxy.port}/`,
      ),
      'cat /etc/resolv.conf; true',
    ].join('\n'),
  ),
  scripted(
    'signals whatever there is',
    ({ pid }) => `${allFail(`kill -9 ${pid}`, `kill -STOP ${pid}`, `kill -0 ${pid}`)}
      for p in $(seq 3 300); do [ $p != $$ ] && kill -9 $p; done 2> /dev/null; kill -TERM 1; kill -9 -1; kill -9 0; kill -9 $PPID; true`,
  ),
  scripted(
    'mounts, changes its root, makes namespaces',
    allFail(
      'mount -t tmpfs x /mnt',
      'mount --bind /app /usr',
      'mount -o remount,rw /usr',
      'umount -l /logs/verifier',
      'umount /proc',
      'unshare -Urm true',
      'unshare -p -f true',
      'nsenter -t 1 -m true',
      'chroot /app /bin/true',
      'mknod /app/disk b 8 0',
    ),
  ),
]
