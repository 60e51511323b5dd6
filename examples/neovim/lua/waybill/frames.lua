-- Cuts what a program says into messages: a header with the length, a blank line, JSON. It refuses to guess where the
-- next message could begin: what does not fit is told, and the conversation is over.
local M = {}

--- The most bytes that one message may have. waybill sends far smaller ones.
M.most = 16 * 1024 * 1024

local name = "content-length:"

--- Gives the bytes of one message.
function M.encode(message)
  local body = vim.json.encode(message)
  return "Content-Length: " .. #body .. "\r\n\r\n" .. body
end

-- Gives where the body begins and ends; nothing while the header is not whole; nil and what is wrong otherwise.
local function header(bytes)
  local start = bytes:sub(1, #name):lower()
  if start ~= name:sub(1, #start) then
    return nil, 'it says "' .. bytes:sub(1, 60):match("^[^\r\n]*") .. '", which is no header'
  end
  local last = select(2, bytes:find("\r\n\r\n", 1, true))
  if not last then
    return nil, #bytes > 1024 and "its header does not end" or nil
  end
  local length = tonumber(bytes:sub(#name + 1, last):match("^%s*(%d+)%s"))
  if not length or length > M.most then
    return nil, "its header gives no length of at most " .. M.most .. " bytes"
  end
  return last + 1, last + length
end

-- Puts the messages that are whole into the list; gives the rest and how long it has to be before there is more to do.
local function cut(bytes, messages)
  while bytes ~= "" do
    local first, last = header(bytes)
    if not first then
      return bytes, 0, last
    end
    if #bytes < last then
      return bytes, last
    end
    local ok, message = pcall(vim.json.decode, bytes:sub(first, last), { luanil = { object = true, array = true } })
    if not ok or type(message) ~= "table" then
      return "", 0, "it sends a message that is not JSON"
    end
    messages[#messages + 1] = message
    bytes = bytes:sub(last + 1)
  end
  return bytes, 0
end

--- Gives a function that takes the next bytes and gives the messages that they complete, and what is wrong with the
--- bytes after them, if anything is.
function M.reader()
  local parts, size, need = {}, 0, 0
  return function(chunk)
    parts[#parts + 1], size = chunk, size + #chunk
    if size < need then
      return {}
    end
    local messages, rest, wrong = {}, nil, nil
    rest, need, wrong = cut(table.concat(parts), messages)
    parts, size = { rest }, #rest
    return messages, wrong
  end
end

return M
