#!/usr/bin/env bash
# A host: hands an instruction over until it is acknowledged, and plays a worker that asks and is answered.
#   host.sh call   with a process for each call
#   host.sh pipe   with one process, and a pipe that is held open
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
source "$here/json.bash"
case ${1:-call} in
  call | pipe) source "$here/${1:-call}.bash" ;;
  *) echo "usage: host.sh [call|pipe]" >&2; exit 2 ;;
esac

# pass makes one dispatch pass and hands the first instruction to the agent.
pass() {
  ask dispatch_instructions '{"limit":1}'
  echo "to the agent: $(text text "$REPLY")"
}

# work claims a task. If nobody has answered it yet, it asks; else the agent would go on with the answer.
work() {
  local task token
  ask claim_task '{"worker":"host.sh"}'
  task=$(text task_id "$REPLY") token=$(text token "$REPLY")
  if [[ $REPLY == *'"continuation":true'* ]]; then
    echo "the agent goes on with:" "$(text prompt "${REPLY##*\"lease\":}" | sed -n '/^\[User Reply\]$/{n;p;}')"
    ask finish_attempt "{\"task_id\":\"$task\",\"lease_token\":\"$token\",\"status\":\"completed\"}"
  else
    ask finish_attempt "{\"task_id\":\"$task\",\"lease_token\":\"$token\",\"status\":\"awaiting_response\",
      \"question\":$(quote 'Keep the column "loans"?')}"
  fi
  echo "the task is $(text status "${REPLY#*\"task\":}")"
}

ask queue_instruction_with_ack "{\"content\":$(quote "Run the tests.")}"
instruction=$(text instruction_id "$REPLY")
pass
pass # nobody has acknowledged it
ask acknowledge "{\"instruction_id\":\"$instruction\"}"
echo "the instruction is $(text state "$REPLY")"

ask create_task "{\"prompt\":$(quote 'Migrate the loans.')}"
work
ask list_awaiting '{}'
echo "it asks: $(text question "$REPLY")"
ask reply "{\"task_id\":\"$(text task_id "$REPLY")\",\"reply\":$(quote "Drop it.")}"
work
leave
