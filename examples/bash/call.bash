# ask METHOD PARAMS: sets REPLY to the result. Each call is a process of its own; what they share is on disk.
ask() {
  REPLY=$(waybill call "$1" "$2")
}

# Nothing is held open.
leave() { :; }
