-- The plugin: what a person sees of waybill in Neovim, and the three commands. It decides nothing about tasks and
-- instructions: waybill does, and any number of other programs may work on the same workspace meanwhile.
local Child = require("waybill.child")
local Watch = require("waybill.watch")
local text = require("waybill.text")
local uv = vim.uv or vim.loop

local M = {}

local defaults = {
  cmd = { "waybill" },
  cwd = nil, -- where to start it; the folder of the editor otherwise
  by = "neovim", -- who has answered
  session = "default", -- whom :WaybillQueue tells something
  notify = true, -- whether to tell of what is new
  start_ms = 30000, -- how long the first answer may take
  stop_ms = 2000, -- how long the end may take
}

local now = {} -- the child, the watch and the options that count; empty before setup()

local function say(message, level)
  vim.notify("waybill: " .. text.line(message, 400), level or vim.log.levels.INFO)
end

-- Many editors may share a store; no two of their keys are the same.
local function key()
  now.keys = (now.keys or 0) + 1
  return table.concat({ "nvim", os.time(), uv.os_getpid(), uv.hrtime(), now.keys }, ".")
end

local function check(opts)
  for name, value in pairs(opts) do
    if name ~= "cwd" and type(value) ~= type(defaults[name]) then
      local wanted = defaults[name] == nil and "is not an option" or "has to be a " .. type(defaults[name])
      error("waybill: " .. tostring(name) .. " of setup() " .. wanted, 3)
    end
  end
  if type((opts.cmd or defaults.cmd)[1]) ~= "string" then
    error('waybill: cmd of setup() has to be a list such as {"waybill"}', 3)
  end
end

local function on_lost(why, over)
  now.off = over
  if over then
    say(now.opts.cmd[1] .. " " .. why .. ". :WaybillStatus tries again", vim.log.levels.ERROR)
  else
    say(now.opts.cmd[1] .. " " .. why .. ", and is started again", vim.log.levels.WARN)
  end
  vim.cmd("redrawstatus")
end

local function on_ready(hello)
  now.off, now.hello = false, hello
  now.watch:begin(hello.cursor)
end

local function on_changed()
  local line = M.statusline()
  if not now.greeted and line ~= "" and now.opts.notify then
    say(line:gsub("^waybill: ", ""), vim.log.levels.WARN)
  end
  now.greeted, now.trouble = true, nil
  vim.cmd("redrawstatus")
end

local loud = { ["instruction.failed"] = true, ["run.blocked"] = true, ["run.stalled"] = true }

local function on_told(notice)
  if now.opts.notify then
    say(notice.text, loud[notice.kind] and vim.log.levels.WARN or vim.log.levels.INFO)
  end
end

-- The same trouble is told once.
local function on_failed(err)
  if err.code ~= "GONE" and now.trouble ~= err.message then
    now.trouble = err.message
    say(err.message, vim.log.levels.ERROR)
  end
end

--- Starts waybill for this editor. May be called again with other options: the process before is ended then.
function M.setup(opts)
  opts = opts or {}
  check(opts)
  M.stop()
  now = { opts = vim.tbl_extend("force", defaults, opts) }
  now.child = Child.new({
    cmd = now.opts.cmd,
    cwd = now.opts.cwd or uv.cwd(),
    start_ms = now.opts.start_ms,
    hello = { client_info = { name = "neovim", version = tostring(vim.version().major .. "." .. vim.version().minor) },
      process_id = uv.os_getpid() },
    ready = on_ready,
    lost = on_lost,
    heard = function(method)
      if method ~= "log" then
        now.watch:look()
      end
    end,
  })
  now.watch = Watch.new(now.child, { changed = on_changed, told = on_told, failed = on_failed })
  now.child:start()
end

-- The commands work without setup().
local function ensure()
  if not now.child then
    M.setup()
  end
end

--- Ends waybill, after what it was told is carried out. Gives whether it went by itself.
function M.stop()
  return not now.child or now.child:stop(now.opts.stop_ms)
end

