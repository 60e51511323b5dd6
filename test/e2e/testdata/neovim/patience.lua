-- Processes end one after the other, by a clock that the test has, and none is started.
local Child = require("waybill.child")
local uv = vim.uv or vim.loop
local now = 0
uv.now = function()
  return now
end

-- Gives after how many processes the child is given up, each of which lived for so long; none for never, which is more
-- than ten.
local function given_up(lived_ms, greeted)
  local ended, over = 0, false
  local child = Child.new({
    cmd = { "sh" },
    lost = function(_, is_over)
      over = is_over
    end,
  })
  function child:start()
    self.since, self.greeted, self.said, self.pipes = now, greeted, "", {}
    self.handle = { close = function() end }
    now = now + lived_ms
    ended = ended + 1
    self:exited(3, 0)
  end
  child.after = function(self, code, signal)
    Child.after(self, code, signal)
    if self.timer then -- nobody waits here
      self:quiet("timer")
      if ended < 11 then
        self:start()
      end
    end
  end
  child:start()
  T.eventually("it ends", function()
    return over or ended == 11
  end)
  return over and ended or nil
end

assert(given_up(1, false) == 5)
assert(given_up(3600000, false) == 5, "it takes long to die, and has answered nothing")
assert(given_up(9999, true) == 5, "it only answers the greeting")
assert(given_up(10000, true) == nil)
T.tell("over")
