local frames = require("waybill.frames")

-- Three messages, the first one larger than a pipe, come in pieces of every size.
local large = string.rep("é\r\n\r\nContent-Length: 3", 20000)
local bytes = frames.encode({ id = 1, large = large }) .. frames.encode({ id = 2 })
  .. 'content-length:8 \r\nX-Other: 1\r\n\r\n{"id":3}'
for _, size in ipairs({ 1, 17, 65536, #bytes }) do
  local read, got = frames.reader(), {}
  for from = 1, #bytes, size do
    local messages, wrong = read(bytes:sub(from, from + size - 1))
    assert(not wrong, wrong)
    vim.list_extend(got, messages)
  end
  assert(#got == 3 and got[1].large == large and got[2].id == 2 and got[3].id == 3, size)
end

-- What is wrong is told as soon as it is certain, and what came before it counts.
for text, want in pairs({
  ["X"] = "which is no header",
  ["Content-Length; 3"] = "which is no header",
  ["Content-Length: many\r\n\r\n"] = "gives no length",
  ["Content-Length: -1\r\n\r\n"] = "gives no length",
  ["Content-Length: 99999999999\r\n\r\n"] = "gives no length",
  ["Content-Length: 1" .. string.rep("0", 2000)] = "does not end",
  ["Content-Length: 2\r\n\r\n{]"] = "not JSON",
  ["Content-Length: 1\r\n\r\n7"] = "not JSON",
  ["Content-Length: 0\r\n\r\n"] = "not JSON",
}) do
  local messages, wrong = frames.reader()(frames.encode({ id = 1 }) .. text)
  assert(#messages == 1, text)
  assert(wrong and wrong:find(want, 1, true), text .. ": " .. tostring(wrong))
end

local line = require("waybill.text").line
assert(line("a\nb\0c\27[2J\127d", 100) == "a b c [2J d", line("a\nb\0c\27[2J\127d", 100))
local turned = line("\226\128\174x\226\129\166\194\155y", 100)
assert(turned == "x y", turned)
assert(line("ääää", 3) == "ää…")
T.tell("over")
