#!/usr/bin/env bash
# A Slurm of our own below FOLDER: one controller, four nodes of four CPUs, all on this machine.
#   slurm_up.sh FOLDER [MIN_JOB_AGE]     then: export SLURM_CONF=FOLDER/slurm.conf
#   slurm_down.sh FOLDER                 ends it
# As root or as anybody; without munge, cgroups, systemd. With SLURM_GUARD=1 it goes down by itself
# when its standard input, a pipe, is closed by whoever has asked for it, also by dying.
# MIN_JOB_AGE: seconds that squeue shows a job after its end.
set -euo pipefail
folder=$1
min_job_age=${2:-300}
here=$(cd "$(dirname "$0")" && pwd)
nodes=4
cpus=4
user=$(id -un)
host=$(hostname -s)
PATH=$PATH:/usr/sbin:/sbin

is_free() { ! grep -qi ":$(printf '%04X' "$1") " /proc/net/tcp /proc/net/tcp6; }

# Below the ports that the kernel gives out itself. The controller takes the first one.
free_ports() {
  local try base port
  for try in $(seq 100); do
    base=$((20000 + (RANDOM % 1200) * 10))
    for port in $(seq $base $((base + nodes))); do is_free "$port" || continue 2; done
    echo "$base"
    return
  done
  echo "slurm_up.sh: no free ports in $try tries" >&2
  return 1
}

mkdir -p "$folder"/{state,log,spool}
chmod 755 "$folder"
[ "${SLURM_GUARD:-}" != 1 ] ||
  setsid --fork bash -c 'cat >/dev/null; exec "$0" "$1"' "$here/slurm_down.sh" "$folder" \
    <&0 >/dev/null 2>&1

port=$(free_ports)
# cred_expire: how long a requeued job waits; 5 is the least. EnforcePartLimits: what never fits is refused.
# Gres: countable things need no device files.
cat >"$folder/slurm.conf" <<EOF2
ClusterName=attune
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=10
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000,bf_interval=1
SlurmdTimeout=5
MessageTimeout=5
KillWait=2
MinJobAge=$min_job_age
ReturnToService=2
EnforcePartLimits=ALL
MailProg=/bin/true
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=card
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=$cpus RealMemory=1000 Gres=card:2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=600 PriorityTier=10 State=UP
PartitionName=spot Nodes=ALL MaxTime=600 PriorityTier=1 State=UP
EOF2
echo "Name=card Count=2" >"$folder/gres.conf"

export SLURM_CONF=$folder/slurm.conf
slurmctld -f "$SLURM_CONF"
for node in $(seq $nodes); do
  mkdir -p "$folder/spool/n$node"
  slurmd -f "$SLURM_CONF" -N "n$node"
done
for _ in $(seq 200); do
  [ "$(sinfo -h -p main -t idle -o %D 2>/dev/null)" = $nodes ] && exit 0
  sleep 0.05
done
echo "slurm_up.sh: the nodes do not become idle" >&2
sinfo >&2 || true
tail -n 5 "$folder"/log/*.log >&2
exit 1