--- Gives what waits, for the status line: "" if nothing does.
function M.statusline()
  if not now.child then
    return ""
  elseif now.off then
    return "waybill: not running"
  end
  local parts = {}
  for _, count in ipairs({ { #now.watch.questions, "waiting" }, { #now.watch:failures(), "failed" } }) do
    if count[1] > 0 then
      parts[#parts + 1] = count[1] .. " " .. count[2]
    end
  end
  return #parts == 0 and "" or "waybill: " .. table.concat(parts, ", ")
end

--- Looks for what is new, as it does by itself whenever waybill gives a hint.
function M.refresh()
  if now.child and now.child:running() then
    now.watch:look()
  end
end

--- Gives the id of the process, or nil while there is none that has answered.
function M.pid()
  return now.child and now.child:running() and now.child.pid or nil
end

local function answer(question, reply)
  if vim.trim(reply or "") == "" then
    say("nothing was sent; the question waits")
    return
  end
  local params = { task_id = question.task_id, attempt_id = question.attempt_id, reply = reply, by = now.opts.by,
    idempotency_key = key() }
  now.child:call("reply", params, function(err)
    say(err and "the answer was not taken: " .. err.message or "answered, and the task goes on",
      err and vim.log.levels.ERROR)
    M.refresh()
  end)
end

local function about(question, length)
  local task = question.description and text.line(question.description, 40) .. ": " or ""
  return task .. text.line(question.question, length)
end

local function choice(question)
  return text.age(question.waiting_ms) .. "  " .. about(question, 200)
end

local function ask(question)
  vim.ui.input({ prompt = about(question, 400) .. " " }, function(reply)
    answer(question, reply)
  end)
end

--- Lets the person answer a question; of several, the person picks one.
function M.reply()
  ensure()
  now.watch:all("list_awaiting", {}, function(err, questions)
    if err then
      return say(err.message, vim.log.levels.ERROR)
    elseif #questions == 0 then
      return say("nothing waits for an answer")
    elseif #questions == 1 then
      return ask(questions[1])
    end
    local options = { prompt = "Which question?", kind = "waybill", format_item = choice }
    vim.ui.select(questions, options, function(question)
      if question then
        ask(question)
      end
    end)
  end)
end

--- Queues an instruction for the session of the options.
function M.queue(content)
  ensure()
  local params = { session_id = now.opts.session, content = content, idempotency_key = key() }
  now.child:call("queue_instruction", params, function(err)
    say(err and "not queued: " .. err.message or "queued for session " .. now.opts.session,
      err and vim.log.levels.ERROR)
  end)
end

local function report(questions, notices)
  local lines = { now.hello and "waybill " .. now.hello.server_info.version or "waybill" }
  lines[1] = lines[1] .. (now.child.pid and ", process " .. now.child.pid or "")
  for _, question in ipairs(questions) do
    lines[#lines + 1] = "  asks for " .. choice(question)
  end
  for _, notice in ipairs(notices) do
    lines[#lines + 1] = "  " .. text.line(notice.text, 200)
  end
  if #lines == 1 then
    lines[2] = "  nothing waits"
  end
  return table.concat(lines, "\n")
end

local function consume(notices)
  local ids = vim.tbl_map(function(notice)
    return notice.notice_id
  end, notices)
  if #ids > 0 then
    now.child:call("consume_notices", { notice_ids = ids, idempotency_key = key() }, function(err)
      if err then
        say(err.message, vim.log.levels.ERROR)
      end
      M.refresh()
    end)
  end
end

--- Shows what waits and what went wrong. With seen, the notices that it shows are consumed: for nobody they come again.
function M.status(seen)
  ensure()
  now.watch:all("list_notices", { peek = not seen }, function(err, notices)
    if err then
      return say(err.message, vim.log.levels.ERROR)
    end
    now.watch:all("list_awaiting", {}, function(failure, questions)
      if failure then
        return say(failure.message, vim.log.levels.ERROR)
      end
      vim.notify(report(questions, notices))
      if seen then
        consume(notices)
      end
    end)
  end)
end

return M
