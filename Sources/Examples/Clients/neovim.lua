-- The current buffer of Neovim as a field of focusd: `dofile("/path/to/neovim.lua")` in init.lua.
--
-- While Neovim has focus, `focusctl get Document.Path` prints its file, `focusctl set Text.SelectedText hello` replaces the
-- selection or inserts at the cursor, `focusctl run Document.Save` saves, and `focusctl run Edit.Undo` undoes. In tmux:
-- set -g focus-events on.
local path, selected = "org.focusd.Document.Path", "org.focusd.Text.SelectedText"
local codes = { ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t" }
local characters = { ["\\\\"] = "\\", ["\\n"] = "\n", ["\\t"] = "\t" }
local told, rest = {}, ""
local group = vim.api.nvim_create_augroup("focusd", {})
local job, started, is_in_front = nil, 0, false

local function send(line)
  if job then
    -- It may have ended a moment ago.
    pcall(vim.fn.chansend, job, line .. "\n")
  end
end

-- The first and the last position of the selection, or nil.
local function selection()
  if vim.fn.mode() ~= "v" then
    return nil
  end
  local first, last = vim.fn.getpos("v"), vim.fn.getpos(".")
  if first[2] > last[2] or (first[2] == last[2] and first[3] > last[3]) then
    first, last = last, first
  end
  -- The selection ends behind the last character, of whatever length.
  local line = vim.fn.getline(last[2])
  local behind = last[3] - 1 + #vim.fn.matchstr(line:sub(last[3]), "^.")
  return first[2] - 1, first[3] - 1, last[2] - 1, math.min(behind, #line)
end

local function update()
  local text = ""
  if selection() then
    local row, column, last_row, last_column = selection()
    text = table.concat(vim.api.nvim_buf_get_text(0, row, column, last_row, last_column, {}), "\n")
  end
  for key, value in pairs({ [path] = vim.api.nvim_buf_get_name(0), [selected] = text }) do
    if told[key] ~= value then
      told[key] = value
      send(key .. " " .. value:gsub("[\\\n\t]", codes))
    end
  end
end

-- Replaces the selection, or inserts at the cursor, which is behind the text then.
local function replace(text)
  local lines = vim.split(text, "\n", { plain = true })
  local cursor = vim.api.nvim_win_get_cursor(0)
  local row, column, last_row, last_column = cursor[1] - 1, cursor[2], cursor[1] - 1, cursor[2]
  if selection() then
    row, column, last_row, last_column = selection()
    vim.cmd("normal! \27")
  end
  vim.api.nvim_buf_set_text(0, row, column, last_row, last_column, lines)
  vim.api.nvim_win_set_cursor(0, { row + #lines, (#lines == 1 and column or 0) + #lines[#lines] })
end

local function obey(line)
  local word, arguments = line:match("^(%S+) ?(.*)$")
  if word == selected then
    told[selected] = arguments:gsub("\\[\\nt]", characters)
    replace(told[selected])
  elseif line:match("^run org.focusd.Document.Save") then
    vim.cmd("write")
  elseif line:match("^run org.focusd.Edit.Undo") then
    vim.cmd("undo")
  end
  update()
end

-- Starts `focusctl hold`, unless it runs. Without a bus it ends at once, so no more often than once a minute.
local function start()
  if job or os.time() - started < 60 then
    return
  end
  started, told, rest = os.time(), {}, ""
  job = vim.fn.jobstart({
    "focusctl", "hold", "--label", "Neovim", "org.focusd.Element.Role=textbox", path .. "=", selected .. "=",
    "--read-only", "org.focusd.Element.Role", "--read-only", path,
    "--command", "org.focusd.Document.Save", "--command", "org.focusd.Edit.Undo",
  }, {
    on_stdout = function(_, lines)
      lines[1] = rest .. lines[1]
      rest = table.remove(lines)
      for _, line in ipairs(lines) do
        obey(line)
      end
    end,
    on_exit = function() job = nil end,
  })
  update()
  send(is_in_front and "focus" or "blur")
end

local function focus(now)
  is_in_front = now
  send(now and "focus" or "blur")
end

local function on(events, callback)
  vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
end
start()
-- If the session has ended, the user may be back in the next one. Here it is no error if focusd has been removed.
on({ "BufEnter", "FocusGained" }, function() pcall(start) end)
on({ "BufEnter", "BufFilePost", "CursorMoved", "ModeChanged", "TextChanged", "TextChangedI" }, update)
on({ "VimEnter", "FocusGained" }, function() focus(true) end)
on("FocusLost", function() focus(false) end)
