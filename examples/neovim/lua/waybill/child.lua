-- Keeps one waybill process: starts it, calls it, and starts it again when it has died. A call that had no answer then
-- is sent once more, so calls that change something must carry an idempotency_key. It knows nothing of what the calls
-- mean and shows nothing to anybody.
--
-- vim.lsp.rpc.start could carry the messages, but its arguments differ between 0.7, 0.8 and 0.11, it forgets calls
-- when the process dies, and it cannot say what a program that is no server has printed.
local frames = require("waybill.frames")
local uv = vim.uv or vim.loop

local Child = {}
Child.__index = Child

-- How many processes in a row may be of no use before it is left alone.
local patience = 5
-- A process that has answered and lived for so long was of use, whatever ended it.
local soon_ms = 10000

--- Gives a child that is not started yet. opts has cmd (a list), cwd, start_ms (how long the first answer may take),
--- hello (the params of initialize) and three functions: ready(answer of initialize), heard(notification, params), and
--- lost(text, over), where over says that it is not started again until somebody calls it.
function Child.new(opts)
  return setmetatable({ opts = opts, waiting = {}, next_id = 0, failures = 0 }, Child)
end

--- Tells whether the process has answered and lives.
function Child:running()
  return self.greeted == true
end

--- Calls a method, and answers with callback(error, result): an error has code and message. Starts the process.
function Child:call(method, params, callback)
  if next(params) == nil then
    params = vim.empty_dict()
  end
  self.next_id = self.next_id + 1
  local id = self.next_id
  self.waiting[id] = { method = method, params = params, callback = callback }
  if self.greeted then
    self:send(id)
  else
    self:start()
  end
end

function Child:send(id)
  local call = self.waiting[id]
  self:write({ jsonrpc = "2.0", id = id, method = call.method, params = call.params })
end

-- A write that fails needs no care: the end of the process is told of, and the call is sent again.
function Child:write(message)
  if self.pipes and not self.pipes[1]:is_closing() then
    self.pipes[1]:write(frames.encode(message))
  end
end

--- Starts the process, unless it runs or is about to.
function Child:start()
  if self.handle or self.timer then
    return
  end
  self.stopping, self.said, self.ended = false, "", nil
  self.pipes = { uv.new_pipe(false), uv.new_pipe(false), uv.new_pipe(false) }
  local args = vim.list_slice(self.opts.cmd, 2)
  local options = { args = args, cwd = self.opts.cwd, stdio = self.pipes, hide = true }
  local handle, pid = uv.spawn(self.opts.cmd[1], options, function(code, signal)
    self:exited(code, signal)
  end)
  if not handle then
    self:close()
    self:give_up("cannot be started: " .. tostring(pid) .. "; install it, or name it in cmd of setup()")
    return
  end
  self.handle, self.pid, self.since = handle, pid, uv.now()
  self:listen()
  self:greet()
end

function Child:listen()
  local read, handle = frames.reader(), self.handle
  self.pipes[2]:read_start(function(_, chunk)
    if not chunk or self.wrong then
      return
    end
    local messages, wrong = read(chunk)
    for _, message in ipairs(messages) do
      vim.schedule(function()
        if self.handle == handle then -- what a dead process has answered is asked again
          self:take(message)
        end
      end)
    end
    if wrong then
      self:reject("does not speak as waybill does: " .. wrong .. "; look at cmd of setup()")
    end
  end)
  self.pipes[3]:read_start(function(_, chunk)
    self.said = (self.said .. (chunk or "")):sub(-1000)
  end)
end

-- Ends a process that is not waybill; its exit tells why.
function Child:reject(why)
  self.wrong = self.wrong or why
  if self.handle then
    self.handle:kill("sigkill")
  end
end

-- The id 0 is for this call alone, which every process gets.
function Child:greet()
  local clock = uv.new_timer()
  self.clock = clock
  clock:start(self.opts.start_ms, 0, function()
    self:reject("gave no answer in " .. self.opts.start_ms .. " ms")
  end)
  self:write({ jsonrpc = "2.0", id = 0, method = "initialize", params = self.opts.hello })
end

function Child:take(message)
  if message.method then
    if message.id == nil and self.greeted then
      self.opts.heard(message.method, message.params or {})
    end
  elseif message.id == 0 then
    self:greeted_by(message)
  elseif self.waiting[message.id] then
    local call = self.waiting[message.id]
    self.waiting[message.id] = nil
    call.callback(self.problem(message.error), message.result)
  end
end

function Child.problem(err)
  return err and { code = err.data and err.data.code, message = tostring(err.message) }
end

function Child:greeted_by(message)
  self:quiet("clock")
  if message.error then
    self:reject("refuses: " .. self.problem(message.error).message)
    return
  end
  self.greeted = true
  local ids = vim.tbl_keys(self.waiting)
  table.sort(ids)
  for _, id in ipairs(ids) do
    self:send(id)
  end
  self.opts.ready(message.result)
end

-- Stops one of the timers.
function Child:quiet(which)
  if self[which] then
    self[which]:stop()
    self[which]:close()
    self[which] = nil
  end
end

function Child:close()
  for _, pipe in ipairs(self.pipes) do
    if not pipe:is_closing() then
      pipe:close()
    end
  end
end

-- Runs when the process is gone. What it said last is in the pipes still, and is read before they are closed.
function Child:exited(code, signal)
  self:quiet("clock")
  self.useful = self.greeted and uv.now() - self.since >= soon_ms
  self.handle:close()
  self.handle, self.pid, self.greeted = nil, nil, nil
  self.ended = { code = code, signal = signal }
  vim.schedule(function()
    self:close()
    self:after(code, signal)
  end)
end

function Child:after(code, signal)
  local wrong = self.wrong
  self.wrong = nil
  if self.stopping then
    self:fail("was stopped")
  elseif wrong then
    self:give_up(wrong)
  else
    self:again(self:farewell(code, signal))
  end
end

-- Says how the process ended, with its last words.
function Child:farewell(code, signal)
  local how = signal ~= 0 and "was ended by signal " .. signal or "ended with code " .. code
  local words = vim.trim(self.said)
  return words == "" and how or how .. ": " .. words
end

function Child:again(how)
  self.failures = self.useful and 1 or self.failures + 1
  if self.failures >= patience then
    self:give_up(how .. ", " .. self.failures .. " times in a row")
    return
  end
  self.opts.lost(how, false)
  self.timer = uv.new_timer()
  self.timer:start(100 * 2 ^ (self.failures - 1), 0, vim.schedule_wrap(function()
    self:quiet("timer")
    self:start()
  end))
end

function Child:give_up(why)
  self.failures = 0
  vim.schedule(function()
    self.opts.lost(why, true)
    self:fail(why)
  end)
end

-- Answers every call that waits with an error.
function Child:fail(why)
  local waiting = self.waiting
  self.waiting = {}
  for _, call in pairs(waiting) do
    call.callback({ code = "GONE", message = self.opts.cmd[1] .. " " .. why })
  end
end

--- Ends the process: what was sent to it is carried out, for it has until its end of input is read and answered. After
--- bound_ms it is killed. Gives whether it went by itself; then ended has its code.
function Child:stop(bound_ms)
  self.stopping = true
  self:quiet("timer")
  if not self.handle then
    return true
  end
  local input = self.pipes[1]
  pcall(input.shutdown, input, function()
    if not input:is_closing() then
      input:close()
    end
  end)
  local function gone()
    return self.handle == nil
  end
  if vim.wait(bound_ms, gone, 10) then
    return true
  end
  self.handle:kill("sigkill")
  vim.wait(bound_ms, gone, 10)
  return false
end

return Child
