#!/usr/bin/env bash
# Ends exactly what slurm_up.sh FOLDER has started, and removes FOLDER. Harmless when it is gone.
set -u
folder=$1
[ -f "$folder/slurm.conf" ] || exit 0
export SLURM_CONF=$folder/slurm.conf

# By what they were started with, not by pid files: those vanish when a daemon is started again, and
# the step daemons of killed nodes have none. Their titles are rewritten; the environment is not.
is_ours() {
  case $(cat "/proc/$1/comm" 2>/dev/null) in
    slurm*) ;;
    *) return 1 ;;
  esac
  { tr '\0' '\n' <"/proc/$1/environ"; } 2>/dev/null | grep -qxF "SLURM_CONF=$SLURM_CONF"
}

ours() {
  local each
  for each in /proc/[0-9]*; do is_ours "${each#/proc/}" && echo "${each#/proc/}"; done
}

# With the daemons alive, processes of jobs are killed by those who know them.
if [ -n "$(ours)" ] && timeout 3 scancel --quiet --user="$(id -un)" 2>/dev/null; then
  timeout 3 scancel --quiet --full --signal=KILL --user="$(id -un)" 2>/dev/null
  for _ in $(seq 30); do
    [ -z "$(timeout 3 squeue -h -t R,CG,S 2>/dev/null)" ] && break
    sleep 0.1
  done
fi
for signal in TERM KILL; do
  for pid in $(ours); do kill -s $signal "$pid" 2>/dev/null; done
  for _ in $(seq 40); do
    [ -z "$(ours)" ] && break 2
    sleep 0.05
  done
done
rm -rf "$folder"
