local waybill = T.setup({ cmd = vim.json.decode(vim.env.WRONG_CMD), start_ms = tonumber(vim.env.WRONG_START_MS) })
T.until_status("waybill: not running")
T.tell("off", { told = T.told })

-- A command tries again, says why it cannot be, and leaves the editor alone.
T.told = {}
vim.cmd("WaybillQueue too early")
T.until_told("not queued: ")
T.tell("again", { told = T.told })

waybill = T.setup()
T.eventually("it runs", function()
  return waybill.pid() and waybill.statusline() == ""
end)
vim.cmd("WaybillQueue in time")
T.until_told("queued for session default")
