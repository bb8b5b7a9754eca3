task=$SLURM_ARRAY_TASK_ID
me=${SLURM_ARRAY_JOB_ID}_$task
threads=${SLURM_CPUS_PER_TASK:-${SLURM_CPUS_ON_NODE:-1}}
running='' stopped='' left='' failed=0

# Asked to stop: the run saves itself and ends with 130.
stop() {
  stopped=yes
  if [ -n "$running" ]; then kill -TERM "$running" 2> /dev/null; fi
}
trap stop TERM

for run in ${runs[$task]}; do
  if [ -n "$stopped" ]; then left=yes; break; fi
  echo "== run $run in task $me on ${SLURMD_NODENAME:-?}, $(date '+%Y-%m-%d %H:%M:%S')"
  "$program" grid run-one "$manifest" --index "$run" --out "$grid" --threads "$threads" --batch &
  running=$!
  # A signal ends `wait`, not the run.
  while wait "$running"; code=$?; kill -0 "$running" 2> /dev/null; do :; done
  running=''
  case $code in
    0) ;;
    130 | 143) stopped=yes left=yes ;;
    *) failed=1 ;;
  esac
done
if [ -z "$left" ]; then exit "$failed"; fi

# A task that is being cancelled is no longer RUNNING, and stays stopped.
echo "== task $me stopped at a checkpoint"
if [ "$(squeue --noheader --jobs "$me" --format=%T)" = RUNNING ]; then
  scontrol requeue "$me" && echo "== task $me is queued again"
fi
exit 130
