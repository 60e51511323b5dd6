# One process for all calls, at the other end of two pipes.
coproc SIDECAR { exec waybill; }
sidecar=$SIDECAR_PID
asked=0

# ask METHOD PARAMS: sets REPLY to the result. An error goes to standard error, and the status is 1. A message is a line,
# so a line break between the params becomes a space; within a string it is an escape already.
ask() {
  local id=$((++asked)) line
  local head="{\"jsonrpc\":\"2.0\",\"id\":$id,"
  printf '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n' "$id" "$1" "${2//$'\n'/ }" >&"${SIDECAR[1]}"
  while IFS= read -r line <&"${SIDECAR[0]}"; do
    case $line in
      "$head\"result\":"*) REPLY=${line#"$head\"result\":"} REPLY=${REPLY%\}}; return ;;
      "$head"* | '{"jsonrpc":"2.0","id":null,'*) printf '%s: %s\n' "$1" "$(text message "$line")" >&2; return 1 ;;
    esac # anything else is a notification
  done
  echo "waybill is gone" >&2
  return 1
}

# leave ends waybill: at the end of its input it carries out what it has read, and ends with 0.
leave() {
  exec {SIDECAR[1]}>&-
  wait "$sidecar"
}
