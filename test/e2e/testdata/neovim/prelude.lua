-- What the scripts of the tests have in common. A script runs inside an editor without a screen; it tells the test what
-- it sees, a JSON object a line, and waits for what should happen for up to a minute.
local T = { told = {}, shown = {} }

-- Everything that the plugin shows to a person.
vim.notify = function(message, level)
  T.told[#T.told + 1] = { message = message, level = level or vim.log.levels.INFO }
end

function T.tell(what, facts)
  io.stdout:write(vim.json.encode(vim.tbl_extend("force", { what = what }, facts or {})), "\n")
  io.stdout:flush()
end

function T.eventually(what, condition)
  if not vim.wait(60000, condition, 20) then
    error("waited in vain until " .. what .. "; it was told " .. vim.inspect(T.told))
  end
end

-- Counts the messages that hold the text.
function T.count(part)
  return #vim.tbl_filter(function(told)
    return told.message:find(part, 1, true) ~= nil
  end, T.told)
end

function T.until_told(part)
  T.eventually("somebody tells " .. part, function()
    return T.count(part) > 0
  end)
end

function T.until_status(line)
  T.eventually("the status line is " .. line, function()
    return require("waybill").statusline() == line
  end)
end

-- The person: picks the first thing of every list, and types that answer.
function T.person(answer)
  vim.ui.select = function(items, options, chosen)
    T.shown = vim.tbl_map(options.format_item, items)
    chosen(items[1])
  end
  vim.ui.input = function(options, typed)
    T.prompt = options.prompt
    typed(answer)
  end
end

function T.setup(options)
  local waybill = require("waybill")
  local needed = { cmd = { vim.env.WAYBILL_PROGRAM }, start_ms = 60000, stop_ms = 60000 }
  waybill.setup(vim.tbl_extend("force", needed, options or {}))
  return waybill
end

-- Runs a program and gives what it prints. The editor stands still meanwhile.
function T.call(method, params)
  local program = io.popen(vim.env.WAYBILL_PROGRAM .. " call " .. method .. " '" .. vim.json.encode(params) .. "' 2>/dev/null")
  local printed = program:read("*a")
  program:close()
  return vim.json.decode(printed)
end

function T.run(script)
  vim.cmd("runtime plugin/waybill.lua")
  local ok, err = xpcall(dofile, debug.traceback, script)
  if not ok then
    io.stderr:write(tostring(err), "\n")
    vim.cmd("cquit")
  end
  vim.cmd("qall!")
end

_G.T = T
