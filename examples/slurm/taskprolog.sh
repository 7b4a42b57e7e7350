#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A TaskProlog (slurm.conf, or srun --task-prolog) that asks before a job's tasks start.  A job says what it trains:
#
#     sbatch --export=ALL,VRAMCAST_MODEL=llava-1.5-7b-hf,VRAMCAST_SETTINGS=zero2.json job.sh
#
# VRAMCAST_PLAN is a plan file, VRAMCAST_WORDS are key=value words, VRAMCAST_GPU a card; without one the node's first
# card counts.  A task whose prolog fails does not start: that happens when the answer is "does not fit", and never
# because the answer is not known or this script has trouble of its own.
# (Not a Prolog: a node whose Prolog fails is drained.)
PATH=${VRAMCAST_PATH:-/usr/local/bin:/usr/bin:/bin}
[ -n "${VRAMCAST_MODEL:-}" ] || exit 0
[ "${SLURM_LOCALID:-0}" = 0 ] || exit 0 # one task of a node asks

say() { # lines "print ..." of a TaskProlog go to the job's output
    printf '%s\n' "$1" | sed 's/^/print vramcast: /'
}

gpu=${VRAMCAST_GPU:-$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)}
[ -n "$gpu" ] || { say "no card was found, the job was not checked"; exit 0; }
set -- "$VRAMCAST_MODEL" "gpu=$gpu"
[ "${SLURM_NTASKS:-1}" -gt 1 ] && set -- "$@" "gpus=$SLURM_NTASKS"
[ -n "${VRAMCAST_PLAN:-}" ] && set -- "$@" --plan "$VRAMCAST_PLAN"
[ -n "${VRAMCAST_SETTINGS:-}" ] && set -- "$@" --settings "$VRAMCAST_SETTINGS"
# shellcheck disable=SC2086 # words
answer=$(vramcast check "$@" ${VRAMCAST_WORDS:-} 2>&1)
code=$?
say "$answer"
[ $code = 1 ] && exit 1
exit 0
