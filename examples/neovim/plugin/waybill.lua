-- Defines the commands. Nothing runs before setup() or the first of them.
if vim.g.loaded_waybill or vim.fn.has("nvim-0.7") == 0 then
  return
end
vim.g.loaded_waybill = true

local command = vim.api.nvim_create_user_command

command("WaybillReply", function()
  require("waybill").reply()
end, { desc = "Answer a question of an agent" })

command("WaybillStatus", function(given)
  require("waybill").status(given.bang)
end, { bang = true, desc = "Show what waits; with ! mark the notices as seen" })

command("WaybillQueue", function(given)
  require("waybill").queue(given.args)
end, { nargs = "+", desc = "Tell an agent something before its next turn" })

local group = vim.api.nvim_create_augroup("waybill", {})
-- What other programs have consumed is no longer counted.
vim.api.nvim_create_autocmd("FocusGained", { group = group, callback = function()
  if package.loaded.waybill then
    require("waybill").refresh()
  end
end })
vim.api.nvim_create_autocmd("VimLeavePre", { group = group, callback = function()
  if package.loaded.waybill then
    require("waybill").stop()
  end
end })
