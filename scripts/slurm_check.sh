#!/usr/bin/env bash
# Grids on a real Slurm of one node, which this script starts and stops: submitted twice at once, asked to stop, out of time, cancelled,
# submitted again, preempted; every run must come out as on one machine, bit for bit. Needs root (munged and slurmd), and Debian's slurm-wlm and munge,
# which it installs if they are missing. All that it starts talks over the loopback device and writes into a temporary directory.
#
# usage: scripts/slurm_check.sh target/release/rehearsal [SMOKE]     SMOKE: experiments/smoke.toml as it came out on one machine
set -euo pipefail
program=$(realpath "${1:?which program?}")
smoke=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."
repository=$PWD

if ! command -v slurmctld > /dev/null || ! command -v munged > /dev/null; then
  apt-get update --quiet && DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends slurm-wlm munge
fi

place=$(mktemp -d /tmp/slurm-check.XXXXXX)
chmod 755 "$place"
started=()
stop() {
  code=$?
  trap - EXIT
  if [ "$code" -ne 0 ]; then
    echo "== failed ($code); what Slurm and the tasks said last:" >&2
    tail --lines 15 "$place"/slurm*.log "${runs:-$place}"/*/logs/*.out >&2 2> /dev/null || true
  fi
  # What the jobs started, then the daemons, the last first.
  scancel --user root --full --signal=KILL > /dev/null 2>&1 || true
  scancel --user root > /dev/null 2>&1 || true
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do kill "${started[i]}" 2> /dev/null || true; done
  for process in "${started[@]}"; do wait "$process" 2> /dev/null || true; done
  rm -rf "$place"
  exit "$code"
}
trap stop EXIT
trap 'exit 130' INT TERM

fail() { echo "FAILED: $*" >&2; exit 1; }
# until SECONDS COMMAND…: waits until it succeeds.
until_true() {
  local end=$((SECONDS + $1)); shift
  until "$@"; do
    if [ "$SECONDS" -ge "$end" ]; then fail "after a long wait: $*"; fi
    sleep 0.5
  done
}

echo "== munged, slurmctld, slurmd"
mkdir "$place"/{state,spool,munge}
chmod 700 "$place/munge"
head -c 1024 /dev/urandom > "$place/munge/key"
chmod 600 "$place/munge/key"
host=$(hostname)
# For so long, in seconds, Slurm holds back what is queued again: what it was started with is void on the node until then, and a
# task that is begun sooner (`scontrol update StartTime=now`) in the same second is ended as "credential revoked". 120 by default.
requeue_wait=20
# Two ports that nobody has.
read -r port1 port2 < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')
cat > "$place/slurm.conf" << CONF
ClusterName=check
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port1
SlurmdPort=$port2
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$place/munge/socket,cred_expire=$requeue_wait
CredType=cred/munge
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
SlurmctldLogFile=$place/slurmctld.log
SlurmdLogFile=$place/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=20
KillWait=10
OverTimeLimit=0
SchedulerParameters=sched_interval=2,bf_interval=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=3 State=UNKNOWN
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=check Nodes=$host Default=YES PriorityTier=1 MaxTime=INFINITE State=UP
PartitionName=urgent Nodes=$host PriorityTier=2 MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$place/slurm.conf
munged --foreground --force --key-file="$place/munge/key" --socket="$place/munge/socket" --pid-file="$place/munge/pid" \
  --log-file="$place/munge/log" --seed-file="$place/munge/seed" > "$place/munge/out" 2>&1 &
started+=($!)
until_true 10 test -S "$place/munge/socket"
slurmctld -D -f "$SLURM_CONF" > "$place/slurmctld.out" 2>&1 &
started+=($!)
until_true 20 scontrol ping > /dev/null
slurmd -D -f "$SLURM_CONF" -N "$host" > "$place/slurmd.out" 2>&1 &
started+=($!)
is_idle() { [ "$(sinfo --noheader --partition=check --format=%T)" = idle ]; }
until_true 30 is_idle
sinfo

echo "== the grids on one machine, to compare with"
# Long enough to run into a limit of a minute, of which Slurm tells 29 to 59 seconds before its end.
long=$place/long.toml
cat > "$long" << GRID
[fixed]
dataset = "embedded"
width = 8
epochs = 30
train-per-class = 60
test-per-class = 10
retrieval = "random"
[axes]
seed = [0]
GRID
if [ -z "$smoke" ]; then
  smoke=$place/local/smoke
  "$program" grid "$repository/experiments/smoke.toml" --out "$smoke"
fi
"$program" grid "$long" --out "$place/local/long" --threads 1

# A name that must be quoted, for the shell, for sbatch and in the names of outputs.
runs="$place/5% of \"it's\" runs"
of_smoke=("$repository/experiments/smoke.toml" --out "$runs/smoke")
of_long=("$long" --out "$runs/long")
logs() { cat "$runs/$1"/logs/slurm-*.out 2> /dev/null || true; }
says() { [[ $(logs "$1") == *"$2"* ]]; }
is_running() { squeue --noheader --name "$1" --format=%T | grep RUNNING > /dev/null; }
is_over() { [ -z "$(squeue --noheader --jobs "$1" --format=%T 2> /dev/null)" ]; }
state_is() { [ "$(squeue --noheader --jobs "$1" --format=%T 2> /dev/null)" = "$2" ]; }
begun() { logs smoke | grep --count "in task $1 on" || true; }
goes_on() { [ "$(begun "$1")" -gt "$2" ]; }
is_queued_again() { squeue --noheader --array --name "$1" --format='%T %r' | grep "PENDING BeginTime" > /dev/null; }
is_gone() { [ -z "$(squeue --noheader --name "$1" --format=%T)" ]; }

echo "== two submits at once"
long_job=$("$program" grid submit "${of_long[@]}" --cpus 1 --chunk 1 --time 1 --warning 29)
"$program" grid submit "${of_smoke[@]}" --cpus 1 --chunk 5 > "$place/first" &
first=$!
"$program" grid submit "${of_smoke[@]}" --cpus 1 --chunk 5 > "$place/second" &
second=$!
wait "$first" && wait "$second" || fail "a submit failed"
job=$(cat "$place/first" "$place/second")
[[ $job =~ ^[0-9]+$ ]] || fail "not one of the two submitted all: $job"
python3 - "$runs/smoke" << 'PYTHON' || fail "a run was submitted twice, or not at all"
import json, pathlib, sys
grid = pathlib.Path(sys.argv[1])
submitted = [name for file in grid.glob("slurm/*/submission.json") for task in json.loads(file.read_text())["tasks"] for name in task]
runs = [json.loads(line)["name"] for line in (grid / "manifest.jsonl").read_text().splitlines()]
sys.exit(sorted(submitted) != sorted(runs))
PYTHON

echo "== tasks that are asked to stop save their runs and are queued again"
until_true 30 state_is "${job}_0" RUNNING
until_true 30 state_is "${job}_1" RUNNING
status_says_where() { "$program" grid status "${of_smoke[@]}" | grep "running .* (on $host)"; }
until_true 30 status_says_where
# Not waited for: it tries again and again to signal a task that is queued again.
scancel --batch --signal=TERM "${job}_0" 2> /dev/null &    # the script alone
scancel --full --signal=TERM "${job}_1" 2> /dev/null &     # the script and the run
until_true 30 says smoke "task ${job}_0 is queued again"
until_true 30 says smoke "task ${job}_1 is queued again"
"$program" grid status "${of_smoke[@]}" | grep "requeued" || fail "status does not say requeued"
before=$(begun "${job}_0")
until_true 90 goes_on "${job}_0" "$before"

echo "== tasks that are cancelled save their runs and stay stopped"
"$program" grid cancel "${of_smoke[@]}"
until_true 30 is_gone rehearsal-smoke
"$program" grid status "${of_smoke[@]}" | grep "queued" && fail "something is still queued"
"$program" grid status "${of_smoke[@]}" | tail --lines 1

echo "== a task that runs out of time saves its run and is queued again"
until_true 90 says long "task ${long_job}_0 is queued again"
"$program" grid cancel "${of_long[@]}"
until_true 30 is_gone rehearsal-long

echo "== submitted again, preempted by a job of more weight, and back"
"$program" grid submit "${of_long[@]}" --cpus 1 > /dev/null    # by an estimate
"$program" grid submit "${of_long[@]}" --cpus 1 2>&1 | grep "nothing to submit" || fail "the last submit of two found something"
"$program" grid submit "${of_smoke[@]}" --cpus 1 --chunk 2 > /dev/null
until_true 30 is_running rehearsal-long
urgent=$(sbatch --parsable --partition=urgent --ntasks=3 --output=/dev/null --wrap "sleep 1")
until_true 60 says long "DUE TO PREEMPTION"
until_true 60 is_over "$urgent"
"$program" grid status "${of_long[@]}"
until_true 60 is_queued_again rehearsal-long
"$program" grid wait "${of_smoke[@]}" --every 1
"$program" grid wait "${of_long[@]}" --every 1
"$program" grid logs "${of_long[@]}" seed0 | grep "stopped at a checkpoint" || fail "the logs do not tell of the stop"

echo "== every run as on one machine, bit for bit"
python3 - "$smoke" "$runs/smoke" "$place/local/long" "$runs/long" << 'PYTHON'
import json, pathlib, sys
def result(run):
    said = json.loads((run / "result.json").read_text())
    for key in ["seconds", "samples_per_second", "peak_memory_bytes", "sha256"]:
        del said[key]
    return said
for here, there in [sys.argv[1:3], sys.argv[3:5]]:
    here, there = pathlib.Path(here), pathlib.Path(there)
    names = [json.loads(line)["name"] for line in (here / "manifest.jsonl").read_text().splitlines()]
    for name in names:
        for file in ["predictions.bin", "diagnostics.jsonl"]:
            if (here / name / file).exists():
                assert (here / name / file).read_bytes() == (there / name / file).read_bytes(), f"{name}/{file}"
        assert result(here / name) == result(there / name), name
    held = [len(list((there / name / ".holders").iterdir())) for name in names]
    print(f"{there.name}: all the same; runs: {len(names)}, held by processes: {sum(held)}, one by up to {max(held)}")
PYTHON
