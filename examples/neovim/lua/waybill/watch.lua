-- Knows what waits for a person: the questions and the notices that nobody has consumed. Notifications are taken as a
-- hint to look; what is new is read from the event log after a cursor, so nothing is missed or told twice.
local Watch = {}
Watch.__index = Watch

-- The most pages of a list that are read at a time; there are 500 things on each.
local most_pages = 20

--- Gives a watch over a child. changed() is called after each look, told(notice) for each notice that is new, and
--- failed(error) if a look was not possible.
function Watch.new(child, on)
  return setmetatable({ child = child, on = on, questions = {}, notices = {} }, Watch)
end

--- Begins, or goes on where it was: the cursor of initialize counts only the first time. A look that was under way when
--- the process died goes on too, for its call is sent again.
function Watch:begin(cursor)
  self.cursor = self.cursor or cursor
  self:look()
end

--- Looks for what is new. While one look is under way another one is only noted.
function Watch:look()
  if self.busy or not self.cursor then
    self.once_more = true
    return
  end
  self.busy, self.once_more = true, false
  self:events({})
end

-- Reads the log up to its end; fresh collects the notices, in order.
function Watch:events(fresh)
  local params = { cursor = self.cursor, limit = 500, types = { "notice.posted" } }
  self.child:call("events_since", params, function(err, page)
    if err and err.code == "CURSOR_EXPIRED" then
      self.cursor, page = "0", { events = {}, cursor = "0", more = true }
    elseif err then
      return self:finish(err)
    end
    for _, event in ipairs(page.events) do
      fresh[#fresh + 1] = event
    end
    self.cursor = page.cursor
    if page.more then
      return self:events(fresh)
    end
    self:lists(fresh)
  end)
end

function Watch:lists(fresh)
  self:all("list_notices", { peek = true }, function(err, notices)
    if err then
      return self:tell(fresh, {}, err)
    end
    self:all("list_awaiting", {}, function(failure, questions)
      if not failure then
        self.notices, self.questions = notices, questions
      end
      self:tell(fresh, notices, failure)
    end)
  end)
end

-- A notice that somebody has consumed meanwhile has no text any more, and is told all the same.
function Watch:tell(fresh, notices, err)
  local by_id = {}
  for _, notice in ipairs(notices) do
    by_id[notice.notice_id] = notice
  end
  for _, event in ipairs(fresh) do
    local known = by_id[event.subject_id]
    self.on.told(known or { kind = event.data.kind, text = event.data.kind .. " " .. event.data.subject_id })
  end
  self:finish(err)
end

function Watch:finish(err)
  self.busy = false
  if err then
    return self.on.failed(err)
  end
  self.on.changed()
  if self.once_more then
    self:look()
  end
end

--- Reads a list to its end, and gives callback(error, items).
function Watch:all(method, params, callback, items, pages)
  items, pages = items or {}, pages or 1
  params.limit = 500
  self.child:call(method, params, function(err, page)
    if err then
      return callback(err)
    end
    vim.list_extend(items, page.items)
    if not page.next_cursor or pages >= most_pages then
      return callback(nil, items)
    end
    params.cursor = page.next_cursor
    self:all(method, params, callback, items, pages + 1)
  end)
end

--- Gives the notices that instructions have failed.
function Watch:failures()
  return vim.tbl_filter(function(notice)
    return notice.kind == "instruction.failed"
  end, self.notices)
end

return Watch
