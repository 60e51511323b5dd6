-- Makes text of agents fit to be shown: on one line, and without what could pass for another line or turn it around.
local M = {}

-- The control characters of ASCII, those of Latin-1, and those that turn the direction of writing.
local unfit = { "[%z\1-\31\127]+", "\194[\128-\159]", "\226\128[\142\143\168-\174]", "\226\129[\166-\169]" }

--- Gives the text on one line, with at most so many characters.
function M.line(text, most)
  for _, pattern in ipairs(unfit) do
    text = text:gsub(pattern, " ")
  end
  text = vim.trim((text:gsub(" +", " ")))
  if vim.fn.strchars(text) > most then
    text = vim.fn.strcharpart(text, 0, most - 1) .. "…"
  end
  return text
end

--- Gives a time as people say it.
function M.age(ms)
  local seconds = math.floor(ms / 1000)
  if seconds < 60 then
    return seconds .. "s"
  elseif seconds < 3600 then
    return math.floor(seconds / 60) .. "m"
  end
  return math.floor(seconds / 3600) .. "h"
end

return M
