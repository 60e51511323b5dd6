local uv = vim.uv or vim.loop
local waybill = T.setup()
local pids = {}
for round = 1, 3 do
  T.eventually("process " .. round .. " runs", function()
    return waybill.pid() and waybill.pid() ~= pids[#pids]
  end)
  local hint = "before " .. round
  T.call("queue_instruction_with_ack", { content = hint, session_id = hint:gsub(" ", "."), max_retries = 0 })
  T.call("dispatch_instructions", { session_id = hint:gsub(" ", ".") })
  T.call("dispatch_instructions", { session_id = hint:gsub(" ", ".") })
  T.until_told('"' .. hint .. '"') -- so the process is one that answers

  pids[round] = waybill.pid()
  -- It is carried out, and the process killed before the editor looks at the answer.
  waybill.queue("answer lost, " .. round)
  for _ = 1, 200 do
    if #T.call("list_instructions", { session_id = "default" }).items == 2 * round - 1 then
      break
    end
  end
  uv.kill(pids[round], "sigkill")
  waybill.queue("while it was dead, " .. round)
  local session = "dead." .. round
  T.call("queue_instruction_with_ack", { content = session, session_id = session, max_retries = 0 })
  T.call("dispatch_instructions", { session_id = session })
  T.call("dispatch_instructions", { session_id = session })
  T.until_told('"' .. session .. '"')
  T.until_status("waybill: " .. 2 * round .. " failed")
end
T.eventually("all is queued", function()
  return T.count("queued for session default") == 6
end)
local once = {}
for _, told in ipairs(T.told) do
  once[told.message] = (once[told.message] or 0) + 1
end
T.tell("over", { once = once, pids = pids })
